package callgraph

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Row is one bucket of one location, or of several drawn as one.
type Row struct {
	// Owner is the index of the location, or of the group that Gather merges it into.
	Owner int32
	Pair
	Count                           float64
	Inclusive, Exclusive, Outermost float64
	// The distribution over calls; NaN without one.
	Min, Max, Mean, Deviation float64
	Box                       [5]float64
	// Exact quantiles are of the calls themselves, others within
	// quantile.RelativeError.
	Exact bool
	// Shape of the distribution, where Options.Shapes asks for it and it is known.
	Shape *quantile.Shape
}

// A Scan hands out the calls of a set of locations, each with all below it, lane by
// lane as a store does.
type Scan func(locations []trace.LocationID, f func(*trace.DigestedLane) error) error

// A Plan selects the calls and measures that Gather collects.
type Plan struct {
	Options
	// Locations to gather, ascending.
	Locations []trace.LocationID
	// Owner of each of them, many to one; nil: each its own.
	Owner []int32
	// Owners is how many there are; not needed without Owner.
	Owners int
	// Begin and End of the window, for Cut.
	Begin, End trace.Time

	// Open counts the calls that are open when the window begins: they began
	// before it and are in no row of it. Gather sets it.
	Open atomic.Int64
	// Cut are those of them that the options choose, by owner, then by pair. Gather sets it.
	Cut []Cut

	// The gathered graphs are kept while they are small, so that Merge need not read the calls again.
	kept []*Graph // by owner
	size int64    // of them, in bytes
}

// mostKept is how many bytes of distributions a plan keeps.
const mostKept = 256 << 20

// Merge returns the rows of groups of owners: from the graphs that Gather kept, or else by reading all
// calls again. group gives the group of each owner, of n.
func (p *Plan) Merge(group []int32, n int, scan Scan) ([]Row, error) {
	if p.size <= mostKept {
		return p.mergeKept(group, n), nil
	}
	again := &Plan{Options: p.Options, Locations: p.Locations, Owner: group, Owners: n}
	if p.Owner != nil {
		again.Owner = make([]int32, len(p.Locations))
		for i, owner := range p.Owner {
			again.Owner[i] = group[owner]
		}
	}
	return Gather(again, scan)
}

// mergeKept merges the kept graphs: runs of owners on each core, then the results.
func (p *Plan) mergeKept(group []int32, n int) []Row {
	workers := parallel.Workers()
	parts := make([][]Graph, workers)
	parallel.For(context.Background(), workers, func(k int) {
		merged := make([]Graph, n)
		for owner := k * len(p.kept) / workers; owner < (k+1)*len(p.kept)/workers; owner++ {
			if g := p.kept[owner]; g != nil {
				merged[group[owner]].Merge(g)
			}
		}
		parts[k] = merged
	})
	for _, part := range parts[1:] {
		for k := range part {
			parts[0][k].Merge(&part[k])
		}
	}
	return condense(n, &p.Options, func(k int) (int32, *Graph) { return int32(k), &parts[0][k] })
}

// Fold turns graphs by caller and callee into graphs by callee alone, without reading the calls again. It
// returns their rows; Merge works on the folded graphs from then on. It returns false if not all graphs
// were kept.
func (p *Plan) Fold() ([]Row, bool) {
	if p.kept == nil || p.size > mostKept {
		return nil, false
	}
	p.Profile = true
	for i := range p.Cut {
		p.Cut[i].Caller = Root
	}
	p.Cut = MergeCuts(p.Cut, nil)
	rows := condense(len(p.kept), &p.Options, func(k int) (int32, *Graph) {
		if p.kept[k] != nil {
			p.kept[k] = p.kept[k].folded()
		}
		return int32(k), p.kept[k]
	})
	return rows, true
}

// folded puts the calls of each callee together. It takes over the sketches of g.
func (g *Graph) folded() *Graph {
	out := &Graph{buckets: make([]Bucket, 0, len(g.buckets))}
	for i := range g.buckets {
		b := &g.buckets[i]
		to := out.At(Pair{Root, b.Callee})
		if to.Count == 0 {
			b.Caller = Root
			*to = *b
			continue
		}
		to.merge(b)
	}
	return out
}

// keep reports whether it kept the graph.
func (p *Plan) keep(owner int32, owners int, g *Graph) bool {
	if p.size += g.sizeBytes(); p.size > mostKept || g.condensed {
		p.size = max(p.size, mostKept+1)
		p.kept = nil
		return false
	}
	if p.kept == nil {
		p.kept = make([]*Graph, owners)
	}
	p.kept[owner] = g
	return true
}

// Gather collects the calls of all locations into rows, by owner, then by pair.
//
// Locations are gathered some at a time, so that memory holds the distributions of those only, or of all
// owners once for each core.
func Gather(plan *Plan, scan Scan) ([]Row, error) {
	cuts := plan.newCutCollector()
	rows, err := gatherLocations(plan, scan, cuts)
	plan.Cut = MergeCuts(cuts.list, nil)
	return rows, err
}

func gatherLocations(plan *Plan, scan Scan, cuts *cutCollector) ([]Row, error) {
	if plan.Owner != nil {
		return gatherOwners(plan, scan, cuts)
	}
	c := &Collector{Options: plan.Options}
	n := len(plan.Locations)
	var parts [][]Row // put together once: there may be millions of rows
	for from, step := 0, max(128, (n+7)/8); from < n; from += step {
		some := plan.Locations[from:min(from+step, n)]
		first, last := some[0], some[len(some)-1]
		err := scan(some, func(l *trace.DigestedLane) error {
			if l.Location < first || l.Location > last {
				return nil
			}
			if n := len(l.Open); n > 0 {
				plan.Open.Add(int64(n))
				if at, known := slices.BinarySearch(some, l.Location); known {
					if err := cuts.add(l, int32(from+at)); err != nil {
						return err
					}
				}
			}
			if l.Lo >= l.Hi {
				return nil
			}
			// If there are few locations, their distributions may be merged later.
			return c.addLane(l, c.graph(l.Location), l.Lanes == 1 && n > fewLocations)
		})
		if err != nil {
			return nil, err
		}
		graphs := c.Take()
		parts = append(parts,
			condensed(len(some), &plan.Options,
				func(k int) (int32, *Graph) { return int32(from + k), graphs[some[k]] })...)
		for k, id := range some {
			if g := graphs[id]; g != nil && !plan.keep(int32(from+k), n, g) {
				c.recycle(g)
			}
			delete(graphs, id)
		}
	}
	return slices.Concat(parts...), nil
}

// fewLocations is up to how many distributions are kept for Merge. More are read
// again, the way to which is shorter than to merge them twice.
const fewLocations = 64

// gatherOwners collects straight into owners: each core has graphs of its own, which are merged in the end.
// All added values are whole numbers, so the order does not matter.
func gatherOwners(plan *Plan, scan Scan, cuts *cutCollector) ([]Row, error) {
	c := &Collector{Options: plan.Options}
	owner := make(map[trace.LocationID]int32, len(plan.Locations))
	for k, id := range plan.Locations {
		owner[id] = plan.Owner[k]
	}
	var mu sync.Mutex
	var free, all [][]Graph
	take := func() []Graph {
		mu.Lock()
		defer mu.Unlock()
		if n := len(free); n > 0 {
			g := free[n-1]
			free = free[:n-1]
			return g
		}
		g := make([]Graph, plan.Owners)
		all = append(all, g)
		return g
	}
	err := scan(plan.Locations, func(l *trace.DigestedLane) error {
		k, ok := owner[l.Location]
		if !ok {
			return nil
		}
		if n := len(l.Open); n > 0 {
			plan.Open.Add(int64(n))
			if err := cuts.add(l, k); err != nil {
				return err
			}
		}
		if l.Lo >= l.Hi {
			return nil
		}
		g := take()
		err := c.addLane(l, &g[k], false)
		mu.Lock()
		free = append(free, g)
		mu.Unlock()
		return err
	})
	if err != nil {
		return nil, err
	}
	merged := make([]Graph, plan.Owners)
	for i, g := range all {
		if i == 0 {
			merged = g
			continue
		}
		for k := range g {
			merged[k].Merge(&g[k])
		}
	}
	rows := condense(plan.Owners, &plan.Options, func(k int) (int32, *Graph) { return int32(k), &merged[k] })
	for k := range merged {
		plan.keep(int32(k), plan.Owners, &merged[k])
	}
	return rows, nil
}

// condense makes rows of graphs, on all cores.
func condense(n int, o *Options, graph func(k int) (int32, *Graph)) []Row {
	return slices.Concat(condensed(n, o, graph)...)
}

// condensed returns the rows of each graph.
func condensed(n int, o *Options, graph func(k int) (int32, *Graph)) [][]Row {
	parts := make([][]Row, n)
	parallel.For(context.Background(), n, func(k int) {
		if owner, g := graph(k); g != nil {
			parts[k] = appendRows(make([]Row, 0, g.Len()), owner, g, o)
		}
	})
	return parts
}

// Renumber makes owner order[i] number i, and sorts rows by their new owners.
func Renumber(rows []Row, order []int32) {
	number := make([]int32, len(order))
	for i, old := range order {
		number[old] = int32(i)
	}
	for i := range rows {
		rows[i].Owner = number[rows[i].Owner]
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return int(a.Owner) - int(b.Owner) })
}

// appendRows condenses the buckets of one owner, in order of pairs.
func appendRows(rows []Row, owner int32, g *Graph, o *Options) []Row {
	order := make([]int32, len(g.buckets))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return comparePairs(g.buckets[a].Pair, g.buckets[b].Pair) })
	for _, i := range order {
		b := &g.buckets[i]
		r := Row{Owner: owner, Pair: b.Pair, Count: float64(b.Count),
			Inclusive: b.Inclusive.Float64(), Exclusive: b.Exclusive.Float64(), Outermost: b.Outermost.Float64()}
		if o.Measure != Totals {
			s := &b.Calls
			r.Min, r.Max, r.Mean, r.Deviation = float64(s.Min), float64(s.Max), s.Mean(), s.Deviation()
			if o.Shapes {
				r.Shape = s.Shape()
			}
			r.Box, r.Exact = s.Box(), s.Exact()
		} else {
			r.noBox()
		}
		rows = append(rows, r)
	}
	return rows
}

func (r *Row) noBox() {
	nan := math.NaN()
	r.Min, r.Max, r.Mean, r.Deviation = nan, nan, nan, nan
	r.Box = [5]float64{nan, nan, nan, nan, nan}
}

// A Node stands for regions: all of one name, or of one category.
type Node struct {
	Name     string
	Category string
	Role     trace.Role
	Regions  []trace.RegionID
}

// Nodes returns the nodes of regions in order of their first region, and the node
// of each region. With byCategory a node is a category; regions without one are
// under the name of their role.
func Nodes(regions []trace.Region, byCategory bool) ([]Node, []int32) {
	of := make([]int32, len(regions))
	index := map[string]int32{}
	var nodes []Node
	for id := range regions {
		g := &regions[id]
		name := g.Name
		if byCategory {
			if name = g.Category; name == "" {
				name = g.Role.String()
			}
		}
		k, ok := index[name]
		if !ok {
			k = int32(len(nodes))
			index[name] = k
			nodes = append(nodes, Node{Name: name, Category: g.Category, Role: g.Role})
		}
		nodes[k].Regions = append(nodes[k].Regions, trace.RegionID(id))
		of[id] = k
	}
	return nodes, of
}
