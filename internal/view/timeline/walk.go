package timeline

import (
	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// walk adds a batch of rows.
func (c *cells) walk(cols *trace.Columns, w *share.Walker) {
	c.opened(cols.Open, cols.Lane)
	w.Open(cols)
	if !c.rule.sums() {
		c.walkRows(cols, w, 0, cols.Len())
		return
	}
	for i := 0; i < cols.Len(); {
		hi, aggregate := c.binRows(cols, i)
		if !aggregate || !c.sum(cols, w, i, hi) {
			c.walkRows(cols, w, i, hi)
		}
		i = hi
	}
}

// walkRows goes through rows [lo, hi) segment by segment.
func (c *cells) walkRows(cols *trace.Columns, w *share.Walker, lo, hi int) {
	for i := lo; i < hi; i++ {
		begin := cols.Begin[i]
		c.advance(w, begin, cols.Lane)
		c.row(begin, cols.Duration[i], cols.Region[i], cols.First+i, cols.Lane)
		w.Push(cols.End(i), cols.Region[i], cols.First+i)
	}
}

// binRows finds the end of the rows that begin in the same bin as row lo, and whether
// these are surely too many to be drawn as they are: each row without one in it is a
// segment of its own. The answer is false for a bin that is not wholly in the batch and
// the window.
func (c *cells) binRows(cols *trace.Columns, lo int) (hi int, aggregate bool) {
	bin := c.grid.bin(cols.Begin[lo])
	end := c.grid.binBegin(bin + 1)
	pieces := 0
	for hi = lo; hi < len(cols.Begin) && cols.Begin[hi] < end; hi++ {
		if hi+1 < len(cols.Parent) && int(cols.Parent[hi+1]) != cols.First+hi {
			pieces++
		}
	}
	return hi, pieces > exactPieces && hi < len(cols.Begin) && end <= c.grid.end && c.grid.binBegin(bin) >= c.grid.begin
}

// sum adds a bin of rows [lo, hi) as an aggregate. It reports false, and has done
// nothing that matters, where part of the bin came before or nothing is open in it.
func (c *cells) sum(cols *trace.Columns, w *share.Walker, lo, hi int) bool {
	bin := c.grid.bin(cols.Begin[lo])
	s := span{begin: c.grid.binBegin(bin), end: c.grid.binBegin(bin + 1), row: -1, count: uint32(hi - lo)}
	for _, d := range cols.Duration[lo:hi] {
		s.longest = max(s.longest, d)
	}
	if s.longest == 0 || w.At() > s.begin || c.binBegin == s.begin && c.n+int(c.rows) > 0 {
		return false
	}
	c.advance(w, s.begin, cols.Lane)
	c.move(s.begin)
	s.open = w.Sum(cols, lo, hi, s.end, c.tally)
	s.region, _ = c.tally.Dominant()
	s.role = c.rule.labels[s.region].Role
	c.tally.Reset()
	c.add(&s)
	return true
}

// advance adds the segments before t.
func (c *cells) advance(w *share.Walker, t trace.Time, lane int) {
	for w.Next(t) {
		c.segment(&w.Segment, lane)
	}
}

// stretch adds rows and segments in their order.
func (c *cells) stretch(s *trace.Stretch) {
	c.opened(s.Rows.Open, s.Rows.Lane)
	next := 0
	var at trace.Time
	feed := func(to trace.Time) {
		for next < len(s.Segments) && s.Segments[next].Begin < to {
			if g := &s.Segments[next]; g.Begin >= at && g.End <= to {
				c.segment(g, s.Rows.Lane)
				next++
				continue
			}
			g := s.Segments[next]
			g.Begin, g.End = max(g.Begin, at), min(g.End, to)
			c.segment(&g, s.Rows.Lane)
			if g.End < s.Segments[next].End {
				break
			}
			next++
		}
		at = to
	}
	for i, begin := range s.Rows.Begin {
		feed(begin)
		c.row(begin, s.Rows.Duration[i], s.Rows.Region[i], s.Rows.First+i, s.Rows.Lane)
	}
	feed(s.End)
	if s.End >= c.grid.end {
		c.close()
	}
}
