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
	w.Open(c)
	for i, begin := range c.Begin {
		w.advance(begin, emit)
		w.Push(c.End(i), c.Region[i], c.First+i)
	}
}

// Finish emits what is left up to end.
func (w *Walker) Finish(end trace.Time, emit func(trace.Segment)) {
	w.advance(end, emit)
}

func (w *Walker) advance(t trace.Time, emit func(trace.Segment)) {
	for {
		s, ok := w.Next(t)
		if !ok {
			return
		}
		emit(s)
	}
}

// Open takes the chain of what is open at the start from the first batch of a
// lane; of later ones it takes nothing.
//
// Open, Next and Push are the steps of Add, for loops that do not want a call
// back: for each row take every segment before its begin, then push it.
func (w *Walker) Open(c *trace.Columns) {
	if w.started {
		return
	}
	w.started = true
	for _, o := range c.Open {
		w.Push(o.End, o.Region, o.Row)
	}
}

// Next gives the next segment before t, and closes what ends by then.
func (w *Walker) Next(t trace.Time) (trace.Segment, bool) {
	for n := len(w.stack); n > 0; n = len(w.stack) {
		top := &w.stack[n-1]
		end := top.end
		if end > t {
			if t <= w.at {
				return trace.Segment{}, false
			}
			s := trace.Segment{Begin: w.at, End: t, Region: top.region, Row: top.row, Role: top.role}
			w.at = t
			return s, true
		}
		w.stack = w.stack[:n-1]
		if end > w.at {
			s := trace.Segment{Begin: w.at, End: end, Region: top.region, Row: top.row, Role: top.role}
			w.at = end
			return s, true
		}
	}
	if t <= w.at {
		return trace.Segment{}, false
	}
	s := trace.Segment{Begin: w.at, End: t, Region: trace.NoRegion, Row: -1, Role: trace.RoleNone}
	w.at = t
	return s, true
}

// Push opens a row. Annotations are transparent: they take the role around them.
func (w *Walker) Push(end trace.Time, region trace.RegionID, row int) {
	role := w.regions[region].Role
	if role == trace.RoleAnnotation && len(w.stack) > 0 {
		role = w.stack[len(w.stack)-1].role
	}
	w.stack = append(w.stack, frame{end, region, row, role})
}
