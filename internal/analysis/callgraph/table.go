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

// A Cell is the exclusive time of one pair at one owner.
type Cell struct {
	Owner int32
	Pair
	Exclusive float64
}

// A Scan yields the calls of a set of locations, each with all below it, lane by
// lane as a store does.
type Scan func(locations []trace.LocationID, f func(*trace.DigestedLane) error) error

// A Plan selects the calls and measures that Gather collects.
type Plan struct {
	Options
	// Locations to gather, ascending.
	Locations []trace.LocationID
	// Owner of each of them, many to one; nil: each its own.
	Owner []int32
	// Owners is the number of owners; not needed without Owner.
	Owners int
	// Begin and End of the window, for Cut.
	Begin, End trace.Time

	// Open counts the calls that are open when the window begins: they began
	// before it and are in no row of it. Gather sets it.
	Open atomic.Int64
	// Cut are those of them that the options choose, by owner, then by pair. Gather sets it.
	Cut []Cut

	// Pairs ask the same reading for the times of all pairs of caller and callee, whatever the options choose.
	Pairs bool
	// Cells are those times, by owner, then by pair. Gather sets them.
	Cells []Cell

	// The graphs of few owners are kept while they are small, so that Merge need not read the calls again.
	mu   sync.Mutex
	kept []*Graph // by owner
	size int64    // of them, in bytes
}

// mostKept is how many bytes of distributions a plan keeps.
const mostKept = 256 << 20

// fewOwners is up to how many owners have distributions that are kept for Merge. More are read
// again, which takes less than to hold them and to merge each.
const fewOwners = 64

// Merge returns the rows of groups of owners: from the graphs that Gather kept, or else by reading all
// calls again. group gives the group of each owner, of n.
func (p *Plan) Merge(group []int32, n int, scan Scan) ([]Row, error) {
	if p.kept != nil && p.size <= mostKept {
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

// mergeKept merges the kept graphs.
func (p *Plan) mergeKept(group []int32, n int) []Row {
	merged := make([]Graph, n)
	for owner, g := range p.kept {
		if g != nil {
			merged[group[owner]].Merge(g)
		}
	}
	rows := make([][]Row, n)
	parallel.For(context.Background(), n, func(k int) { rows[k] = appendRows(nil, int32(k), &merged[k], &p.Options) })
	return slices.Concat(rows...)
}

// keep reports whether it kept the graph.
func (p *Plan) keep(owner int32, owners int, g *Graph) bool {
	if owners > fewOwners {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.condensed {
		p.size = mostKept + 1
	}
	if p.size += g.sizeBytes(); p.size > mostKept {
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
// A location of one lane becomes rows as soon as it is read. Others are gathered some at a time, so that memory holds
// the distributions of those only, or of all owners once for each core.
func Gather(plan *Plan, scan Scan) ([]Row, error) {
	g := newGatherer(plan)
	g.rows = &sheet[Row]{make: func(to []Row, owner int32, g *Graph) []Row {
		return appendRows(to, owner, g, &plan.Options)
	}}
	g.gatherPairs()
	err := g.gather(scan)
	plan.Cells = g.cells.list()
	return g.rows.list(), err
}

// GatherEach is Gather for very many owners: it yields their rows some owners at a time, in their order, and holds no
// others. They are the callback's until it returns.
func GatherEach(plan *Plan, scan Scan, f func([]Row)) error {
	g := newGatherer(plan)
	g.rows = &sheet[Row]{give: f, make: func(to []Row, owner int32, g *Graph) []Row {
		return appendRows(to, owner, g, &plan.Options)
	}}
	g.gatherPairs()
	err := g.gather(scan)
	plan.Cells = g.cells.list()
	return err
}

// gatherPairs gathers the times of all pairs too, where the plan asks for them.
func (g *gatherer) gatherPairs() {
	if !g.plan.Pairs {
		return
	}
	g.calls.Also = &Options{Node: g.plan.Node, Nodes: g.plan.Nodes}
	g.cells = &sheet[Cell]{make: func(to []Cell, owner int32, g *Graph) []Cell {
		if g.also == nil {
			return to
		}
		return appendCells(to, owner, g.also)
	}}
}

// GatherCells collects the exclusive times of pairs alone. The measure is Totals.
func GatherCells(plan *Plan, scan Scan) ([]Cell, error) {
	plan.Measure = Totals
	g := newGatherer(plan)
	g.cells = &sheet[Cell]{make: appendCells}
	err := g.gather(scan)
	return g.cells.list(), err
}

// A sheet is rows of owners, some owners at a time.
type sheet[R any] struct {
	make func(to []R, owner int32, g *Graph) []R
	give func([]R) // gets the rows of some owners after the others; nil: all are listed
	some [][]R     // of owners from first on; their room is used again
	done []R       // of owners before
}

func (s *sheet[R]) put(first, owner int32, g *Graph) {
	if s != nil {
		s.some[owner-first] = s.make(s.some[owner-first], owner, g)
	}
}

// start makes room for n owners.
func (s *sheet[R]) start(n int) {
	if s != nil && len(s.some) < n {
		s.some = append(s.some, make([][]R, n-len(s.some))...)
	}
}

// finish takes the rows of n owners, of which left are still to come.
func (s *sheet[R]) finish(n, left int) {
	if s == nil {
		return
	}
	rows := 0
	first := make([]int, n)
	for k, some := range s.some[:n] {
		first[k] = len(s.done) + rows
		rows += len(some)
	}
	if s.give != nil {
		left = 0
	}
	if cap(s.done)-len(s.done) < rows {
		s.done = slices.Grow(s.done, rows+rows*left/n*33/32) // all, if the others are as these
	}
	s.done = s.done[:len(s.done)+rows]
	_ = parallel.Ranges(context.Background(), n, 128, func(from, to int) {
		for k := from; k < to; k++ {
			copy(s.done[first[k]:], s.some[k])
			s.some[k] = s.some[k][:0]
		}
	})
	if s.give != nil {
		s.give(s.done)
		s.done = s.done[:0]
	}
}

func (s *sheet[R]) list() []R {
	if s == nil {
		return nil
	}
	return s.done
}

// A gatherer collects the calls of a plan.
type gatherer struct {
	plan  *Plan
	calls Collector
	cuts  *cutCollector
	rows  *sheet[Row]  // nil: not wanted
	cells *sheet[Cell] // nil: not wanted
}

func newGatherer(plan *Plan) *gatherer {
	return &gatherer{plan: plan, cuts: plan.newCutCollector(), calls: Collector{Options: plan.Options}}
}

func (g *gatherer) gather(scan Scan) (err error) {
	if g.plan.Owner != nil {
		err = g.owners(scan)
	} else {
		err = g.locations(scan)
	}
	g.plan.Cut = MergeCuts(g.cuts.list, nil)
	return err
}

// open takes the calls of a lane that began before the window.
func (g *gatherer) open(l *trace.DigestedLane, owner int32) error {
	if n := len(l.Open); n > 0 {
		g.plan.Open.Add(int64(n))
		return g.cuts.add(l, owner)
	}
	return nil
}

// mostAtOnce is the number of locations that are gathered at a time: enough for many cores.
const mostAtOnce = 8192

// locations gathers the rows of each location.
func (g *gatherer) locations(scan Scan) error {
	n := len(g.plan.Locations)
	step := min(max(128, (n+7)/8), mostAtOnce)
	for from := 0; from < n; from += step {
		some := g.plan.Locations[from:min(from+step, n)]
		g.start(len(some))
		err := scan(some, func(l *trace.DigestedLane) error {
			at, known := slices.BinarySearch(some, l.Location)
			if !known {
				return nil
			}
			owner := from + at
			if err := g.open(l, int32(owner)); err != nil || l.Lo >= l.Hi {
				return err
			}
			if l.Lanes != 1 {
				return g.calls.addLane(l, g.calls.graph(l.Location), false)
			}
			// If there are few locations, their distributions may be merged later.
			graph := g.calls.spareGraph()
			err := g.calls.addLane(l, graph, n > fewOwners)
			g.put(from, owner, n, graph)
			return err
		})
		if err != nil {
			return err
		}
		graphs := g.calls.Take()
		parallel.For(context.Background(), len(some), func(k int) {
			if graph := graphs[some[k]]; graph != nil {
				g.put(from, from+k, n, graph)
			}
		})
		g.finish(len(some), n-from-len(some))
	}
	return nil
}

// put makes rows of the graph of one of n owners, which is kept or used again.
func (g *gatherer) put(first, owner, n int, graph *Graph) {
	g.rows.put(int32(first), int32(owner), graph)
	g.cells.put(int32(first), int32(owner), graph)
	if !g.plan.keep(int32(owner), n, graph) {
		g.calls.recycle(graph)
	}
}

func (g *gatherer) start(n int) {
	g.rows.start(n)
	g.cells.start(n)
}

func (g *gatherer) finish(n, left int) {
	g.rows.finish(n, left)
	g.cells.finish(n, left)
}

// owners gathers straight into owners: each core has graphs of its own, which are merged in the end.
// All added values are whole numbers, so the order does not matter.
func (g *gatherer) owners(scan Scan) error {
	n := g.plan.Owners
	var mu sync.Mutex
	var all []*[]*Graph
	free := sync.Pool{New: func() any { // those that it drops are in the list
		graphs := make([]*Graph, n)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, &graphs)
		return &graphs
	}}
	err := scan(g.plan.Locations, func(l *trace.DigestedLane) error {
		at, known := slices.BinarySearch(g.plan.Locations, l.Location)
		if !known {
			return nil
		}
		owner := g.plan.Owner[at]
		if err := g.open(l, owner); err != nil || l.Lo >= l.Hi {
			return err
		}
		graphs := free.Get().(*[]*Graph)
		defer free.Put(graphs)
		if (*graphs)[owner] == nil {
			(*graphs)[owner] = &Graph{}
		}
		return g.calls.addLane(l, (*graphs)[owner], false)
	})
	if err != nil {
		return err
	}
	g.start(n)
	parallel.For(context.Background(), n, func(owner int) {
		var merged *Graph
		for _, graphs := range all {
			switch of := (*graphs)[owner]; {
			case of == nil:
			case merged == nil:
				merged = of
			default:
				merged.Merge(of)
			}
		}
		if merged != nil {
			g.put(0, owner, n, merged)
		}
	})
	g.finish(n, 0)
	return nil
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

// sorted returns the buckets in order of pairs.
func (g *Graph) sorted() []int32 {
	order := make([]int32, len(g.buckets))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return comparePairs(g.buckets[a].Pair, g.buckets[b].Pair) })
	return order
}

// appendCells takes the times of the buckets of one owner.
func appendCells(cells []Cell, owner int32, g *Graph) []Cell {
	cells = slices.Grow(cells, g.Len())
	for _, i := range g.sorted() {
		b := &g.buckets[i]
		cells = append(cells, Cell{owner, b.Pair, b.Exclusive.Float64()})
	}
	return cells
}

// appendRows condenses the buckets of one owner.
func appendRows(rows []Row, owner int32, g *Graph, o *Options) []Row {
	rows = slices.Grow(rows, g.Len())
	for _, i := range g.sorted() {
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

// RowOver is the box of values of several owners, such as their totals.
func RowOver(p Pair, values []float64) *Row {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	x := &Row{Owner: -1, Pair: p, Count: n, Exact: true, Min: sorted[0], Max: sorted[len(sorted)-1]}
	for k, q := range quantile.Box {
		x.Box[k] = quantile.OfSorted(sorted, q)
	}
	for _, v := range sorted {
		x.Mean += v / n
	}
	for _, v := range sorted {
		x.Deviation += (v - x.Mean) * (v - x.Mean) / n
	}
	x.Deviation = math.Sqrt(x.Deviation)
	return x
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
