package share

import "github.com/parallax-hpc/parallax/internal/trace"

// A Walker turns the rows of one lane, in preorder and batch by batch, into the
// innermost segments that tile its time. O(1) a row, memory of one stack.
type Walker struct {
	regions []trace.Region
	stack   []frame
	at      trace.Time // everything before is emitted
	started bool
	// Segment is the result of Next: passing it by value would cost more than finding it.
	Segment trace.Segment
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

// Add takes the next rows and emits the segments they complete.
func (w *Walker) Add(c *trace.Columns, emit func(trace.Segment)) {
	w.Open(c)
	for i, begin := range c.Begin {
		w.advance(begin, emit)
		w.Push(c.End(i), c.Region[i], c.First+i)
	}
}

// Finish emits the remaining segments up to end.
func (w *Walker) Finish(end trace.Time, emit func(trace.Segment)) {
	w.advance(end, emit)
}

func (w *Walker) advance(t trace.Time, emit func(trace.Segment)) {
	for w.Next(t) {
		emit(w.Segment)
	}
}

// Open takes the chain of intervals open at the start from the first batch of a lane, and nothing from
// later ones.
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

// Next puts the next segment before t into Segment, and closes intervals that end by then.
func (w *Walker) Next(t trace.Time) bool {
	for n := len(w.stack); n > 0; n-- {
		top := &w.stack[n-1]
		end := min(top.end, t)
		if end > w.at {
			g := &w.Segment
			g.Begin, g.End, g.Region, g.Row, g.Role = w.at, end, top.region, top.row, top.role
			w.at = end
			return true
		}
		if top.end > t {
			return false
		}
		w.stack = w.stack[:n-1]
	}
	if t <= w.at {
		return false
	}
	w.Segment = trace.Segment{Begin: w.at, End: t, Region: trace.NoRegion, Row: -1, Role: trace.RoleNone}
	w.at = t
	return true
}

// Push opens a row. Annotations are transparent: they take the role around them.
func (w *Walker) Push(end trace.Time, region trace.RegionID, row int) {
	role := w.regions[region].Role
	if role == trace.RoleAnnotation && len(w.stack) > 0 {
		role = w.stack[len(w.stack)-1].role
	}
	w.stack = append(w.stack, frame{end, region, row, role})
}

// At is the time up to which everything was emitted.
func (w *Walker) At() trace.Time { return w.at }

// Sum takes rows [lo, hi) of a batch, which begin before t, and everything up to t: it adds the innermost
// time of each region to a tally and returns the time in which anything is open. It does the work of Next
// and Push together, without the segments: the time of a row is subtracted from the one around it. O(rows +
// depth).
func (w *Walker) Sum(c *trace.Columns, lo, hi int, t trace.Time, tally *Tally) (open trace.Time) {
	for n := len(w.stack); n > 0 && w.stack[n-1].end <= w.at; n-- {
		w.stack = w.stack[:n-1]
	}
	for i := range w.stack {
		f := &w.stack[i]
		d := min(f.end, t) - w.at
		tally.Add(f.region, d)
		if i > 0 {
			tally.Add(w.stack[i-1].region, -d)
		} else {
			open = d
		}
	}
	first, parents, regions, durations := c.First, c.Parent[lo:hi], c.Region[lo:hi], c.Duration[lo:hi]
	for i, begin := range c.Begin[lo:hi] {
		d := min(durations[i], t-begin)
		tally.Add(regions[i], d)
		switch parent := int(parents[i]); {
		case parent >= first:
			tally.Add(c.Region[parent-first], -d)
		case parent < 0:
			open += d
		case d > 0:
			tally.Add(w.regionOf(parent), -d)
		}
	}
	w.at = t
	for n := len(w.stack); n > 0 && w.stack[n-1].end <= t; n-- {
		w.stack = w.stack[:n-1]
	}
	w.pushChain(c, lo, hi-1, t)
	return open
}

// regionOf returns the region of an open row; NoRegion for one that is not.
func (w *Walker) regionOf(row int) trace.RegionID {
	for i := len(w.stack) - 1; i >= 0; i-- {
		if w.stack[i].row == row {
			return w.stack[i].region
		}
	}
	return trace.NoRegion
}

// pushChain opens row i and those around it, back to row lo, that are open at t.
func (w *Walker) pushChain(c *trace.Columns, lo, i int, t trace.Time) {
	if i < lo {
		return
	}
	w.pushChain(c, lo, int(c.Parent[i])-c.First, t)
	if c.End(i) > t {
		w.Push(c.End(i), c.Region[i], c.First+i)
	}
}
