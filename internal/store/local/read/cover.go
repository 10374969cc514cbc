package read

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// stretchRows is how many rows a stretch without a block has at most.
const stretchRows = 1 << 14

// A coverer yields the cover of a window of one lane after the other.
type coverer struct {
	r       *sections
	section *openSection
	in      rows.Window
	whole   bool // it is that of the trace
	level   int
	visit   store.Visitor // shielded

	id    trace.LocationID
	lane  int
	v     rows.Lane
	pass  *rows.Passer
	walk  rows.Walker
	from  trace.Time // the end of the covered time
	next  int        // the first row that begins at from or later; -1: not looked for yet
	near  nodePlace  // begins by from and does not end before: where to look for it
	s     trace.Stretch
	nodes forestView
}

// Summaries implements store.Reader.
func (r *sections) Summaries(ctx context.Context, name string, w store.Window, level int, visit store.Visitor) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	section := r.summaries[name]
	if section == nil {
		return fmt.Errorf("summary %q: %w", name, store.ErrNotKept)
	}
	visit = shieldVisitor(visit)
	in := r.Window(w)
	pieces := r.Split(r.Ranges(w.Locations))
	pass := r.Passing(in, rows.Pass{Short: rows.Short})
	workers := make([]*coverer, r.Workers)
	whole := in.Begin <= 0 && in.Until > r.End
	if level == store.Coarsest && whole && len(pieces) > 0 {
		first, last := pieces[0][0], pieces[len(pieces)-1][1]
		err := r.Guarded(ctx, func() error {
			section.bringTops(uint64(r.C.LocationLane[first]), uint64(r.C.LocationLane[last]))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return r.Parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if workers[worker] == nil {
			workers[worker] = &coverer{r: r, section: section, in: in, whole: whole, level: level, visit: visit,
				pass: r.Passer(pass)}
		}
		c, end := workers[worker], int(r.C.LocationLane[pieces[i][1]])
		for id := pieces[i][0]; id < pieces[i][1]; id++ {
			first, last := r.C.LocationLane[id], r.C.LocationLane[id+1]
			for n := first; n < last; n++ {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := c.cover(id, int(n-first), int(n), end); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// cover goes through the summary tree of a lane from the top: nodes of the level asked for that are wholly in the
// window are blocks, the rest between them is handed out as rows.
// The lanes before last follow.
func (c *coverer) cover(id trace.LocationID, lane, n, last int) error {
	if c.in.Begin >= c.in.Until || c.in.Begin > c.in.End {
		return nil
	}
	c.id, c.lane = id, lane
	c.v = c.pass.Lane(n, last)
	c.from, c.next, c.near = c.in.Begin, -1, nodePlace{}
	c.nodes = c.r.forest(n)
	if err := c.descend(n); err != nil {
		return err
	}
	end := c.v.Len()
	if c.in.Until <= c.v.Last { // else all rows have begun by then
		end = c.v.Gallop(c.nextRow(), c.in.Until)
	}
	return c.rows(c.in.End, end, true)
}

// rows yields the time from the last piece until to as stretches: rows before last. With final also those rows that
// begin at the very end of the trace.
func (c *coverer) rows(to trace.Time, last int, final bool) error {
	for c.from < to || final {
		lo, hi, end := c.nextRow(), last, to
		if c.from >= to && lo >= hi {
			return nil
		}
		c.v.Touch(lo, min(lo+stretchRows+1, hi))
		if hi-lo > stretchRows && c.v.Begin[lo+stretchRows] > c.from && c.v.Begin[lo+stretchRows] < to {
			end = c.v.Begin[lo+stretchRows]
			hi = c.v.FirstIn(lo, hi, end)
		}
		if err := c.stretch(c.from, end, lo, hi); err != nil {
			return err
		}
		c.from, c.next = end, hi
		if end == to {
			return nil
		}
	}
	return nil
}

func (c *coverer) stretch(from, to trace.Time, lo, hi int) error {
	open := c.s.Rows.Open[:0]
	if !c.visit.Closed {
		open = c.v.Open(open, lo, from)
	}
	c.walk.StartAt(&c.v, c.r.Roles, from, lo)
	segments := slices.Grow(c.s.Segments[:0], 2*(hi-lo)+1) // a row begins and ends once
	c.s = trace.Stretch{Begin: from, End: to, Rows: c.v.Columns(c.id, c.lane, lo, hi),
		Segments: c.walk.Segments(segments, to)}
	c.s.Rows.Open = open
	return c.visit.Rows(&c.s)
}

// shieldVisitor keeps guard from taking a panic of a visitor for damage.
func shieldVisitor(v store.Visitor) store.Visitor {
	return store.Visitor{
		Closed: v.Closed,
		Block: func(id trace.LocationID, lane int, begin, end trace.Time, b trace.Block) error {
			defer disk.PassOn()
			return v.Block(id, lane, begin, end, b)
		},
		Rows: disk.Shield(v.Rows),
	}
}
