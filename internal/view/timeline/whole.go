package timeline

import (
	"cmp"
	"context"
	"fmt"
	"sort"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostSpans bounds what --all holds in memory.
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

// fetchAll takes every interval of the selection as it is, for the twins:
// whatever is folded, scrolled out of sight or too short to see.
func (r *fetcher) fetchAll(ctx context.Context, f *forest) error {
	if !r.opt.all {
		return nil
	}
	w := store.Window{Begin: r.selection.Begin, End: r.selection.End, Locations: f.named()}
	if n := r.reader.Count(w); n > mostSpans {
		return fmt.Errorf("--all would write %s intervals, more than %s; choose a shorter time or fewer locations",
			view.Thousands(n), view.Thousands(mostSpans))
	}
	place := map[trace.LocationID]int{}
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			place[trace.LocationID(id)] = len(r.all)
			r.all = append(r.all, wholes{location: trace.LocationID(id)})
		}
	}
	return r.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		r.all[place[c.Location]].add(c, r.result)
		return nil
	})
}

func (w *wholes) add(c *trace.Columns, r *result) {
	take := func(row, depth int, begin, end trace.Time, region trace.RegionID) {
		if r.rule.keeps(region) {
			w.list = append(w.list, whole{begin, end, region, int32(row), int32(c.Lane), int32(depth)})
		}
	}
	// What began before the window comes with the first batch of a lane.
	if n := len(w.list); n == 0 || int(w.list[n-1].lane) != c.Lane {
		for depth, o := range c.Open {
			// One that ends with the begin is here for an empty child at that very instant.
			if o.Begin < r.selection.Begin && o.End > r.selection.Begin {
				take(o.Row, depth, o.Begin, o.End, o.Region)
			}
		}
	}
	for i := range c.Begin {
		take(c.First+i, int(c.Depth[i]), c.Begin[i], c.End(i), c.Region[i])
	}
}

// fetchTotals finds what the legend lists.
func (r *fetcher) fetchTotals(ctx context.Context, _ *forest) error {
	r.durations = r.durationRange()
	var ids []trace.LocationID
	for i, l := range r.leaves {
		if l != nil {
			ids = append(ids, r.rows[i].location)
		}
	}
	if len(ids) == 0 || r.opt.colour != "region" {
		return nil
	}
	table, err := store.TotalTime(ctx, r.reader, r.window(ids))
	if err != nil {
		return err
	}
	for i, id := range table.Region {
		if r.rule.keeps(id) {
			r.totals = append(r.totals, total{id, table.Exclusive[i].Time(), table.Calls[i]})
		}
	}
	sort.Slice(r.totals, func(a, b int) bool {
		x, y := &r.totals[a], &r.totals[b]
		return cmp.Or(cmp.Compare(y.time, x.time), cmp.Compare(x.region, y.region)) < 0
	})
	return nil
}

// durationRange spans the durations that are drawn.
func (r *fetcher) durationRange() (d durationScale) {
	for _, l := range r.leaves {
		if l == nil {
			continue
		}
		for _, s := range l.list {
			for i := range s.spans {
				if t := s.spans[i].longest; t > 0 {
					if d.low == 0 || t < d.low {
						d.low = t
					}
					d.high = max(d.high, t)
				}
			}
		}
	}
	return d
}
