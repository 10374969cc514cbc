package calltree

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostValues bounds how many values of single locations are kept for quantiles.
const mostValues = 8 << 20

// build merges the call trees of a window.
func build(ctx context.Context, s store.Reader, w store.Window, metric runfacts.MetricChoice,
	measure callgraph.Measure) (*tree, error) {
	if s.Info().Timed() {
		return fromIntervals(ctx, s, w, measure)
	}
	return fromPaths(ctx, s, w, metric)
}

// --- from intervals

// fromIntervals takes O(call paths) a location for the whole run, and for a window
// the rows of a few thousand calls at its edges on top.
func fromIntervals(ctx context.Context, s store.Reader, w store.Window, measure callgraph.Measure) (*tree, error) {
	c := &callgraph.PathCollector{Begin: max(w.Begin, 0), End: w.End, Measure: measure, MostValues: mostValues,
		Regions: len(s.Regions())}
	if w.End >= s.Info().End {
		c.End = s.Info().End + 1 // events at the very end are part of the whole
	}
	if err := store.Digests(ctx, s, callgraph.DigestName, w, c.Add); err != nil {
		return nil, err
	}
	p, err := c.Paths(ctx)
	if err != nil {
		return nil, err
	}
	if err := memory.Room(ctx, int64(len(p.Parent))*nodeBytes); err != nil {
		return nil, err
	}
	t := &tree{locations: p.Locations, nodes: make([]node, len(p.Parent))}
	for i := range t.nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		t.nodes[i] = node{parent: p.Parent[i], region: p.Region[i], calls: float64(p.Calls[i]),
			inclusive: p.Inclusive[i].Float64(), exclusive: p.Inclusive[i].Float64()}
		if measure != callgraph.Totals && p.Each[i].Count > 0 {
			t.nodes[i].each = &p.Each[i]
		}
	}
	for i := range t.nodes {
		if up := t.nodes[i].parent; up >= 0 {
			t.nodes[up].exclusive -= t.nodes[i].inclusive
		}
	}
	if runfacts.WithoutEnd(s.Regions()) != nil {
		t.notes = append(t.notes,
			"calls without an end in the source are paths of their own, (no end), and last until the end of the trace")
	}
	if p.Beside {
		for i := range t.nodes {
			t.nodes[i].exclusive = min(p.Exclusive[i].Float64(), t.nodes[i].inclusive)
		}
		t.notes = append(t.notes,
			"calls ran beside each other: those of one caller may add up to more than it took, and are then drawn to "+
				"fit into it")
	}
	if p.Values == nil && len(t.nodes) > 0 {
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
	}
	values := make([]float64, len(p.Values)) // one list for all: they come by path
	for from, i := 0, 0; i < len(values); i++ {
		path := p.Values[i].Path
		values[i] = float64(p.Values[i].Time)
		if end := i + 1; end == len(values) || p.Values[end].Path != path {
			t.nodes[path].values = values[from:end:end] // values behind are not its own
			from = end
		}
	}
	return t, nil
}

// --- from call paths

// fromPaths takes O(rows). Values of one path on several locations become one as the metric asks for: times add up,
// of maxima it is the greatest. If the profile has only totals of regions, each region is a root with its own time.
func fromPaths(ctx context.Context, s store.Reader, w store.Window, metric runfacts.MetricChoice) (*tree, error) {
	paths := s.CallPaths()
	sums := make([]node, len(paths))
	inclusive, exclusive := make([]runfacts.Joined, len(paths)), make([]runfacts.Joined, len(paths))
	has := make([]bool, len(paths)) // rows of its own
	kept := 0
	alone := !slices.ContainsFunc(paths, func(p trace.CallPath) bool { return !p.Flat })
	locations := map[trace.LocationID]bool{}
	err := s.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
		for i := range rows {
			x := &rows[i]
			if x.Metric != metric.ID {
				continue
			}
			locations[x.Location] = true
			if paths[x.Path].Flat && !alone {
				continue
			}
			n, all := &sums[x.Path], x.Inclusive
			if alone { // with its callees, time would be drawn twice
				all = x.Exclusive
			}
			has[x.Path] = true
			n.calls += x.Calls
			inclusive[x.Path].Add(metric.Join, all)
			exclusive[x.Path].Add(metric.Join, x.Exclusive)
			if kept++; kept <= mostValues {
				n.values = append(n.values, all)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range sums {
		sums[i].inclusive, sums[i].exclusive = inclusive[i].Value(metric.Join), exclusive[i].Value(metric.Join)
	}
	t := &tree{locations: len(locations), how: metric.Join, alone: alone}
	t.fromSums(paths, sums, has)
	if alone {
		t.notes = append(t.notes, "the profile has totals of regions and does not say who called whom: each region "+
			"stands alone, with its exclusive time")
	}
	if kept > mostValues {
		for i := range t.nodes {
			t.nodes[i].values = nil
		}
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
	}
	return t, nil
}

// fromSums keeps paths with rows and the paths to them. A path without rows of its own,
// above others that have some, has their time.
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
	if guessed > 0 {
		below := make([]runfacts.Joined, len(t.nodes))
		for i := len(paths) - 1; i >= 0; i-- {
			if !used[i] {
				continue
			}
			n := &t.nodes[place[i]]
			if !has[i] {
				n.inclusive = below[place[i]].Value(t.how)
			}
			if n.parent >= 0 {
				below[n.parent].Add(t.how, n.inclusive)
			}
		}
		var whole runfacts.Joined
		for i := range t.nodes {
			if !t.nodes[i].cut {
				whole.Add(t.how, t.nodes[i].exclusive)
			}
		}
		t.whole = whole.Value(t.how)
		t.notes = append(t.notes,
			fmt.Sprintf("%s call paths, marked …, have no numbers of their own in the source and show the sum of "+
				"what they call; their time may be part of another path too", view.Thousands(int64(guessed))))
	}
}
