package table

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A lineRow is a row of the table.
type lineRow struct {
	*Run
	trace.LineRow
	region       trace.RegionID
	file         string
	metric, unit string
}

var lines = scanned("lines", "Values of source lines, from profiles that record them. Within one metric, "+
	"`sum(exclusive)` over the lines of a region is the exclusive value of the region in `profile`, and "+
	"`sum(inclusive)` by file and line counts each stack once. A row with a callee describes the calls of the line "+
	"and repeats a part of its inclusive value: choose `callee is null` for the lines themselves.",
	func(r *Run) int64 { return r.Store.Info().Lines },
	[]column[lineRow]{
		narrow(integer("location", "", "its id", func(x *lineRow) int64 { return int64(x.Location) })),
		narrow(text("path", "of the location", func(x *lineRow) string { return x.Run.path(x.Location) })),
		narrow(maybe("rank", "", "of the location", func(x *lineRow) (int64, bool) { return x.rank(x.Location) })),
		narrow(integer("callpath", "", "its number in callpaths", func(x *lineRow) int64 { return int64(x.Path) })),
		narrow(text("region", "the last of the path", func(x *lineRow) string { return x.Run.region(x.region).Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *lineRow) int64 { return int64(x.region) })),
		text("file", "source file; that of the region unless code of another file was inlined",
			func(x *lineRow) string { return x.file }),
		integer("line", "", "0 if the line is not known", func(x *lineRow) int64 { return int64(x.Line) }),
		maybe("callee_callpath", "", "call path that the line calls; null for the line itself",
			func(x *lineRow) (int64, bool) { return int64(x.Callee), x.Callee != trace.NoCallPath }),
		maybeText("callee", "region that the line calls; null for the line itself", func(x *lineRow) string {
			if x.Callee == trace.NoCallPath {
				return ""
			}
			return x.Run.region(x.Store.CallPaths()[x.Callee].Region).Name
		}),
		narrow(text("metric", "", func(x *lineRow) string { return x.metric })),
		maybeText("unit", "of the metric; null for a count", func(x *lineRow) string { return x.unit }),
		number("calls", "", "made by the line to the callee; null if they are not counted", func(x *lineRow) float64 {
			if x.Calls == 0 {
				return math.NaN()
			}
			return x.Calls
		}),
		number("inclusive", "", "with callees", func(x *lineRow) float64 { return x.Inclusive }),
		number("exclusive", "", "without callees", func(x *lineRow) float64 { return x.Exclusive }),
	}, scanLines)

func scanLines(ctx context.Context, r *Run, f *Filter, to *rowsOf[lineRow]) error {
	at, keep, metric := f.locations(r, ""), f.regions(r), f.Words("metric")
	if at.none() || nothing(keep) {
		return nil
	}
	pathLo, pathHi := f.Between("callpath")
	var only []trace.LocationID
	if at.first == at.last {
		only = []trace.LocationID{trace.LocationID(at.first)}
	}
	paths, all := r.Store.CallPaths(), r.Store.Metrics()
	x := &lineRow{Run: r}
	return r.Store.Lines(ctx, only, func(rows []trace.LineRow) error {
		to.read(len(rows))
		for i := range rows {
			x.LineRow = rows[i]
			m := &all[x.Metric]
			x.region, x.metric, x.unit = paths[x.Path].Region, m.Name, m.Unit
			if !at.has(x.Location) || !within(int64(x.Path), [2]int64{pathLo, pathHi}) ||
				keep != nil && !keep[x.region] || metric != nil && !metric(m.Name) {
				continue
			}
			x.file = store.FileOfLine(r.Store, &x.LineRow)
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}
