package callmatrix

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// slices returns the rows that are drawn, and how many slices a square has.
func (r *result) slices() ([]callgraph.Row, int) {
	switch {
	case r.over == "locations" || r.compared:
		return nil, 1
	case r.groupRows != nil:
		return r.groupRows, len(r.sliceMembers)
	}
	return r.rows, len(r.locations)
}

// rank makes squares of rows and orders callers and callees by interest.
func (r *result) rank(ctx context.Context) error {
	hidden, err := r.match.Set("hide", r.request.Values.Patterns("hide")...)
	if err != nil {
		return err
	}
	kept, err := r.match.Set("keep", r.request.Values.Patterns("keep")...)
	if err != nil {
		return err
	}
	r.pairs = map[callgraph.Pair]*pair{}
	shown := func(p callgraph.Pair) bool { return hidden == nil || !hidden[p.Caller+1] && !hidden[p.Callee+1] }
	r.takeRows(shown)
	if err := r.compare(ctx); err != nil {
		return err
	}
	r.addCuts(shown)
	if len(r.pairs) == 0 {
		return view.Empty("hide fewer regions", "all regions of the selection are hidden")
	}
	rows, _ := r.slices()
	for i := range rows {
		if p := r.pairs[rows[i].Pair]; p != nil {
			p.rows = append(p.rows, int32(i))
		}
	}
	r.reach(shown)
	return r.order(func(node int32) bool { return kept != nil && kept[node+1] })
}

// rowsAtOnce is the number of rows that one goroutine goes through.
const rowsAtOnce = 1 << 15

// takeRows adds the rows to their pairs, in their order.
func (r *result) takeRows(shown func(callgraph.Pair) bool) {
	n := len(r.rows)
	of := make([]pairNumbers, (n+rowsAtOnce-1)/rowsAtOnce)
	_ = parallel.Ranges(context.Background(), n, rowsAtOnce, func(from, to int) {
		of[from/rowsAtOnce].find(r.rows[from:to])
	})
	var pairs []*pair
	place := map[callgraph.Pair]int32{} // in pairs
	for k := range of {
		x := &of[k]
		x.place = make([]int32, len(x.pairs))
		for i, key := range x.pairs {
			x.place[i] = -1
			if !shown(key) {
				continue
			}
			at, ok := place[key]
			if !ok {
				at = int32(len(pairs))
				place[key] = at
				pairs = append(pairs, r.at(key))
			}
			x.place[i] = at
		}
	}
	if len(pairs) == 0 {
		return
	}
	type numbers struct { // of a row: they are long, and looked at once
		row           int32
		calls, amount float64
	}
	parallel.Deal(len(of), len(pairs), func(part int, to func(int, numbers)) {
		x := &of[part]
		for i, k := range x.of {
			if at := x.place[k]; at >= 0 {
				i += part * rowsAtOnce
				to(int(at), numbers{int32(i), r.rows[i].Count, r.value(&r.rows[i])})
			}
		}
	}, func(at int, x numbers) {
		p := pairs[at]
		p.calls += x.calls
		p.total += x.amount
		p.all = append(p.all, x.row)
	})
}

// pairNumbers are the pairs of some rows, and of which each row is.
type pairNumbers struct {
	pairs []callgraph.Pair
	of    []int32
	place []int32 // of pairs among those of all rows; -1: it is hidden
}

// find numbers the pairs. Most owners have those of the one before: the pair that followed last time comes first.
func (x *pairNumbers) find(rows []callgraph.Row) {
	known := map[callgraph.Pair]int32{}
	after := []int32{0} // by pair, plus one
	last := 0
	x.of = make([]int32, len(rows))
	for i := range rows {
		p := rows[i].Pair
		k := after[last]
		if int(k) >= len(x.pairs) || x.pairs[k] != p {
			var ok bool
			if k, ok = known[p]; !ok {
				k = int32(len(x.pairs))
				known[p] = k
				x.pairs, after = append(x.pairs, p), append(after, 0)
			}
			after[last] = k
		}
		x.of[i], last = k, int(k)+1
	}
}

// compare returns the difference of each pair of locations, on all cores.
func (r *result) compare(ctx context.Context) error {
	kinds, pairs := runfacts.Kinds(r.tree, r.locations), slices.Collect(maps.Values(r.pairs))
	return parallel.For(ctx, len(pairs), func(n int) {
		p := pairs[n]
		places, values := make([]int32, len(p.all)), make([]float64, len(p.all))
		for k, i := range p.all {
			places[k], values[k] = r.rows[i].Owner, r.value(&r.rows[i])
		}
		p.differs = view.MovedByKind(kinds, places, values)
	})
}

// order ranks callers and callees by their pairs.
func (r *result) order(kept func(node int32) bool) (err error) {
	callees, callers := map[int32]*ranked{}, map[int32]*ranked{}
	for _, key := range r.sortedPairs() {
		p := r.pairs[key]
		for _, side := range []struct {
			of   map[int32]*ranked
			node int32
		}{{callees, key.Callee}, {callers, key.Caller}} {
			n := side.of[side.node]
			if n == nil {
				n = &ranked{node: side.node, keep: kept(side.node)}
				side.of[side.node] = n
			}
			n.calls, n.total, n.differs, n.pairs = n.calls+p.calls, n.total+p.total, n.differs+p.differs, n.pairs+1
			n.cutTime += p.cutTime
		}
	}
	if r.callees, err = r.sorted(callees); err != nil {
		return err
	}
	if r.callers, err = r.sorted(callers); err != nil {
		return err
	}
	return r.limits()
}

func (r *result) at(key callgraph.Pair) *pair {
	p := r.pairs[key]
	if p == nil {
		p = &pair{}
		r.pairs[key] = p
	}
	return p
}

// reach adds the pairs of the static closure that were never called directly.
func (r *result) reach(shown func(callgraph.Pair) bool) {
	if r.request.Values.Text("closure") != "static" {
		return
	}
	for _, key := range callgraph.Reachable(r.sortedPairs()) {
		if r.pairs[key] == nil && shown(key) {
			r.at(key)
			r.static = append(r.static, key)
		}
	}
	r.notes = append(r.notes,
		fmt.Sprintf("hollow squares (%s) are chains that the pairs allow; whether they happened only the dynamic "+
			"closure tells", view.Thousands(int64(len(r.static)))))
}

func (r *result) sortedPairs() []callgraph.Pair {
	out := make([]callgraph.Pair, 0, len(r.pairs))
	for p := range r.pairs {
		out = append(out, p)
	}
	sort.Slice(out, func(a, b int) bool { return out[a].Before(out[b]) })
	return out
}

// sorted orders nodes by the requested key; the root and kept nodes come first.
func (r *result) sorted(of map[int32]*ranked) ([]ranked, error) {
	order := r.request.Values.Text("order")
	var key func(*ranked) float64
	switch order {
	case "differs":
		key = func(n *ranked) float64 { return n.differs }
		if len(r.locations) == 1 && !r.compared {
			key = func(n *ranked) float64 { return n.total }
		}
	case "calls":
		key = func(n *ranked) float64 { return n.calls }
	case "total":
		key = func(n *ranked) float64 { return n.total }
	case "name":
		key = func(*ranked) float64 { return 0 }
	default:
		return nil, words.NotOneOf("--order", order, "differs", "calls", "total", "name")
	}
	out := make([]ranked, 0, len(of))
	for _, n := range of {
		out = append(out, *n)
	}
	sort.Slice(out, func(a, b int) bool {
		x, y := &out[a], &out[b]
		if (x.node == callgraph.Root) != (y.node == callgraph.Root) {
			return x.node == callgraph.Root
		}
		if x.keep != y.keep {
			return x.keep
		}
		if order == "differs" && r.last(x.node) != r.last(y.node) {
			return r.last(y.node)
		}
		if kx, ky := key(x), key(y); kx != ky {
			return kx > ky
		}
		if order != "name" && x.cutTime != y.cutTime {
			return x.cutTime > y.cutTime
		}
		return r.name(x.node) < r.name(y.node) || r.name(x.node) == r.name(y.node) && x.node < y.node
	})
	return out, nil
}

// last reports whether a region comes after the others where the order is how much locations differ.
func (r *result) last(node int32) bool {
	return node != callgraph.Root && !view.AnyTells(r.request.Store().Regions(), r.nodes[node].Regions)
}

func (r *result) name(node int32) string {
	if node == callgraph.Root {
		return ""
	}
	return r.nodes[node].Name
}

// limits reads --min and --max of the colours.
func (r *result) limits() (err error) {
	most := 0.0
	for i := range r.rows {
		if v := r.rows[i].Box[4]; v > most {
			most = v
		}
	}
	r.low, r.high, err = r.request.Limits(most)
	return err
}

// box returns the five values of a slice: of calls, or the one number there is.
func (r *result) box(x *callgraph.Row) [5]float64 {
	if r.metric == "calls" {
		return [5]float64{x.Count, x.Count, x.Count, x.Count, x.Count}
	}
	return x.Box
}

// overLocations returns the box over the locations' totals of a pair; nil if all its calls are cut.
func (r *result) overLocations(key callgraph.Pair) *callgraph.Row {
	var values []float64
	for _, i := range r.pairs[key].all {
		values = append(values, r.value(&r.rows[i]))
	}
	if values == nil {
		return nil
	}
	return callgraph.RowOver(key, values)
}
