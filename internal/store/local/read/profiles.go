package read

import (
	"context"
	"sort"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// rowsOf hands out the rows of a table sorted by location, in batches.
func rowsOf[T any](ctx context.Context, r profiles, table string, ids []trace.LocationID, column []trace.LocationID, look func(lo, hi int), row func(i int) T, f func([]T) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	const batch = 1 << 12
	buf := make([]T, 0, batch)
	return r.Guarded(ctx, func() error {
		r.Checks.Of(table).Touch(0, uint64(len(column)))
		set := rows.Ranges{{0, trace.LocationID(r.Len())}} // a profile is not told twice, so none is aside
		if ids != nil {
			set = r.Ranges(ids)
		}
		for _, x := range set {
			lo := sort.Search(len(column), func(i int) bool { return column[i] >= x[0] })
			hi := lo + sort.Search(len(column)-lo, func(i int) bool { return column[lo+i] >= x[1] })
			for lo < hi {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				buf = buf[:0]
				end := min(lo+batch, hi)
				sound(table+".location", column[lo:end], r.Len()) // they may not ascend
				look(lo, end)
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

// soundPaths looks at what rows of a profile are of.
func (r profiles) soundPaths(table string, paths []trace.CallPathID, metrics []trace.MetricID) func(lo, hi int) {
	return func(lo, hi int) {
		soundOr(table+".path", paths[lo:hi], len(r.C.CallPathParent), trace.NoCallPath)
		sound(table+".metric", metrics[lo:hi], len(r.def.manifest.Metrics))
	}
}

// Profile implements store.Reader.
func (r profiles) Profile(ctx context.Context, ids []trace.LocationID, f func([]trace.ProfileRow) error) error {
	c := &r.C
	return rowsOf(ctx, r, "profile", ids, c.ProfileLocation, r.soundPaths("profile", c.ProfilePath, c.ProfileMetric), func(i int) trace.ProfileRow {
		return trace.ProfileRow{
			Location: c.ProfileLocation[i], Path: c.ProfilePath[i], Metric: c.ProfileMetric[i],
			Calls: c.ProfileValue[0][i], Subcalls: c.ProfileValue[1][i], Inclusive: c.ProfileValue[2][i], Exclusive: c.ProfileValue[3][i],
		}
	}, f)
}

// ProfileTotals implements store.ProfileTotaler.
func (r profiles) ProfileTotals(ctx context.Context) ([]trace.ProfileRow, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	c := &r.C
	out := make([]trace.ProfileRow, len(c.TotalPath))
	err := r.Guarded(ctx, func() error {
		r.Checks.Of("profile_total").Touch(0, uint64(len(out)))
		r.soundPaths("profile_total", c.TotalPath, c.TotalMetric)(0, len(out))
		for i := range out {
			out[i] = trace.ProfileRow{
				Location: trace.NoLocation, Path: c.TotalPath[i], Metric: c.TotalMetric[i],
				Calls: c.TotalValue[0][i], Subcalls: c.TotalValue[1][i], Inclusive: c.TotalValue[2][i], Exclusive: c.TotalValue[3][i],
			}
		}
		return ctx.Err()
	})
	return out, err
}

// Atomics implements store.Reader.
func (r profiles) Atomics(ctx context.Context, ids []trace.LocationID, f func([]trace.AtomicRow) error) error {
	c := &r.C
	return rowsOf(ctx, r, "atomic", ids, c.AtomicLocation, r.soundPaths("atomic", c.AtomicPath, c.AtomicMetric), func(i int) trace.AtomicRow {
		return trace.AtomicRow{
			Location: c.AtomicLocation[i], Path: c.AtomicPath[i], Metric: c.AtomicMetric[i],
			Count: c.AtomicValue[0][i], Min: c.AtomicValue[1][i], Max: c.AtomicValue[2][i], Mean: c.AtomicValue[3][i], SumSquares: c.AtomicValue[4][i],
		}
	}, f)
}

// Moments implements store.Reader.
func (r profiles) Moments(ctx context.Context, ids []trace.LocationID, f func([]trace.MomentRow) error) error {
	c := &r.C
	return rowsOf(ctx, r, "moment", ids, c.MomentLocation, func(lo, hi int) { sound("moment.role", c.MomentRole[lo:hi], trace.RoleCount) }, func(i int) trace.MomentRow {
		m := trace.MomentRow{
			Location: c.MomentLocation[i], Role: c.MomentRole[i], Begin: c.MomentBegin[i], End: c.MomentEnd[i],
			Weight: c.MomentValue[0][i], Mean: c.MomentValue[1][i],
		}
		copy(m.Central[:], c.MomentCentral[i*len(m.Central):])
		return m
	}, f)
}
