package finish

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profiler sorts and writes what was measured without time.
type profiler struct {
	*finisher
	inOrder bool // locations have the order in which they were defined
}

// writeProfiles writes the tables profile, atomic and moment.
func (f profiler) writeProfiles(ctx context.Context) error {
	var lost [3]int64 // rows of each whose location is not defined
	f.inOrder = slices.IsSorted(f.order.number)
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

// located drops rows whose location is not defined, and counts them. They are the last.
func located[T any](rows []T, lost *int64, location func(*T) trace.LocationID) []T {
	n := len(rows)
	for n > 0 && location(&rows[n-1]) == trace.NoLocation {
		n--
	}
	*lost += int64(len(rows) - n)
	return rows[:n]
}

func (f profiler) writeProfile(ctx context.Context, lost *int64) error {
	t := newTablePacker[trace.ProfileRow](f.finisher, "profile", fieldsOf("Location", "Path", "Metric", "Calls", "Subcalls", "Inclusive", "Exclusive")...)
	renumber := func(r *trace.ProfileRow) { r.Location = f.numberOf(r.Location) }
	totals := map[profileCell]*[4]float64{}
	err := f.ProfileRows.SortedAs(renumber, f.inOrder, packedRows, func(rows []trace.ProfileRow) error {
		rows = located(rows, lost, func(r *trace.ProfileRow) trace.LocationID { return r.Location })
		for i := range rows {
			r := &rows[i]
			sums := totals[profileCell{r.Path, r.Metric}]
			if sums == nil {
				sums = new([4]float64)
				totals[profileCell{r.Path, r.Metric}] = sums
			}
			sums[0] += r.Calls
			sums[1] += r.Subcalls
			sums[2] += r.Inclusive
			sums[3] += r.Exclusive
		}
		return t.add(ctx, rows)
	})
	if err := t.finish(ctx, err); err != nil {
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
	t := newTablePacker[trace.AtomicRow](f.finisher, "atomic", fieldsOf("Location", "Path", "Metric", "Count", "Min", "Max", "Mean", "SumSquares")...)
	renumber := func(r *trace.AtomicRow) { r.Location = f.numberOf(r.Location) }
	return t.finish(ctx, f.AtomicRows.SortedAs(renumber, f.inOrder, packedRows, func(rows []trace.AtomicRow) error {
		return t.add(ctx, located(rows, lost, func(r *trace.AtomicRow) trace.LocationID { return r.Location }))
	}))
}

func (f profiler) writeMoments(ctx context.Context, lost *int64) error {
	columns := append(fieldsOf("Location", "Role", "Begin", "End", "Weight", "Mean"), []string{"", "", "M2", "M3", "", "", "", "", ""})
	t := newTablePacker[write.MomentRecord](f.finisher, "moment", columns...)
	renumber := func(r *write.MomentRecord) {
		r.Location = f.numberOf(r.Location)
		r.Begin -= f.origin
		r.End -= f.origin
	}
	more := map[int][trace.MaxMoment + 1]float64{} // what rows at hand have besides
	return t.finish(ctx, f.MomentRows.SortedAs(renumber, f.inOrder, packedRows, func(rows []write.MomentRecord) error {
		for i := range rows {
			r := &rows[i]
			if r.Location == trace.NoLocation {
				if r.Part == 0 {
					*lost++
				}
				continue
			}
			if r.Part > 0 {
				at := len(t.rows) - 1
				central := more[at]
				if r.Part == 1 {
					central[4], central[5], central[6], central[7] = r.Weight, r.Mean, r.M2, r.M3
				} else {
					central[8], central[0], central[1] = r.Weight, r.Mean, r.M2
				}
				more[at] = central
				t.other = func(row, k int) float64 { return more[row][k] }
				continue
			}
			if len(t.rows) == packedRows {
				if err := t.flush(ctx); err != nil {
					return err
				}
				clear(more)
				t.other = nil
			}
			t.rows = append(t.rows, *r)
		}
		return nil
	}))
}
