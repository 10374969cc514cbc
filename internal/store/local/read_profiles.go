package local

import (
	"context"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// rowsOf hands out the rows of a table sorted by location, in batches.
func rowsOf[T any](ctx context.Context, r *Reader, ids []trace.LocationID, column []trace.LocationID, row func(i int) T, f func([]T) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	const batch = 1 << 12
	buf := make([]T, 0, batch)
	return guard(func() error {
		set := ranges{{0, trace.LocationID(r.tree.Len())}} // a profile is not told twice, so none is aside
		if ids != nil {
			set = r.ranges(ids)
		}
		for _, x := range set {
			lo := sort.Search(len(column), func(i int) bool { return column[i] >= x[0] })
			hi := lo + sort.Search(len(column)-lo, func(i int) bool { return column[lo+i] >= x[1] })
			for lo < hi {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				buf = buf[:0]
				for ; lo < hi && len(buf) < batch; lo++ {
					buf = append(buf, row(lo))
				}
				if err := f(buf); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// Profile implements store.Reader.
func (r *Reader) Profile(ctx context.Context, ids []trace.LocationID, f func([]trace.ProfileRow) error) error {
	c := &r.c
	return rowsOf(ctx, r, ids, c.profileLocation, func(i int) trace.ProfileRow {
		return trace.ProfileRow{
			Location: c.profileLocation[i], Path: c.profilePath[i], Metric: c.profileMetric[i],
			Calls: c.profileValue[0][i], Subcalls: c.profileValue[1][i], Inclusive: c.profileValue[2][i], Exclusive: c.profileValue[3][i],
		}
	}, f)
}

// ProfileTotals implements store.ProfileTotaler.
func (r *Reader) ProfileTotals(ctx context.Context) ([]trace.ProfileRow, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	c := &r.c
	out := make([]trace.ProfileRow, len(c.totalPath))
	err := guard(func() error {
		for i := range out {
			out[i] = trace.ProfileRow{
				Location: trace.NoLocation, Path: c.totalPath[i], Metric: c.totalMetric[i],
				Calls: c.totalValue[0][i], Subcalls: c.totalValue[1][i], Inclusive: c.totalValue[2][i], Exclusive: c.totalValue[3][i],
			}
		}
		return ctx.Err()
	})
	return out, err
}

// Atomics implements store.Reader.
func (r *Reader) Atomics(ctx context.Context, ids []trace.LocationID, f func([]trace.AtomicRow) error) error {
	c := &r.c
	return rowsOf(ctx, r, ids, c.atomicLocation, func(i int) trace.AtomicRow {
		return trace.AtomicRow{
			Location: c.atomicLocation[i], Path: c.atomicPath[i], Metric: c.atomicMetric[i],
			Count: c.atomicValue[0][i], Min: c.atomicValue[1][i], Max: c.atomicValue[2][i], Mean: c.atomicValue[3][i], SumSquares: c.atomicValue[4][i],
		}
	}, f)
}

// Moments implements store.Reader.
func (r *Reader) Moments(ctx context.Context, ids []trace.LocationID, f func([]trace.MomentRow) error) error {
	c := &r.c
	return rowsOf(ctx, r, ids, c.momentLocation, func(i int) trace.MomentRow {
		m := trace.MomentRow{
			Location: c.momentLocation[i], Role: c.momentRole[i], Begin: c.momentBegin[i], End: c.momentEnd[i],
			Weight: c.momentValue[0][i], Mean: c.momentValue[1][i],
		}
		copy(m.Central[:], c.momentCentral[i*len(m.Central):])
		return m
	}, f)
}
