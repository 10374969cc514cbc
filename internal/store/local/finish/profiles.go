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

// A profiler sorts and writes measurements without time.
type profiler struct {
	*finisher
	inOrder     bool // locations have the order in which they were defined
	sameNumbers bool // and the numbers
}

// writeProfiles writes the tables profile, line, atomic and moment.
func (f profiler) writeProfiles(ctx context.Context) error {
	var lost [4]int64 // rows of each whose location is not defined
	f.inOrder, f.sameNumbers = slices.IsSorted(f.order.number), true
	for i, n := range f.order.number {
		f.sameNumbers = f.sameNumbers && int(n) == i
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, write := range []func(context.Context, *int64) error{f.writeProfile, f.writeAtomics, f.writeMoments,
		f.writeLines} {
		g.Go(func() error { return write(ctx, &lost[i]) })
	}
	err := g.Wait()
	if n := lost[0] + lost[1] + lost[3]; n > 0 {
		f.Report(trace.MissingValues, "profile rows with an undefined location", n, "")
	}
	if lost[2] > 0 {
		f.Report(trace.MissingValues, "moments with an undefined location", lost[2], "")
	}
	return err
}

// A tableWriter opens cursors on columns and closes them together.
type tableWriter struct {
	dir, table string
	closers    []func() error
}

func appendTo[T any](t *tableWriter, name string) *disk.Cursor[T] {
	c := &disk.Cursor[T]{To: disk.NewColumn[T](t.dir, t.table+"."+name)}
	t.closers = append(t.closers, c.Finish, c.To.Close)
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
	t := disk.NewTablePacker[trace.ProfileRow](f.Dir, "profile",
		disk.FieldsOf("Location", "Path", "Metric", "Calls", "Subcalls", "Inclusive", "Exclusive")...)
	renumber := func(r *trace.ProfileRow) { r.Location = f.order.numberOf(r.Location) }
	totals := map[profileCell]*[4]float64{}
	err := f.ProfileRows.SortedAs(renumber, f.inOrder, sortedRows, func(rows []trace.ProfileRow) error {
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
		return t.Add(ctx, rows)
	})
	if err := describePacked(f.finisher, t, t.Finish(ctx, err)); err != nil {
		return err
	}
	return f.writeTotals(totals)
}

// A profileCell is a cell of a profile but for its location.
type profileCell struct {
	path   trace.CallPathID
	metric trace.MetricID
}

// writeTotals writes the sums of the rows of a profile.
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
	for _, c := range cells {
		path.Add(c.path)
		metric.Add(c.metric)
		for i, v := range totals[c] {
			values[i].Add(v)
		}
	}
	return t.finish(nil)
}

// describePacked takes note of the files of a table that is packed.
func describePacked[T any](f *finisher, t *disk.TablePacker[T], err error) error {
	if err != nil {
		return err
	}
	entries, err := t.DescribeBy(f.described.file)
	for _, e := range entries {
		f.described.set(e)
	}
	return err
}

// keep takes a table as it was packed; false: its rows are to be sorted. Locations have other numbers where some were
// defined that come between them, and times begin with the trace.
func keep[T any](ctx context.Context, f profiler, rows *write.Ahead[T], last trace.LocationID, times ...int) (bool,
	error) {
	t := rows.Packed
	if err := t.Finish(ctx, nil); err != nil {
		return false, err
	}
	if rows.Late.Len() > 0 || !f.inOrder || t.Count() > 0 && int(last) >= len(f.order.number) {
		return false, nil
	}
	g, ctx := errgroup.WithContext(ctx)
	if !f.sameNumbers {
		g.Go(func() error {
			return t.Change(0, func(values []uint64) {
				for i, v := range values {
					values[i] = uint64(f.order.number[v])
				}
			})
		})
	}
	for _, column := range times {
		g.Go(func() error {
			return t.Change(column, func(values []uint64) {
				for i := range values {
					values[i] -= uint64(f.origin)
				}
			})
		})
	}
	if err := g.Wait(); err != nil {
		return false, err
	}
	return true, describePacked(f.finisher, t, t.MoveTo(f.Dir))
}

func (f profiler) writeLines(ctx context.Context, lost *int64) error {
	t := disk.NewTablePacker[trace.LineRow](f.Dir, "line",
		disk.FieldsOf("Location", "Path", "Callee", "File", "Line", "Metric", "Calls", "Inclusive", "Exclusive")...)
	renumber := func(r *trace.LineRow) { r.Location = f.order.numberOf(r.Location) }
	return describePacked(f.finisher, t,
		t.Finish(ctx, f.LineRows.SortedAs(renumber, f.inOrder, sortedRows, func(rows []trace.LineRow) error {
			return t.Add(ctx, located(rows, lost, func(r *trace.LineRow) trace.LocationID { return r.Location }))
		})))
}

func (f profiler) writeAtomics(ctx context.Context, lost *int64) error {
	if done, err := keep(ctx, f, f.AtomicRows, f.AtomicRows.Last.Location); done || err != nil {
		return err
	}
	all, err := f.AtomicRows.All(ctx, f.Temp, f.memory/16)
	if err != nil {
		return err
	}
	defer all.Close()
	t := disk.NewTablePacker[trace.AtomicRow](f.Dir, "atomic", write.AtomicFields...)
	renumber := func(r *trace.AtomicRow) { r.Location = f.order.numberOf(r.Location) }
	return describePacked(f.finisher, t,
		t.Finish(ctx, all.SortedAs(renumber, f.inOrder, sortedRows, func(rows []trace.AtomicRow) error {
			return t.Add(ctx, located(rows, lost, func(r *trace.AtomicRow) trace.LocationID { return r.Location }))
		})))
}

// sortedRows is the number of rows that are handed out at a time.
const sortedRows = 1 << 12

// Places of columns in the schema of table moment.
const beginColumn, endColumn = 2, 3

func (f profiler) writeMoments(ctx context.Context, lost *int64) error {
	if done, err := keep(ctx, f, f.MomentRows, f.MomentRows.Last.Location, beginColumn, endColumn); done || err != nil {
		return err
	}
	all, err := f.MomentRows.All(ctx, f.Temp, f.memory/16)
	if err != nil {
		return err
	}
	defer all.Close()
	t := disk.NewTablePacker[write.MomentRecord](f.Dir, "moment", write.MomentFields...)
	renumber := func(r *write.MomentRecord) {
		r.Location = f.order.numberOf(r.Location)
		r.Begin -= f.origin
		r.End -= f.origin
	}
	more := map[int][trace.MaxMoment + 1]float64{} // further moments of the rows at hand
	return describePacked(f.finisher, t,
		t.Finish(ctx, all.SortedAs(renumber, f.inOrder, sortedRows, func(rows []write.MomentRecord) error {
			for i := range rows {
				r := &rows[i]
				switch {
				case r.Location == trace.NoLocation && r.Part == 0:
					*lost++
				case r.Location == trace.NoLocation:
				case r.Part == 0:
					if err := t.Room(ctx); err != nil {
						return err
					}
					if len(t.Rows) == 0 {
						clear(more)
						t.Other = nil
					}
					t.Rows = append(t.Rows, *r)
				default:
					at := len(t.Rows) - 1
					central := more[at]
					if r.Part == 1 {
						central[4], central[5], central[6], central[7] = r.Weight, r.Mean, r.M2, r.M3
					} else {
						central[8], central[0], central[1] = r.Weight, r.Mean, r.M2
					}
					more[at] = central
					t.Other = func(row, k int) float64 { return more[row][k] }
				}
			}
			return nil
		})))
}
