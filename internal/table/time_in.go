package table

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A timeRow is a row of time_in.
type timeRow struct {
	*Run
	location                    trace.LocationID
	path                        string
	id                          trace.RegionID
	region                      *trace.Region
	calls, inclusive, exclusive int64
}

// windowArguments are those of every function about a window.
var windowArguments = []Column{
	{Name: "begin", Kind: Integer, Unit: "ns", Help: "of the window; left out or null: 0"},
	{Name: "end", Kind: Integer, Unit: "ns", Help: "of the window; left out or null: the end of the run"},
}

func (f *Filter) window(r *Run) (begin, end trace.Time) {
	whole := int64(r.Store.Info().End) + 1
	return trace.Time(max(f.argument("begin", 0), 0)), trace.Time(min(f.argument("end", whole), whole))
}

// function makes a table that is asked with arguments.
func function(t *Table, arguments []Column) *Table {
	t.Arguments = arguments
	return t
}

var timeIn = function(scanned("time_in",
	"Time and calls of each location and region in a window, from sums that the store keeps: it costs the same for "+
		"any window. Times are clipped to the window.",
	func(r *Run) int64 { return int64(r.Store.Info().Rows) * int64(min(len(r.Store.Regions()), 100)) },
	[]column[timeRow]{
		narrow(integer("location", "", "its id; overlay locations only if selected by id",
			func(x *timeRow) int64 { return int64(x.location) })),
		narrow(text("path", "of the location", func(x *timeRow) string { return x.path })),
		narrow(maybe("rank", "", "of the location", func(x *timeRow) (int64, bool) { return x.rank(x.location) })),
		narrow(text("region", "its name", func(x *timeRow) string { return x.region.Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *timeRow) int64 { return int64(x.id) })),
		narrow(maybeText("category", "of the region", func(x *timeRow) string { return x.region.Category })),
		narrow(text("role", "of the region", func(x *timeRow) string { return x.region.Role.String() })),
		integer("calls", "", "that begin in the window", func(x *timeRow) int64 { return x.calls }),
		integer("inclusive", "ns", "with the region anywhere on the stack; recursion counts once",
			func(x *timeRow) int64 { return x.inclusive }),
		integer("exclusive", "ns", "with the region innermost", func(x *timeRow) int64 { return x.exclusive }),
	}, scanTimeIn), windowArguments)

// someLocations is how many locations a function asks about at once.
const someLocations = 1024

// holding yields the locations of a filter that hold intervals, some at a time. Overlays are included only if one
// location is asked for.
func (r *Run) holding(ctx context.Context, at where, f func([]trace.LocationID) error) error {
	lanes, tree := r.Store.Lanes(), r.Store.Locations()
	some := make([]trace.LocationID, 0, someLocations)
	for id := at.first; id <= at.last; id++ {
		id := trace.LocationID(id)
		if lanes[id] != lanes[id+1] && at.has(id) && (!tree.IsAside(id) || at.first == at.last) {
			some = append(some, id)
		}
		if len(some) == someLocations || int64(id) == at.last && len(some) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := f(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return ctx.Err()
}

func scanTimeIn(ctx context.Context, r *Run, f *Filter, to *rowsOf[timeRow]) error {
	begin, end := f.window(r)
	return eachTime(ctx, r, f, begin, end, to.Output, to.add)
}

// eachTime yields time and calls in a window of the locations and regions that a filter leaves.
func eachTime(ctx context.Context, r *Run, f *Filter, begin, end trace.Time, to *Output,
	add func(*timeRow) error) error {
	keep := f.regions(r)
	if begin >= end {
		return nil
	}
	x := &timeRow{Run: r}
	return r.holding(ctx, f.locations(r, ""), func(some []trace.LocationID) error {
		t, err := r.Store.Time(ctx, store.Window{Begin: begin, End: end, Locations: some})
		if err != nil {
			return err
		}
		next := 0
		for k, id := range t.Locations {
			for next < len(some) && some[next] < id {
				next++
			}
			if next == len(some) || some[next] != id { // it is below one that was asked for
				continue
			}
			x.location, x.path = id, r.path(id)
			for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
				x.id = t.Region[i]
				x.region, x.calls, x.inclusive, x.exclusive = r.region(x.id), t.Calls[i], int64(t.Inclusive[i]),
					int64(t.Exclusive[i])
				to.read(1)
				if keep != nil && !keep[x.id] || x.calls == 0 && x.inclusive == 0 {
					continue
				}
				if err := add(x); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
