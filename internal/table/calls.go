package table

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A callRow is a row of calls.
type callRow struct {
	*Run
	location trace.LocationID // trace.NoLocation: of all
	id       trace.RegionID
	sketch   *quantile.Sketch
	at       []float64
}

// callQuantiles are those that calls gives.
var callQuantiles = []float64{0.5, 0.9, 0.99}

var calls = function(scanned("calls",
	"Durations of calls: one row per region, or with by = 'location' one per location and region. Calls that begin in "+
		"the window, at their full length.",
	func(r *Run) int64 { return int64(len(r.Store.Regions())) },
	[]column[callRow]{
		narrow(maybe("location", "", "null if all locations are together",
			func(x *callRow) (int64, bool) { return int64(x.location), x.location != trace.NoLocation })),
		narrow(maybeText("path", "of the location", func(x *callRow) string {
			if x.location == trace.NoLocation {
				return ""
			}
			return x.path(x.location)
		})),
		narrow(maybe("rank", "", "of the location", func(x *callRow) (int64, bool) {
			if x.location == trace.NoLocation {
				return 0, false
			}
			return x.rank(x.location)
		})),
		narrow(text("region", "its name", func(x *callRow) string { return x.region(x.id).Name })),
		narrow(integer("region_id", "", "its number in regions", func(x *callRow) int64 { return int64(x.id) })),
		narrow(maybeText("category", "of the region", func(x *callRow) string { return x.region(x.id).Category })),
		narrow(text("role", "of the region", func(x *callRow) string { return x.region(x.id).Role.String() })),
		integer("calls", "", "", func(x *callRow) int64 { return x.sketch.Count }),
		maybe("total", "ns",
			"of their durations, with what they call; null beyond 292 years, where calls * mean has it",
			func(x *callRow) (int64, bool) {
				total := x.sketch.Total.Time()
				return int64(total), trace.SumOf(total) == x.sketch.Total
			}),
		number("mean", "ns", "", func(x *callRow) float64 { return x.sketch.Mean() }),
		number("sd", "ns", "standard deviation", func(x *callRow) float64 { return x.sketch.Deviation() }),
		integer("min", "ns", "", func(x *callRow) int64 { return x.sketch.Min }),
		number("p50", "ns", "", func(x *callRow) float64 { return x.at[0] }),
		number("p90", "ns", "", func(x *callRow) float64 { return x.at[1] }),
		number("p99", "ns", "", func(x *callRow) float64 { return x.at[2] }),
		integer("max", "ns", "", func(x *callRow) int64 { return x.sketch.Max }),
		flag("exact", "1 if quantiles are exact; of very many calls they are within 1 %",
			func(x *callRow) bool { return x.sketch.Exact() }),
	}, scanCalls), append(slices.Clone(windowArguments),
	Column{Name: "by", Kind: Text, Help: "region or location; left out: region"}))

func scanCalls(ctx context.Context, r *Run, f *Filter, to *rowsOf[callRow]) error {
	by := f.word("by", "region")
	if by != "region" && by != "location" {
		return fmt.Errorf("calls: by %q is neither region nor location", by)
	}
	keep, at := f.regions(r), f.locations(r, "")
	begin, end := f.window(r)
	if begin >= end {
		return nil
	}
	if by == "region" {
		totals, err := callsByRegion(ctx, r, at, store.Window{Begin: begin, End: end}, keep, to.Output)
		if err != nil {
			return err
		}
		return addCalls(r, trace.NoLocation, totals, to)
	}
	return r.holding(ctx, at, func(some []trace.LocationID) error {
		found, err := callsOf(ctx, r, store.Window{Begin: begin, End: end, Locations: some}, keep, to.Output)
		if err != nil {
			return err
		}
		for _, id := range some {
			if err := addCalls(r, id, found[id], to); err != nil {
				return err
			}
		}
		return nil
	})
}

// callsByRegion sketches the calls that begin in a window, over all locations that a filter leaves.
func callsByRegion(ctx context.Context, r *Run, at where, w store.Window, keep []bool,
	to *Output) ([]*quantile.Sketch, error) {
	totals := make([]*quantile.Sketch, len(r.Store.Regions()))
	err := r.holding(ctx, at, func(some []trace.LocationID) error {
		w.Locations = some
		found, err := callsOf(ctx, r, w, keep, to)
		if err != nil {
			return err
		}
		for _, id := range some {
			for g, s := range found[id] {
				switch {
				case s == nil:
				case totals[g] == nil:
					totals[g] = s
				default:
					totals[g].Merge(s)
				}
			}
		}
		return nil
	})
	return totals, err
}

// callsOf sketches the calls of a few locations, by location and region.
func callsOf(ctx context.Context, r *Run, w store.Window, keep []bool,
	to *Output) (map[trace.LocationID][]*quantile.Sketch, error) {
	found := make(map[trace.LocationID][]*quantile.Sketch, len(w.Locations))
	for _, id := range w.Locations {
		found[id] = make([]*quantile.Sketch, len(r.Store.Regions()))
	}
	var mu sync.Mutex
	err := r.Store.Intervals(ctx, w, func(c *trace.Columns) error {
		mu.Lock()
		sketches, ok := found[c.Location]
		mu.Unlock()
		if !ok { // it is below one that was asked for
			return nil
		}
		to.read(c.Len())
		for i, g := range c.Region {
			if keep != nil && !keep[g] {
				continue
			}
			if sketches[g] == nil {
				sketches[g] = &quantile.Sketch{}
			}
			sketches[g].Add(int64(c.Duration[i]))
		}
		return nil
	})
	return found, err
}

func addCalls(r *Run, id trace.LocationID, sketches []*quantile.Sketch, to *rowsOf[callRow]) error {
	for g, s := range sketches {
		if s == nil {
			continue
		}
		x := &callRow{Run: r, location: id, id: trace.RegionID(g), sketch: s}
		x.at = s.Quantiles(x.at, callQuantiles...)
		if err := to.add(x); err != nil {
			return err
		}
	}
	return nil
}
