package callmatrix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/callsums"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/view"
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

// sum prepares the sums of rows, of the pairs that are not hidden.
func (r *result) sum() error {
	hidden, err := r.match.Set("hide", r.request.Values.Patterns("hide")...)
	r.sums = &callsums.Table{Of: callsums.Each, Value: r.value,
		Shown: func(p callgraph.Pair) bool { return hidden == nil || !hidden[p.Caller+1] && !hidden[p.Callee+1] }}
	return err
}

// rank makes squares of rows and orders callers and callees by interest.
func (r *result) rank(ctx context.Context) error {
	if r.sums == nil {
		if err := r.sum(); err != nil {
			return err
		}
	}
	kept, err := r.match.Set("keep", r.request.Values.Patterns("keep")...)
	if err != nil {
		return err
	}
	r.sums.Rows, r.sums.Cuts = r.rows, r.cuts
	sums, err := r.sums.Sums(ctx, runfacts.Kinds(r.tree, r.locations))
	if err != nil {
		return err
	}
	if len(sums) == 0 {
		return view.Empty("hide fewer regions", "all regions of the selection are hidden")
	}
	r.pairs = make(map[callgraph.Pair]*pair, len(sums))
	for _, s := range sums {
		r.pairs[s.Pair] = &pair{Sum: s}
	}
	rows, _ := r.slices()
	for i := range rows {
		if p := r.pairs[rows[i].Pair]; p != nil {
			p.rows = append(p.rows, int32(i))
		}
	}
	cuts := r.sliceCuts()
	for i := range cuts {
		if p := r.pairs[cuts[i].Pair]; p != nil {
			p.cuts = append(p.cuts, int32(i))
		}
	}
	r.reach(r.sums.Shown)
	return r.order(func(node int32) bool { return kept != nil && kept[node+1] })
}

// order ranks callers and callees by their pairs.
func (r *result) order(kept func(node int32) bool) error {
	order, err := callsums.ParseOrder(r.request.Values.Text("order"), callsums.Differs, callsums.Calls, callsums.Total,
		callsums.Name)
	if err != nil {
		return err
	}
	callees, callers := map[int32]*ranked{}, map[int32]*ranked{}
	for _, key := range r.sortedPairs() {
		p := r.pairs[key]
		for _, side := range []struct {
			of   map[int32]*ranked
			node int32
		}{{callees, key.Callee}, {callers, key.Caller}} {
			n := side.of[side.node]
			if n == nil {
				n = &ranked{node: side.node, place: r.placeOf(side.node, kept(side.node))}
				side.of[side.node] = n
			}
			n.pairs++
			x := &n.place.Numbers
			x.Calls, x.Total = x.Calls+p.Calls, x.Total+p.Total
			x.Moved, x.CutTime = x.Moved+p.Moved, x.CutTime+p.CutTime
		}
	}
	r.callees, r.callers = r.sorted(callees, order), r.sorted(callers, order)
	return r.limits()
}

// placeOf is where a node comes, before the numbers of its pairs are known: the root first.
func (r *result) placeOf(node int32, keep bool) callsums.Place {
	if node == callgraph.Root {
		return callsums.Place{First: true, Keep: keep, Tells: true}
	}
	n := &r.nodes[node]
	return callsums.Place{Keep: keep, Name: n.Name, Tells: runfacts.AnyTells(r.request.Store().Regions(), n.Regions)}
}

// sorted orders nodes.
func (r *result) sorted(of map[int32]*ranked, order callsums.Order) []ranked {
	out := make([]ranked, 0, len(of))
	for _, n := range of {
		out = append(out, *n)
	}
	alone := len(r.locations) == 1 && !r.compared
	slices.SortFunc(out, func(a, b ranked) int {
		return cmp.Or(order.Compare(&a.place, &b.place, alone), cmp.Compare(a.node, b.node))
	})
	return out
}

func (r *result) at(key callgraph.Pair) *pair {
	p := r.pairs[key]
	if p == nil {
		p = &pair{Sum: &callsums.Sum{Pair: key}}
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

func (r *result) name(node int32) string {
	if node == callgraph.Root {
		return ""
	}
	return r.nodes[node].Name
}

// limits reads --min and --max of the colours.
func (r *result) limits() (err error) {
	most := r.most
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
	if values := r.pairs[key].Values; len(values) > 0 {
		return callgraph.RowOver(key, values)
	}
	return nil
}
