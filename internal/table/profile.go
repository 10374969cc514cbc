package table

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profileRow is a row of the table.
type profileRow struct {
	*Run
	*trace.ProfileRow
}

func (x *profileRow) callee() trace.RegionID { return x.Store.CallPaths()[x.Path].Region }

var profile = scanned("profile", "What a profile says of each location, call path and metric. Of a trace with intervals ask time_in.",
	func(r *Run) int64 { return r.Store.Info().Profile },
	[]column[profileRow]{
		narrow(integer("location", "", "who", func(x *profileRow) int64 { return int64(x.Location) })),
		narrow(text("path", "of the location", func(x *profileRow) string { return x.Run.path(x.Location) })),
		narrow(maybe("rank", "", "of the location", func(x *profileRow) (int64, bool) { return x.rank(x.Location) })),
		narrow(integer("callpath", "", "its number in callpaths", func(x *profileRow) int64 { return int64(x.Path) })),
		narrow(text("region", "the last of the path", func(x *profileRow) string { return x.region(x.callee()).Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *profileRow) int64 { return int64(x.callee()) })),
		flag("flat", "1 where it is a total over all callers: never add it to paths", func(x *profileRow) bool { return x.Store.CallPaths()[x.Path].Flat }),
		narrow(text("metric", "", func(x *profileRow) string { return x.Store.Metrics()[x.Metric].Name })),
		maybeText("unit", "of the metric; null for a count", func(x *profileRow) string { return x.Store.Metrics()[x.Metric].Unit }),
		number("calls", "", "the same in all metrics of a path", func(x *profileRow) float64 { return x.Calls }),
		number("subcalls", "", "calls made by it", func(x *profileRow) float64 { return x.Subcalls }),
		number("inclusive", "", "with what is called from it", func(x *profileRow) float64 { return x.Inclusive }),
		number("exclusive", "", "without", func(x *profileRow) float64 { return x.Exclusive }),
	}, scanProfile)

func scanProfile(ctx context.Context, r *Run, f *Filter, to *rowsOf[profileRow]) error {
	at, keep, metric := f.locations(r, ""), f.regions(r), f.words("metric")
	if at.none() || nothing(keep) {
		return nil
	}
	pathLo, pathHi := f.Between("callpath")
	var only []trace.LocationID
	if at.first == at.last {
		only = []trace.LocationID{trace.LocationID(at.first)}
	}
	all := r.Store.Metrics()
	x := &profileRow{Run: r}
	return r.Store.Profile(ctx, only, func(rows []trace.ProfileRow) error {
		to.read(len(rows))
		for i := range rows {
			x.ProfileRow = &rows[i]
			if !at.has(x.Location) || !within(int64(x.Path), [2]int64{pathLo, pathHi}) || keep != nil && !keep[x.callee()] || metric != nil && !metric(all[x.Metric].Name) {
				continue
			}
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}
