package local

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// batchRows is the size of a batch of intervals.
const batchRows = 1 << 16

// Count implements store.Reader.
func (r *Reader) Count(w store.Window) int64 {
	if r.enter() != nil {
		return 0
	}
	defer r.leave()
	in := r.window(w)
	n := int64(0)
	for _, x := range r.ranges(w.Locations) {
		for lane := r.c.locationLane[x[0]]; lane < r.c.locationLane[x[1]]; lane++ {
			v := r.lane(int(lane))
			n += int64(max(v.firstFrom(in.until)-v.firstFrom(in.begin), 0))
		}
	}
	return n
}

// Intervals implements store.Reader.
func (r *Reader) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	in := r.window(w)
	return r.eachLane(ctx, w.Locations, func(id trace.LocationID, lane int, v *laneView) error {
		if in.begin >= in.until || v.begin[0] >= in.until || v.last < in.begin {
			return nil
		}
		lo, hi := v.firstFrom(in.begin), v.firstFrom(in.until)
		open := v.open(nil, lo, in.begin)
		for first := true; lo < hi || first && len(open) > 0; first = false {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := v.columns(id, lane, lo, min(lo+batchRows, hi))
			if first {
				c.Open = open
			} else {
				c.Open = v.chain(open[:0], lo)
			}
			if err := f(&c); err != nil {
				return err
			}
			open = c.Open
			lo += c.Len()
		}
		return nil
	})
}

// Interval implements store.Reader. The row is a copy, so it stays valid.
func (r *Reader) Interval(at store.Row) (trace.Columns, bool) {
	if r.enter() != nil {
		return trace.Columns{}, false
	}
	defer r.leave()
	v, ok := r.lookup(at.Location, at.Lane)
	if !ok || at.Row < 0 || at.Row >= v.len() {
		return trace.Columns{}, false
	}
	var c trace.Columns
	err := guard(func() error {
		i := at.Row
		times := []trace.Time{v.begin[i], v.duration[i], v.exclusive[i]}
		c = trace.Columns{
			Location: at.Location, Lane: at.Lane, First: i, Open: v.chain(nil, i),
			Begin: times[0:1:1], Duration: times[1:2:2], Exclusive: times[2:3:3],
			Region: []trace.RegionID{v.region[i]}, Parent: []int32{v.parent[i]}, Depth: []uint16{v.depth[i]},
			Callers: v.callers,
		}
		return nil
	})
	return c, err == nil
}

// At implements store.Reader.
func (r *Reader) At(location trace.LocationID, lane int, t trace.Time) (store.Row, bool) {
	if r.enter() != nil {
		return store.Row{}, false
	}
	defer r.leave()
	v, ok := r.lookup(location, lane)
	if !ok {
		return store.Row{}, false
	}
	row := -1
	err := guard(func() error {
		row = openAt(&v, t, trace.NoRegion)
		return nil
	})
	return store.Row{Location: location, Lane: lane, Row: row}, err == nil && row >= 0
}

// Children implements store.Reader. Children of an interval are not next to each
// other: each is found by a jump over the subtree of the one before, with a
// galloping search, O(log subtree) a child.
func (r *Reader) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	v, ok := r.lookup(at.Location, at.Lane)
	if !ok || at.Row < 0 || at.Row >= v.len() {
		return nil
	}
	return guard(func() error {
		open := v.chain(nil, at.Row)
		open = append(open, v.interval(at.Row))
		for i := at.Row + 1; i < v.len() && v.inside(i, at.Row); i = v.subtreeEnd(i) {
			if i&0xff == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := v.columns(at.Location, at.Lane, i, i+1)
			c.Open = open
			if err := f(&c); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// inside reports whether row i lies in the subtree of an earlier row.
func (v *laneView) inside(i, of int) bool {
	for i > of {
		i = v.up(i)
	}
	return i == of
}

// subtreeEnd is the first row after the subtree of row i.
func (v *laneView) subtreeEnd(i int) int {
	// Rows of the subtree follow i without a gap: gallop, then halve.
	n := v.len()
	step := 1
	lo, hi := i, i+1 // lo is inside
	for hi < n && v.inside(hi, i) {
		lo = hi
		step *= 2
		hi = min(i+step, n)
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if v.inside(mid, i) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
