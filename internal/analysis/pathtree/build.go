package pathtree

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostValues bounds how many values of single locations are kept for quantiles.
const mostValues = 8 << 20

// Build merges the calls of a window: of intervals, clipped to it, or of the call paths of a profile. Calls count
// where they begin.
func Build(ctx context.Context, s store.Reader, w store.Window, metric runfacts.MetricChoice,
	measure callgraph.Measure) (*Tree, error) {
	if s.Info().Timed() {
		return fromIntervals(ctx, s, w, measure)
	}
	t, err := fromProfile(ctx, s, w, metric)
	if t != nil {
		t.Measure = measure
	}
	return t, err
}

// fromIntervals takes O(call paths) a location for the whole run, and for a window
// the rows of a few thousand calls at its edges on top.
func fromIntervals(ctx context.Context, s store.Reader, w store.Window, measure callgraph.Measure) (*Tree, error) {
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
	t := &Tree{Regions: s.Regions(), Locations: p.Locations, Measure: measure, Nodes: make([]Node, len(p.Parent))}
	for i := range t.Nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		t.Nodes[i] = Node{Parent: p.Parent[i], Region: p.Region[i], Calls: float64(p.Calls[i]),
			Inclusive: p.Inclusive[i].Float64(), Exclusive: p.Inclusive[i].Float64()}
		if measure != callgraph.Totals && p.Each[i].Count > 0 {
			t.Nodes[i].Each = &p.Each[i]
		}
	}
	for i := range t.Nodes {
		if up := t.Nodes[i].Parent; up >= 0 {
			t.Nodes[up].Exclusive -= t.Nodes[i].Inclusive
		}
	}
	if p.Beside {
		for i := range t.Nodes {
			t.Nodes[i].Exclusive = min(p.Exclusive[i].Float64(), t.Nodes[i].Inclusive)
		}
	}
	t.Gaps = Gaps{Unended: runfacts.WithoutEnd(s.Regions()) != nil, Beside: p.Beside,
		NoValues: p.Values == nil && len(t.Nodes) > 0}
	values := make([]float64, len(p.Values)) // one list for all: they come by path
	for from, i := 0, 0; i < len(values); i++ {
		path := p.Values[i].Path
		values[i] = float64(p.Values[i].Time)
		if end := i + 1; end == len(values) || p.Values[end].Path != path {
			t.Nodes[path].values = values[from:end:end] // values behind are not its own
			from = end
		}
	}
	return t, nil
}

// fromProfile takes O(rows). Values of one path on several locations become one as the metric asks for: times add up,
// of maxima it is the greatest. If the profile has only totals of regions, each region is a root with its own time.
func fromProfile(ctx context.Context, s store.Reader, w store.Window, metric runfacts.MetricChoice) (*Tree, error) {
	paths := s.CallPaths()
	sums := make([]Node, len(paths))
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
			n.Calls += x.Calls
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
		sums[i].Inclusive, sums[i].Exclusive = inclusive[i].Value(metric.Join), exclusive[i].Value(metric.Join)
	}
	t := &Tree{Regions: s.Regions(), Locations: len(locations), Join: metric.Join, Alone: alone}
	t.addPaths(paths, sums, has)
	if kept > mostValues {
		for i := range t.Nodes {
			t.Nodes[i].values = nil
		}
		t.Gaps.NoValues = true
	}
	return t, nil
}

// addPaths adds paths with rows and the paths to them. A path without rows of its own, above others that have some,
// has their time.
func (t *Tree) addPaths(paths []trace.CallPath, sums []Node, has []bool) {
	used := make([]bool, len(paths))
	for i := range paths {
		for up := trace.CallPathID(i); has[i] && up != trace.NoCallPath && !used[up]; up = paths[up].Parent {
			used[up] = true
		}
	}
	place := make([]int32, len(paths))
	for i := range paths {
		if !used[i] {
			continue
		}
		n := sums[i]
		n.Region, n.Parent = paths[i].Region, -1
		if p := paths[i].Parent; p != trace.NoCallPath {
			n.Parent = place[p] // parents are defined first
		}
		if n.Cut = !has[i]; n.Cut {
			t.Gaps.Estimated++
		}
		place[i] = int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, n)
	}
	if t.Gaps.Estimated == 0 {
		return
	}
	below := make([]runfacts.Joined, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		n := &t.Nodes[i]
		if n.Cut {
			n.Inclusive = below[i].Value(t.Join)
		}
		if n.Parent >= 0 {
			below[n.Parent].Add(t.Join, n.Inclusive)
		}
	}
	var whole runfacts.Joined
	for i := range t.Nodes {
		if !t.Nodes[i].Cut {
			whole.Add(t.Join, t.Nodes[i].Exclusive)
		}
	}
	t.whole = whole.Value(t.Join)
}
