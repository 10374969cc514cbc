package boxprofile

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// rank makes the regions of rows and puts them in order.
func (r *result) rank(ctx context.Context) error {
	hidden, err := r.match.Set("hide", r.request.Values.Patterns("hide")...)
	if err != nil {
		return err
	}
	kept, err := r.match.Set("keep", r.request.Values.Patterns("keep")...)
	if err != nil {
		return err
	}
	index := make([]int32, len(r.nodes))
	for i := range index {
		index[i] = -1
	}
	for _, n := range r.callees() {
		if hidden == nil || !hidden[n+1] {
			index[n] = int32(len(r.regions))
			r.regions = append(r.regions, region{node: n, keep: kept != nil && kept[n+1]})
		}
	}
	if len(r.regions) > 0 {
		parts := (len(r.rows) + rowsAtOnce - 1) / rowsAtOnce
		parallel.Deal(parts, len(r.regions), func(part int, to func(int, rowNumbers)) {
			for i := part * rowsAtOnce; i < min((part+1)*rowsAtOnce, len(r.rows)); i++ {
				if k := index[r.rows[i].Callee]; k >= 0 {
					to(int(k), r.numbersOf(i))
				}
			}
		}, func(k int, x rowNumbers) { r.add(&r.regions[k], &x) })
	}
	for k := range r.regions {
		r.most = max(r.most, r.regions[k].most)
	}
	r.cutAt, r.groupCutAt = cutsByBox(r.cuts), cutsByBox(r.groupCuts)
	for i := range r.cuts {
		n := r.cuts[i].Callee
		if hidden != nil && hidden[n+1] {
			continue
		}
		if index[n] < 0 {
			index[n] = int32(len(r.regions))
			r.regions = append(r.regions, region{node: n, keep: kept != nil && kept[n+1]})
		}
		r.regions[index[n]].cut += r.cuts[i].Count
		r.regions[index[n]].cutTime += r.cuts[i].Time
	}
	if len(r.regions) == 0 {
		return view.Empty("hide fewer regions", "all regions of the selection are hidden")
	}
	for i := range r.groupRows {
		if k := index[r.groupRows[i].Callee]; k >= 0 {
			r.regions[k].groups = append(r.regions[k].groups, int32(i))
		}
	}
	kinds := make([]int32, len(r.locations))
	if !r.pair {
		kinds = runfacts.Kinds(r.request.Store().Locations(), r.locations)
	}
	err = parallel.For(ctx, len(r.regions), func(k int) {
		r.regions[k].differs = r.differs(&r.regions[k], kinds)
	})
	if err != nil {
		return err
	}
	if err := r.sort(); err != nil {
		return err
	}
	return r.limits()
}

// rowsAtOnce is the number of rows that one goroutine goes through.
const rowsAtOnce = 1 << 15

// callees returns the nodes that are called, in the order of rows.
func (r *result) callees() (list []int32) {
	parts := make([][]int32, (len(r.rows)+rowsAtOnce-1)/rowsAtOnce)
	_ = parallel.Ranges(context.Background(), len(r.rows), rowsAtOnce, func(from, to int) {
		met := make([]bool, len(r.nodes))
		for i := from; i < to; i++ {
			if n := r.rows[i].Callee; !met[n] {
				met[n] = true
				parts[from/rowsAtOnce] = append(parts[from/rowsAtOnce], n)
			}
		}
	})
	met := make([]bool, len(r.nodes))
	for _, n := range slices.Concat(parts...) {
		if !met[n] {
			met[n] = true
			list = append(list, n)
		}
	}
	return list
}

// A rowNumbers is what a region needs of a row. Rows are many and long: they are looked at once, in their order.
type rowNumbers struct {
	row, owner                       int32
	count, value, most, high, median float64
}

func (r *result) numbersOf(i int) rowNumbers {
	x := &r.rows[i]
	return rowNumbers{row: int32(i), owner: x.Owner, count: x.Count, value: r.value(x), most: x.Max, high: x.Box[4],
		median: x.Box[2]}
}

// add takes a row into its region, in the order of rows.
func (r *result) add(g *region, x *rowNumbers) {
	g.rows, g.values = append(g.rows, x.row), append(g.values, x.value)
	g.calls += x.count
	g.total += x.value
	if !math.IsNaN(x.most) {
		g.max = max(g.max, x.most)
	}
	if x.high > g.most {
		g.most = x.high
	}
	if r.over == "locations" {
		g.most = max(g.most, x.value)
	}
	if r.groupRows == nil {
		return
	}
	if g.spread == nil {
		g.spread = slices.Repeat([]span{{math.Inf(1), math.Inf(-1)}}, len(r.groups.Members))
	}
	s := &g.spread[r.groups.Of[x.owner]]
	s.low, s.high = min(s.low, x.median), max(s.high, x.median)
}

// differs is the time (or the calls) that would have to move for all locations of a kind to have the same.
func (r *result) differs(g *region, kinds []int32) float64 {
	places := make([]int32, len(g.rows))
	for i, row := range g.rows {
		places[i] = r.rows[row].Owner
	}
	return view.MovedByKind(kinds, places, g.values)
}

// last reports whether a region comes after the others where the order is how much locations differ.
func (r *result) last(g *region) bool {
	return !view.AnyTells(r.request.Store().Regions(), r.nodes[g.node].Regions)
}

var orders = []string{"differs", "calls", "total", "longest", "name"}

func (r *result) sort() error {
	order := r.request.Values.Text("order")
	key := func(g *region) float64 { return g.differs }
	switch order {
	case "differs":
		if len(r.locations) == 1 { // nothing to differ from
			key = func(g *region) float64 { return g.total }
		}
	case "calls":
		key = func(g *region) float64 { return g.calls }
	case "total":
		key = func(g *region) float64 { return g.total }
	case "longest":
		key = func(g *region) float64 { return g.max }
	case "name":
		key = func(*region) float64 { return 0 }
	default:
		return words.NotOneOf("--order", order, orders...)
	}
	sort.SliceStable(r.regions, func(a, b int) bool {
		x, y := &r.regions[a], &r.regions[b]
		if x.keep != y.keep {
			return x.keep
		}
		if order == "differs" && r.last(x) != r.last(y) {
			return r.last(y)
		}
		if kx, ky := key(x), key(y); kx != ky {
			return kx > ky
		}
		if order != "name" && x.cutTime != y.cutTime {
			return x.cutTime > y.cutTime
		}
		return r.nodes[x.node].Name < r.nodes[y.node].Name
	})
	return nil
}

// limits reads --min and --max: a time, a number, or a share of the axis.
func (r *result) limits() (err error) {
	most := r.most
	for i := range r.cuts {
		most = max(most, r.cuts[i].Max)
	}
	r.low, r.high, err = r.request.Limits(most)
	return err
}

// overRow returns the box over the locations' totals; nil if all calls are cut.
func (r *result) overRow(g *region) *callgraph.Row {
	if len(g.rows) == 0 {
		return nil
	}
	return callgraph.RowOver(callgraph.Pair{Caller: callgraph.Root, Callee: g.node}, g.values)
}
