package finish

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profiler sorts and writes what was measured without time.
type profiler struct{ *finisher }

// writeProfiles writes the tables profile, atomic and moment.
func (f profiler) writeProfiles(ctx context.Context) error {
	var lost [3]int64 // rows of each whose location is not defined
	g, ctx := errgroup.WithContext(ctx)
	for i, write := range []func(context.Context, *int64) error{f.writeProfile, f.writeAtomics, f.writeMoments} {
		g.Go(func() error { return write(ctx, &lost[i]) })
	}
	err := g.Wait()
	if n := lost[0] + lost[1]; n > 0 {
		f.Report(trace.Skipped, "profile rows with an undefined location", n, "")
	}
	if lost[2] > 0 {
		f.Report(trace.Skipped, "moments with an undefined location", lost[2], "")
	}
	return err
}

// A tableWriter opens cursors on columns and closes them together.
type tableWriter struct {
	dir, table string
	closers    []func() error
	err        error
}

func appendTo[T any](t *tableWriter, name string) *disk.Cursor[T] {
	c := new(disk.Cursor[T])
	f, err := disk.CreateColumn[T](t.dir, t.table+"."+name)
	if err != nil {
		t.err = cmp.Or(t.err, err)
		return c
	}
	c.To = f
	t.closers = append(t.closers, c.Finish, f.Close)
	return c
}

func (t *tableWriter) finish(err error) error {
	for _, f := range t.closers {
		err = cmp.Or(err, f())
	}
	if err != nil {
		return fmt.Errorf("write table %s: %w", t.table, err)
	}
	return nil
}

// every calls f for each record and stops with the context.
func every[T any](ctx context.Context, f func(*T)) func(*T) error {
	n := 0
	return func(x *T) error {
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f(x)
		return nil
	}
}

func (f profiler) writeProfile(ctx context.Context, lost *int64) error {
	t := &tableWriter{dir: f.Dir, table: "profile"}
	location, path, metric := appendTo[trace.LocationID](t, "location.u32"), appendTo[trace.CallPathID](t, "path.u32"), appendTo[trace.MetricID](t, "metric.u32")
	calls, subcalls := appendTo[float64](t, "calls.f64"), appendTo[float64](t, "subcalls.f64")
	inclusive, exclusive := appendTo[float64](t, "inclusive.f64"), appendTo[float64](t, "exclusive.f64")
	if t.err != nil {
		return t.finish(t.err)
	}
	by := spool.Order[trace.ProfileRow]{
		Key: func(r *trace.ProfileRow) int64 { return int64(r.Location)<<31 | int64(r.Path)>>1 },
		Ties: func(a, b *trace.ProfileRow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
		},
	}
	renumber := func(r *trace.ProfileRow) { r.Location = f.numberOf(r.Location) }
	totals := map[profileCell]*[4]float64{}
	err := t.finish(f.ProfileRows.Sorted(renumber, by, every(ctx, func(r *trace.ProfileRow) {
		if r.Location == trace.NoLocation {
			*lost++
			return
		}
		location.Add(r.Location)
		path.Add(r.Path)
		metric.Add(r.Metric)
		calls.Add(r.Calls)
		subcalls.Add(r.Subcalls)
		inclusive.Add(r.Inclusive)
		exclusive.Add(r.Exclusive)
		sums := totals[profileCell{r.Path, r.Metric}]
		if sums == nil {
			sums = new([4]float64)
			totals[profileCell{r.Path, r.Metric}] = sums
		}
		for i, v := range [...]float64{r.Calls, r.Subcalls, r.Inclusive, r.Exclusive} {
			sums[i] += v
		}
	})))
	if err != nil {
		return err
	}
	return f.writeTotals(totals)
}

// A profileCell is a cell of a profile but for its location.
type profileCell struct {
	path   trace.CallPathID
	metric trace.MetricID
}

// writeTotals writes what the rows of a profile add up to.
func (f profiler) writeTotals(totals map[profileCell]*[4]float64) error {
	cells := slices.SortedFunc(maps.Keys(totals), func(a, b profileCell) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.metric, b.metric))
	})
	t := &tableWriter{dir: f.Dir, table: "profile_total"}
	path, metric := appendTo[trace.CallPathID](t, "path.u32"), appendTo[trace.MetricID](t, "metric.u32")
	var values [4]*disk.Cursor[float64]
	for i, name := range []string{"calls", "subcalls", "inclusive", "exclusive"} {
		values[i] = appendTo[float64](t, name+".f64")
	}
	if t.err != nil {
		return t.finish(t.err)
	}
	for _, c := range cells {
		path.Add(c.path)
		metric.Add(c.metric)
		for i, v := range totals[c] {
			values[i].Add(v)
		}
	}
	return t.finish(nil)
}

func (f profiler) writeAtomics(ctx context.Context, lost *int64) error {
	t := &tableWriter{dir: f.Dir, table: "atomic"}
	location, path, metric := appendTo[trace.LocationID](t, "location.u32"), appendTo[trace.CallPathID](t, "path.u32"), appendTo[trace.MetricID](t, "metric.u32")
	count, low, high := appendTo[float64](t, "count.f64"), appendTo[float64](t, "min.f64"), appendTo[float64](t, "max.f64")
	mean, squares := appendTo[float64](t, "mean.f64"), appendTo[float64](t, "sum_squares.f64")
	if t.err != nil {
		return t.finish(t.err)
	}
	by := spool.Order[trace.AtomicRow]{
		Key: func(r *trace.AtomicRow) int64 { return int64(r.Location) },
		Ties: func(a, b *trace.AtomicRow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
		},
	}
	renumber := func(r *trace.AtomicRow) { r.Location = f.numberOf(r.Location) }
	return t.finish(f.AtomicRows.Sorted(renumber, by, every(ctx, func(r *trace.AtomicRow) {
		if r.Location == trace.NoLocation {
			*lost++
			return
		}
		location.Add(r.Location)
		path.Add(r.Path)
		metric.Add(r.Metric)
		count.Add(r.Count)
		low.Add(r.Min)
		high.Add(r.Max)
		mean.Add(r.Mean)
		squares.Add(r.SumSquares)
	})))
}

func (f profiler) writeMoments(ctx context.Context, lost *int64) error {
	t := &tableWriter{dir: f.Dir, table: "moment"}
	location, role := appendTo[trace.LocationID](t, "location.u32"), appendTo[trace.Role](t, "role.u8")
	begin, end := appendTo[trace.Time](t, "begin.i64"), appendTo[trace.Time](t, "end.i64")
	weight, mean := appendTo[float64](t, "weight.f64"), appendTo[float64](t, "mean.f64")
	central := appendTo[float64](t, "central.f64")
	if t.err != nil {
		return t.finish(t.err)
	}
	by := spool.Order[trace.MomentRow]{
		Key: func(r *trace.MomentRow) int64 { return int64(r.Location) },
		Ties: func(a, b *trace.MomentRow) int {
			return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Role, b.Role))
		},
	}
	renumber := func(r *trace.MomentRow) {
		r.Location = f.numberOf(r.Location)
		r.Begin -= f.origin
		r.End -= f.origin
	}
	return t.finish(f.MomentRows.Sorted(renumber, by, every(ctx, func(r *trace.MomentRow) {
		if r.Location == trace.NoLocation {
			*lost++
			return
		}
		location.Add(r.Location)
		role.Add(r.Role)
		begin.Add(r.Begin)
		end.Add(r.End)
		weight.Add(r.Weight)
		mean.Add(r.Mean)
		central.AddAll(r.Central[:])
	})))
}
