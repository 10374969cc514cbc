package share

import "github.com/parallax-hpc/parallax/internal/trace"

// A Walker turns the rows of one lane, in preorder and batch by batch, into the
// innermost segments that tile its time. O(1) a row, memory of one stack.
type Walker struct {
	regions []trace.Region
	stack   []frame
	at      trace.Time // everything before is emitted
	started bool
}

type frame struct {
	end    trace.Time
	region trace.RegionID
	row    int
	role   trace.Role // that counts
}

// Start begins a lane at a time.
func (w *Walker) Start(begin trace.Time, regions []trace.Region) {
	w.regions, w.stack, w.at, w.started = regions, w.stack[:0], begin, false
}

// Add takes the next rows and emits what they complete.
func (w *Walker) Add(c *trace.Columns, emit func(trace.Segment)) {
	w.open(c)
	for i, begin := range c.Begin {
		w.advance(begin, emit)
		w.push(c.End(i), c.Region[i], c.First+i)
	}
}

// open takes the chain of what is open at the start from the first batch.
func (w *Walker) open(c *trace.Columns) {
	if w.started {
		return
	}
	w.started = true
	for _, o := range c.Open {
		w.push(o.End, o.Region, o.Row)
	}
}

// Finish emits what is left up to end.
func (w *Walker) Finish(end trace.Time, emit func(trace.Segment)) {
	w.advance(end, emit)
}

// advance emits everything before t and closes what ended by then.
func (w *Walker) advance(t trace.Time, emit func(trace.Segment)) {
	for n := len(w.stack); n > 0; n-- {
		top := &w.stack[n-1]
		if top.end > t {
			break
		}
		w.emit(top.end, top, emit)
		w.stack = w.stack[:n-1]
	}
	if n := len(w.stack); n > 0 {
		w.emit(t, &w.stack[n-1], emit)
		return
	}
	w.emit(t, &frame{region: trace.NoRegion, row: -1, role: trace.RoleNone}, emit)
}

func (w *Walker) emit(end trace.Time, f *frame, emit func(trace.Segment)) {
	if end > w.at {
		emit(trace.Segment{Begin: w.at, End: end, Region: f.region, Row: f.row, Role: f.role})
		w.at = end
	}
}

// push opens a frame. Annotations are transparent: they take the role around them.
func (w *Walker) push(end trace.Time, region trace.RegionID, row int) {
	role := w.regions[region].Role
	if role == trace.RoleAnnotation && len(w.stack) > 0 {
		role = w.stack[len(w.stack)-1].role
	}
	w.stack = append(w.stack, frame{end, region, row, role})
}
