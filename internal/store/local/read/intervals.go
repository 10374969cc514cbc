package read

import (
	"context"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Count implements store.Reader.
func (r intervals) Count(w store.Window) (n int64, err error) {
	if err := r.Enter(); err != nil {
		return 0, err
	}
	defer r.Leave()
	in := r.Window(w)
	begins := func(v *rows.Lane) int64 { return int64(max(v.FirstFrom(in.Until)-v.FirstFrom(in.Begin), 0)) }
	ranges, lanes := r.Ranges(w.Locations), uint32(0)
	for _, x := range ranges {
		lanes += r.C.LocationLane[x[1]] - r.C.LocationLane[x[0]]
	}
	if lanes > manyLanes {
		var sum atomic.Int64
		err = r.EachLane(context.Background(), w.Locations, nil, func(_ trace.LocationID, _ int, v *rows.Lane) error {
			sum.Add(begins(v))
			return nil
		})
		return sum.Load(), err
	}
	err = r.Guarded(context.Background(), func() error {
		for _, x := range ranges {
			for lane := r.C.LocationLane[x[0]]; lane < r.C.LocationLane[x[1]]; lane++ {
				v := r.LaneByRows(int(lane))
				n += begins(&v)
			}
		}
		return nil
	})
	return n, err
}

// mostPassed is how many rows a lane has at most whose rows are passed with those of others. More are read into memory
// of their own.
const mostPassed = 1 << 10

// manyLanes is from how many on they are counted on all cores.
const manyLanes = 1 << 12

// Intervals implements store.Reader.
func (r intervals) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(w)
	pass := r.Passing(in, rows.Pass{Short: mostPassed})
	return r.EachLane(ctx, w.Locations, pass, func(id trace.LocationID, lane int, v *rows.Lane) error {
		if in.Begin >= in.Until || v.Last < in.Begin || !v.BeginsBefore(in.Until) {
			return nil
		}
		lo, hi := v.FirstFrom(in.Begin), v.FirstFrom(in.Until)
		open := v.Open(nil, lo, in.Begin)
		for first := true; lo < hi || first && len(open) > 0; first = false {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := v.Columns(id, lane, lo, min(lo+v.BatchRows(), hi))
			c.Follow = hi - lo - c.Len()
			if first {
				c.Open = open
			} else {
				c.Open = v.Chain(open[:0], lo)
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
func (r intervals) Interval(at store.Row) (c *trace.Columns, err error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	err = r.Guarded(context.Background(), func() error {
		v, ok := r.Lookup(at.Location, at.Lane)
		if !ok || at.Row < 0 || at.Row >= v.Len() {
			return nil
		}
		i := at.Row
		v.Touch(i, i+1)
		times := []trace.Time{v.Begin[i], v.Duration[i], v.Exclusive[i]}
		c = &trace.Columns{
			Location: at.Location, Lane: at.Lane, First: i, Open: v.Chain(nil, i),
			Begin: times[0:1:1], Duration: times[1:2:2], Exclusive: times[2:3:3],
			Region: []trace.RegionID{v.Region[i]}, Parent: []int32{v.Parent[i]}, Depth: []uint16{v.Depth[i]},
			Callers: v.Callers,
		}
		return nil
	})
	return c, err
}

// At implements store.Reader.
func (r intervals) At(location trace.LocationID, lane int, t trace.Time) (at store.Row, found bool, err error) {
	if err := r.Enter(); err != nil {
		return store.Row{}, false, err
	}
	defer r.Leave()
	row := -1
	err = r.Guarded(context.Background(), func() error {
		if v, ok := r.Lookup(location, lane); ok {
			row = rows.OpenAt(&v, t, trace.NoRegion)
		}
		return nil
	})
	return store.Row{Location: location, Lane: lane, Row: row}, err == nil && row >= 0, err
}

// Children implements store.Reader. Children of an interval are not next to each
// other: each is found by a jump over the subtree of the one before, with a
// galloping search, O(log subtree) a child.
func (r intervals) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	return disk.Guard(func() error {
		v, ok := r.Lookup(at.Location, at.Lane)
		if !ok || at.Row < 0 || at.Row >= v.Len() {
			return nil
		}
		open := v.Chain(nil, at.Row)
		open = append(open, v.Interval(at.Row))
		for i := at.Row + 1; i < v.Len() && v.Inside(i, at.Row); i = v.SubtreeEnd(i) {
			if i&0xff == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := v.Columns(at.Location, at.Lane, i, i+1)
			c.Open = open
			if err := f(&c); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}
