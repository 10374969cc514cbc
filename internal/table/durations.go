package table

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A durationRow is a row of durations: the calls of a region that took about as long.
type durationRow struct {
	*Run
	id               trace.RegionID
	low, high, calls int64
}

// Durations is the table that a lake keeps of each run next to the others.
var Durations = function(scanned("durations",
	"Number of calls of a region by duration, over all locations: a histogram. Its rows can be added up, also over "+
		"several runs, and give any quantile within 1 %.",
	func(r *Run) int64 { return int64(len(r.Store.Regions())) * 50 },
	[]column[durationRow]{
		narrow(text("region", "its name", func(x *durationRow) string { return x.region(x.id).Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *durationRow) int64 { return int64(x.id) })),
		narrow(maybeText("category", "of the region", func(x *durationRow) string { return x.region(x.id).Category })),
		narrow(text("role", "of the region", func(x *durationRow) string { return x.region(x.id).Role.String() })),
		integer("low", "ns", "shortest duration of the row", func(x *durationRow) int64 { return x.low }),
		integer("high", "ns", "longest duration of the row, included: at most 1.6 % more than low",
			func(x *durationRow) int64 { return x.high }),
		integer("calls", "", "that took so long", func(x *durationRow) int64 { return x.calls }),
	}, scanDurations), windowArguments)

func scanDurations(ctx context.Context, r *Run, f *Filter, to *rowsOf[durationRow]) error {
	begin, end := f.window(r)
	if begin >= end {
		return nil
	}
	totals,
		err := callsByRegion(ctx, r, f.locations(r, ""), store.Window{Begin: begin, End: end}, f.regions(r), to.Output)
	if err != nil {
		return err
	}
	for g, s := range totals {
		if s == nil {
			continue
		}
		s.Buckets(func(low, high, calls int64) {
			if err == nil {
				err = to.add(&durationRow{r, trace.RegionID(g), low, high, calls})
			}
		})
	}
	return err
}
