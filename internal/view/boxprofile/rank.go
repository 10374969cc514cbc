package boxprofile

import (
	"fmt"
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// rank makes the regions of rows and puts them in order.
func (r *result) rank() error {
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
	for i := range r.rows {
		n := r.rows[i].Callee
		if hidden != nil && hidden[n+1] {
			continue
		}
		if index[n] < 0 {
			index[n] = int32(len(r.regions))
			r.regions = append(r.regions, region{node: n, keep: kept != nil && kept[n+1]})
		}
		g := &r.regions[index[n]]
		g.rows = append(g.rows, int32(i))
		g.calls += r.rows[i].Count
		g.total += r.value(&r.rows[i])
		if !math.IsNaN(r.rows[i].Max) {
			g.max = max(g.max, r.rows[i].Max)
		}
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
	for k := range r.regions {
		r.regions[k].differs = r.differs(&r.regions[k])
		r.spreads(&r.regions[k])
	}
	if err := r.sort(); err != nil {
		return err
	}
	return r.limits()
}

// differs is half of the summed deviations of the locations' totals from their mean: the
// time (or the calls) that would have to move for all locations to have the same.
func (r *result) differs(g *region) float64 {
	mean := g.total / float64(len(r.locations))
	sum := mean * float64(len(r.locations)-len(g.rows)) // those without calls
	for _, i := range g.rows {
		sum += math.Abs(r.value(&r.rows[i]) - mean)
	}
	return sum / 2
}

// spreads finds the medians of the members of each group.
func (r *result) spreads(g *region) {
	if r.groupRows == nil {
		return
	}
	g.spread = make([]span, len(r.groups.Members))
	for k := range g.spread {
		g.spread[k] = span{math.Inf(1), math.Inf(-1)}
	}
	for _, i := range g.rows {
		s := &g.spread[r.groups.Of[r.rows[i].Owner]]
		m := r.rows[i].Box[2]
		s.low, s.high = min(s.low, m), max(s.high, m)
	}
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
	if r.stretch == "rank" {
		return fmt.Errorf("--stretch rank is for colours; want linear or log")
	}
	most := 0.0
	for i := range r.rows {
		if top := r.rows[i].Box[4]; top > most {
			most = top
		}
		if r.over == "locations" {
			most = max(most, r.value(&r.rows[i]))
		}
	}
	for i := range r.cuts {
		most = max(most, r.cuts[i].Max)
	}
	r.low, r.high, err = r.request.Limits(most)
	return err
}

// A boxOver is the distribution over locations of one region.
type boxOver struct {
	values []float64 // ascending
	box    [5]float64
	count  int
}

func (r *result) overLocations(g *region) boxOver {
	b := boxOver{count: len(g.rows)}
	for _, i := range g.rows {
		b.values = append(b.values, r.value(&r.rows[i]))
	}
	sort.Float64s(b.values)
	for k, q := range quantile.Box {
		b.box[k] = quantile.OfSorted(b.values, q)
	}
	return b
}

// overRow returns the box over locations in the form of a row; nil if all calls are
// cut.
func (r *result) overRow(g *region) *callgraph.Row {
	if len(g.rows) == 0 {
		return nil
	}
	b := r.overLocations(g)
	n := float64(b.count)
	x := &callgraph.Row{Owner: -1, Pair: callgraph.Pair{Caller: callgraph.Root, Callee: g.node}, Count: n, Box: b.box,
		Exact: true, Min: b.values[0], Max: b.values[b.count-1]}
	for _, v := range b.values {
		x.Mean += v / n
	}
	for _, v := range b.values {
		x.Deviation += (v - x.Mean) * (v - x.Mean) / n
	}
	x.Deviation = math.Sqrt(x.Deviation)
	return x
}
