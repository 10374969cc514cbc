package table

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var intervals = func() *Table {
	t := scanned("intervals",
		"Stays in a region: calls, operators, kernels, states. In order of location, lane and begin.",
		func(r *Run) int64 { return r.Store.Info().Intervals }, intervalColumns, scanIntervals)
	t.Find, t.Split = findInterval, splitIntervals
	return t
}()

// An intervalTest holds the conditions on a row itself.
type intervalTest struct {
	begin, end, duration, exclusive, depth, lane, row [2]int64
	regions                                           []bool // nil: all
}

func newIntervalTest(r *Run, f *Filter) *intervalTest {
	pair := func(name string) [2]int64 {
		lo, hi := f.Between(name)
		return [2]int64{lo, hi}
	}
	return &intervalTest{pair("begin"), pair("end"), pair("duration"), pair("exclusive"), pair("depth"), pair("lane"),
		pair("row"), f.regions(r)}
}

func within(x int64, b [2]int64) bool { return x >= b[0] && x <= b[1] }

func (t *intervalTest) passes(c *trace.Columns, i int) bool {
	return within(int64(c.Begin[i]), t.begin) && (t.regions == nil || t.regions[c.Region[i]]) &&
		within(int64(c.Duration[i]), t.duration) && within(int64(c.End(i)), t.end) &&
		within(int64(c.Exclusive[i]), t.exclusive) && within(int64(c.Depth[i]), t.depth) &&
		within(int64(c.First+i), t.row)
}

// window returns the time range in which matching rows begin, and the time at which to look for rows that began before
// and are still open; overlaps is false if those are not wanted.
func (t *intervalTest) window(r *Run) (begin, end, open trace.Time, overlaps bool) {
	// A call that ends after x begins at x or later, or is open at x.
	from := max(t.begin[0], 0)
	if t.end[0] > math.MinInt64 && t.end[0]-1 > from {
		open, overlaps = trace.Time(t.end[0]-1), true
		from = t.end[0] - 1
	}
	until := min(t.begin[1], t.end[1], int64(r.Store.Info().End)) // a row that ends before x begins before it
	return trace.Time(from), trace.Time(until) + 1, open, overlaps
}

func scanIntervals(ctx context.Context, r *Run, f *Filter, to *rowsOf[interval]) error {
	test, at := newIntervalTest(r, f), f.locations(r, "")
	begin, end, open, overlaps := test.window(r)
	if begin >= end && !overlaps || nothing(test.regions) {
		return nil
	}
	lanes := r.Store.Lanes()
	for id := at.first; id <= at.last; id++ {
		id := trace.LocationID(id)
		if lanes[id] == lanes[id+1] || !at.has(id) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x := &interval{Run: r}
		if overlaps {
			if err := addOpen(ctx, x, id, open, test, to); err != nil {
				return err
			}
		}
		w := store.Window{Begin: begin, End: end, Locations: []trace.LocationID{id}}
		if none, err := neverCalled(ctx, r, w, test.regions); err != nil || none {
			if err != nil {
				return err
			}
			continue
		}
		err := r.Store.Intervals(ctx, w, func(c *trace.Columns) error {
			if c.Location != id || !within(int64(c.Lane), test.lane) { // a window includes locations below, too
				return nil
			}
			to.read(c.Len())
			x.Columns = c
			for i := 0; i < c.Len(); i++ {
				first := i
				for i < c.Len() && test.passes(c, i) {
					i++
				}
				if err := to.addMany(x, first, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// worthAsking is the number of rows that are read without asking first whether it makes sense.
const worthAsking = 4096

// neverCalled reports whether none of the regions is called in a window, by sums that
// the store keeps.
func neverCalled(ctx context.Context, r *Run, w store.Window, regions []bool) (bool, error) {
	if regions == nil {
		return false, nil
	}
	if n, err := r.Store.Count(w); err != nil || n < worthAsking {
		return false, err
	}
	t, err := store.TotalTime(ctx, r.Store, w)
	if err != nil {
		return false, err
	}
	for i, g := range t.Region {
		if t.Calls[i] > 0 && regions[g] {
			return false, nil
		}
	}
	return true, nil
}

// addOpen adds the rows that began before a time and are open at it.
func addOpen(ctx context.Context, x *interval, id trace.LocationID, at trace.Time, test *intervalTest,
	to *rowsOf[interval]) error {
	var rows []store.Row
	w := store.Window{Begin: at, End: at + 1, Locations: []trace.LocationID{id}}
	seen := -1
	err := x.Store.Intervals(ctx, w, func(c *trace.Columns) error {
		if c.Location != id || c.Lane == seen || !within(int64(c.Lane), test.lane) {
			return nil
		}
		seen = c.Lane
		for _, o := range c.Open {
			if o.Begin < at {
				rows = append(rows, store.Row{Location: id, Lane: c.Lane, Row: o.Row})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := addRow(x, row, test, to); err != nil {
			return err
		}
	}
	return nil
}

func addRow(x *interval, at store.Row, test *intervalTest, to *rowsOf[interval]) error {
	c, err := x.Store.Interval(at)
	if err != nil || c == nil {
		return err
	}
	to.read(1)
	if !test.passes(c, 0) {
		return nil
	}
	x.Columns, x.i = c, 0
	return to.add(x)
}

// findInterval answers where location, lane and row are given.
func findInterval(r *Run, f *Filter, out *Output) (bool, error) {
	test, at := newIntervalTest(r, f), f.locations(r, "")
	if at.first != at.last || test.lane[0] != test.lane[1] || test.row[0] != test.row[1] {
		return false, nil
	}
	id := trace.LocationID(at.first)
	if !at.has(id) || test.row[0] < 0 || test.row[0] > math.MaxInt32 || test.lane[0] < 0 ||
		test.lane[0] > math.MaxInt32 {
		return true, nil
	}
	to := newRows(out, intervalColumns)
	err := addRow(&interval{Run: r}, store.Row{Location: id, Lane: int(test.lane[0]), Row: int(test.row[0])}, test, to)
	if err != nil {
		return true, err
	}
	return true, out.flush()
}
