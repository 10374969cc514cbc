package read

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A batch is rows of a table that is sorted by location, unpacked: they are read once, and are not kept.
type batch struct {
	location []trace.LocationID
	columns  [][]byte // all of the table, in the order of the schema
	from, to uint64   // rows that it holds
}

const batchRows = 16 * disk.Frame

// newBatch is for a table of n rows; its other columns are added in their order.
func newBatch(n int) *batch {
	b := &batch{}
	b.location = addColumn[trace.LocationID](b, n)
	return b
}

func addColumn[T any](b *batch, n int) []T {
	column := make([]T, min(n, batchRows))
	b.columns = append(b.columns, spool.BytesOf(column))
	return column
}

// rowsOf yields the rows of a table, in batches: row gives that at a place of the batch, look is called before with
// the places that are.
func rowsOf[T any](ctx context.Context, r profiles, table string, n int, ids []trace.LocationID, b *batch,
	look func(lo, hi int), row func(i int) T, f func([]T) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	buf := make([]T, 0, min(n, batchRows))
	check := r.Checks.Of(table)
	return r.Guarded(ctx, func() error {
		set := rows.Ranges{{0, trace.LocationID(r.Len())}} // a profile is not recorded twice, so none is aside
		if ids != nil {
			set = r.Ranges(ids)
		}
		for _, x := range set {
			lo, hi := uint64(0), uint64(n)
			if ids != nil {
				lo = check.Search(0, hi, int64(x[0]), b.from)
				hi = check.Search(0, hi, int64(x[1]), lo)
			}
			for lo < hi {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if lo < b.from || lo >= b.to {
					b.from = lo / disk.Frame * disk.Frame
					b.to = min(b.from+batchRows, (hi+disk.Frame-1)/disk.Frame*disk.Frame, uint64(n))
					check.UnpackAll(b.from, b.to, hi, b.columns)
				}
				first, last := int(lo-b.from), int(min(hi, b.to)-b.from)
				sound(table+".location", b.location[first:last], r.Len()) // they may not ascend
				look(first, last)
				buf = buf[:0]
				for i := first; i < last; i++ {
					buf = append(buf, row(i))
				}
				lo += uint64(last - first)
				if err := f(buf); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// soundPaths checks the call paths and metrics of rows of a profile.
func (r profiles) soundPaths(table string, paths []trace.CallPathID, metrics []trace.MetricID) func(lo, hi int) {
	return func(lo, hi int) {
		soundOr(table+".path", paths[lo:hi], len(r.C.CallPathParent), trace.NoCallPath)
		sound(table+".metric", metrics[lo:hi], len(r.def.manifest.Metrics))
	}
}

// Profile implements store.Reader.
func (r profiles) Profile(ctx context.Context, ids []trace.LocationID, f func([]trace.ProfileRow) error) error {
	n := len(r.C.ProfileLocation)
	b := newBatch(n)
	path, metric := addColumn[trace.CallPathID](b, n), addColumn[trace.MetricID](b, n)
	calls, subcalls, inclusive, exclusive := addColumn[float64](b, n), addColumn[float64](b, n),
		addColumn[float64](b, n), addColumn[float64](b, n)
	return rowsOf(ctx, r, "profile", n, ids, b, r.soundPaths("profile", path, metric), func(i int) trace.ProfileRow {
		return trace.ProfileRow{
			Location: b.location[i], Path: path[i], Metric: metric[i],
			Calls: calls[i], Subcalls: subcalls[i], Inclusive: inclusive[i], Exclusive: exclusive[i],
		}
	}, f)
}

// Lines implements store.Reader.
func (r profiles) Lines(ctx context.Context, ids []trace.LocationID, f func([]trace.LineRow) error) error {
	n := len(r.C.LineLocation)
	b := newBatch(n)
	path, callee, file := addColumn[trace.CallPathID](b, n), addColumn[trace.CallPathID](b, n),
		addColumn[trace.FileID](b, n)
	line, metric := addColumn[uint32](b, n), addColumn[trace.MetricID](b, n)
	calls, inclusive, exclusive := addColumn[float64](b, n), addColumn[float64](b, n), addColumn[float64](b, n)
	look := func(lo, hi int) {
		sound("line.path", path[lo:hi], len(r.C.CallPathParent))
		soundOr("line.callee", callee[lo:hi], len(r.C.CallPathParent), trace.NoCallPath)
		soundOr("line.file", file[lo:hi], len(r.def.manifest.SourceFiles), trace.NoFile)
		sound("line.metric", metric[lo:hi], len(r.def.manifest.Metrics))
	}
	return rowsOf(ctx, r, "line", n, ids, b, look, func(i int) trace.LineRow {
		return trace.LineRow{
			Location: b.location[i], Path: path[i], Callee: callee[i], File: file[i], Line: line[i], Metric: metric[i],
			Calls: calls[i], Inclusive: inclusive[i], Exclusive: exclusive[i],
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
				Calls: c.TotalValue[0][i], Subcalls: c.TotalValue[1][i], Inclusive: c.TotalValue[2][i],
				Exclusive: c.TotalValue[3][i],
			}
		}
		return ctx.Err()
	})
	return out, err
}

// Atomics implements store.Reader.
func (r profiles) Atomics(ctx context.Context, ids []trace.LocationID, f func([]trace.AtomicRow) error) error {
	n := len(r.C.AtomicLocation)
	b := newBatch(n)
	path, metric := addColumn[trace.CallPathID](b, n), addColumn[trace.MetricID](b, n)
	count, low, high, mean, squares := addColumn[float64](b, n), addColumn[float64](b, n), addColumn[float64](b, n),
		addColumn[float64](b, n), addColumn[float64](b, n)
	return rowsOf(ctx, r, "atomic", n, ids, b, r.soundPaths("atomic", path, metric), func(i int) trace.AtomicRow {
		return trace.AtomicRow{
			Location: b.location[i], Path: path[i], Metric: metric[i],
			Count: count[i], Min: low[i], Max: high[i], Mean: mean[i], SumSquares: squares[i],
		}
	}, f)
}

// Moments implements store.Reader.
func (r profiles) Moments(ctx context.Context, ids []trace.LocationID, f func([]trace.MomentRow) error) error {
	n := len(r.C.MomentLocation)
	b := newBatch(n)
	role, begin, end := addColumn[trace.Role](b, n), addColumn[trace.Time](b, n), addColumn[trace.Time](b, n)
	weight, mean, central := addColumn[float64](b, n), addColumn[float64](b, n),
		addColumn[[trace.MaxMoment + 1]float64](b, n)
	return rowsOf(ctx, r, "moment", n, ids, b, func(lo, hi int) { sound("moment.role", role[lo:hi], trace.RoleCount) },
		func(i int) trace.MomentRow {
			return trace.MomentRow{
				Location: b.location[i], Role: role[i], Begin: begin[i], End: end[i], Weight: weight[i], Mean: mean[i],
				Central: central[i],
			}
		}, f)
}
