package calltree

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostValues bounds how many values of single locations are kept for quantiles.
const mostValues = 8 << 20

// build merges the call trees of a window.
func build(ctx context.Context, s store.Reader, w store.Window, metric trace.MetricID, measure callgraph.Measure) (*tree, error) {
	if s.Info().Intervals > 0 {
		return fromIntervals(ctx, s, w, measure)
	}
	return fromPaths(ctx, s, w, metric)
}

// --- from intervals

// fromIntervals takes O(call paths) a location for the whole run, and for a window
// the rows of a few thousand calls at its edges on top.
func fromIntervals(ctx context.Context, s store.Reader, w store.Window, measure callgraph.Measure) (*tree, error) {
	c := &callgraph.PathCollector{Begin: max(w.Begin, 0), End: w.End, Measure: measure, MostValues: mostValues, Regions: len(s.Regions())}
	if w.End >= s.Info().End {
		c.End = s.Info().End + 1 // what happens at the very end is part of the whole
	}
	if err := store.Digests(ctx, s, callgraph.DigestName, w, c.Add); err != nil {
		return nil, err
	}
	p := c.Paths()
	t := &tree{locations: p.Locations, nodes: make([]node, len(p.Parent))}
	for i := range t.nodes {
		t.nodes[i] = node{parent: p.Parent[i], region: p.Region[i], calls: float64(p.Calls[i]), inclusive: float64(p.Inclusive[i]), exclusive: float64(p.Inclusive[i])}
		if measure != callgraph.Totals && p.Each[i].Count > 0 {
			t.nodes[i].each = &p.Each[i]
		}
	}
	for i := range t.nodes {
		if up := t.nodes[i].parent; up >= 0 {
			t.nodes[up].exclusive -= t.nodes[i].inclusive
		}
	}
	if p.Values == nil && len(t.nodes) > 0 {
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
	}
	for _, v := range p.Values {
		n := &t.nodes[v.Path]
		n.values = append(n.values, float64(v.Time))
	}
	return t, nil
}

// --- from call paths

// fromPaths takes O(rows).
func fromPaths(ctx context.Context, s store.Reader, w store.Window, metric trace.MetricID) (*tree, error) {
	paths := s.CallPaths()
	sums := make([]node, len(paths))
	has := make([]bool, len(paths)) // rows of its own
	kept, flat := 0, int64(0)
	locations := map[trace.LocationID]bool{}
	err := s.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
		for i := range rows {
			x := &rows[i]
			if x.Metric != metric {
				continue
			}
			locations[x.Location] = true
			if paths[x.Path].Flat {
				flat++
				continue
			}
			n := &sums[x.Path]
			has[x.Path] = true
			n.calls += x.Calls
			n.inclusive += x.Inclusive
			n.exclusive += x.Exclusive
			if kept++; kept <= mostValues {
				n.values = append(n.values, x.Inclusive)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &tree{locations: len(locations)}
	t.fromSums(paths, sums, has)
	if kept > mostValues {
		for i := range t.nodes {
			t.nodes[i].values = nil
		}
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
	}
	return t, nil
}

// fromSums keeps paths with rows and what leads to them. A path without rows of its
// own, above others that have some, has their time.
func (t *tree) fromSums(paths []trace.CallPath, sums []node, has []bool) {
	used := make([]bool, len(paths))
	for i := range paths {
		for up := trace.CallPathID(i); has[i] && up != trace.NoCallPath && !used[up]; up = paths[up].Parent {
			used[up] = true
		}
	}
	place := make([]int32, len(paths))
	guessed := 0
	for i := range paths {
		if !used[i] {
			continue
		}
		n := sums[i]
		n.region, n.parent = paths[i].Region, -1
		if p := paths[i].Parent; p != trace.NoCallPath {
			n.parent = place[p] // parents are defined first
		}
		place[i] = int32(len(t.nodes))
		t.nodes = append(t.nodes, n)
		if !has[i] {
			guessed++
			t.nodes[place[i]].cut = true
		}
	}
	for i := len(paths) - 1; i >= 0 && guessed > 0; i-- {
		if used[i] {
			if n := &t.nodes[place[i]]; n.parent >= 0 && !has[paths[i].Parent] {
				t.nodes[n.parent].inclusive += n.inclusive
			}
		}
	}
	if guessed > 0 {
		for i := range t.nodes {
			t.whole += t.nodes[i].exclusive
		}
		t.notes = append(t.notes, fmt.Sprintf("%s call paths, marked …, have no numbers of their own in the source and show the sum of what they call; their time may be part of another path too", view.Thousands(int64(guessed))))
	}
}
