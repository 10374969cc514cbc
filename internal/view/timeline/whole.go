package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostSpans bounds the spans that --all holds in memory.
const mostSpans = 5_000_000

// A whole is an interval with its place.
type whole struct {
	begin, end trace.Time
	region     trace.RegionID
	row, lane  int32
	depth      int32
}

// wholes are the intervals of one location.
type wholes struct {
	location trace.LocationID
	list     []whole
}

// readAll takes every interval of the selection as it is, for the twins:
// whatever is folded, scrolled out of sight or too short to see.
func readAll(ctx context.Context, in *input, f *forest) ([]wholes, error) {
	if !in.opt.all {
		return nil, nil
	}
	w := store.Window{Begin: in.selection.Begin, End: in.selection.End, Locations: f.named()}
	n, err := in.reader.Count(w)
	if err != nil {
		return nil, err
	}
	if n > mostSpans {
		return nil, fmt.Errorf("--all would write %s intervals, more than %s; choose a shorter time or fewer locations",
			view.Thousands(n), view.Thousands(mostSpans))
	}
	var all []wholes
	place := map[trace.LocationID]int{}
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			place[trace.LocationID(id)] = len(all)
			all = append(all, wholes{location: trace.LocationID(id)})
		}
	}
	return all, in.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		all[place[c.Location]].add(c, in)
		return nil
	})
}

func (w *wholes) add(c *trace.Columns, in *input) {
	take := func(row, depth int, begin, end trace.Time, region trace.RegionID) {
		if in.rule.keeps(region) {
			w.list = append(w.list, whole{begin, end, region, int32(row), int32(c.Lane), int32(depth)})
		}
	}
	// Intervals that began before the window come with the first batch of a lane.
	if n := len(w.list); n == 0 || int(w.list[n-1].lane) != c.Lane {
		for depth, o := range c.Open {
			// One that ends with the begin is here for an empty child at that very instant.
			if o.Begin < in.selection.Begin && o.End > in.selection.Begin {
				take(o.Row, depth, o.Begin, o.End, o.Region)
			}
		}
	}
	for i := range c.Begin {
		take(c.First+i, int(c.Depth[i]), c.Begin[i], c.End(i), c.Region[i])
	}
}

// readTotals finds the regions for the legend: those of the leaf rows, most time first.
func readTotals(ctx context.Context, in *input, leaves []*strips) ([]total, error) {
	var ids []trace.LocationID
	for _, l := range leaves {
		if l != nil {
			ids = append(ids, l.location)
		}
	}
	if len(ids) == 0 || in.opt.colour != "region" {
		return nil, nil
	}
	table, err := store.TotalTime(ctx, in.reader, in.window(ids))
	if err != nil {
		return nil, err
	}
	var out []total
	for i, id := range table.Region {
		if in.rule.keeps(id) {
			out = append(out, total{id, table.Exclusive[i].Time(), table.Calls[i]})
		}
	}
	slices.SortFunc(out, compareTotals)
	return out, nil
}

// compareTotals puts the most time first.
func compareTotals(a, b total) int {
	return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.region, b.region))
}
