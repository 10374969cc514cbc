package grouping

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Likenesses by their names.
var likenesses = map[string]Likeness{"": Both, "both": Both, "structure": Structure, "time": Time}

// Order finds groups of owners that behave alike. It lists the owners so that those of a group are next to
// each other, the smallest group first, since outliers are worth seeing first: order[k] is the k-th. Those
// of a group ascend. of gives the group of each, the largest being 0.
func Order(b *trace.Behaviour, l trace.Likeness) (order, of []int32, err error) {
	if b.Tree != nil {
		order, of = cutOrder(b, l.P)
		return order, of, nil
	}
	nodes, node := callgraph.Nodes(b.Regions, false)
	o := callgraph.Options{Node: node, Nodes: len(nodes), Closure: l.Closure}
	match := &callgraph.Matcher{Nodes: nodes, Regions: b.Regions}
	if err := match.Choose(&o, b.Chosen, nil, ""); err != nil {
		return nil, nil, err
	}
	table, err := tableOf(b, o)
	if err != nil {
		return nil, nil, err
	}
	g := Group(table, Options{By: likenesses[l.By], K: l.K, Threshold: l.Threshold, Seed: l.Seed, Partition: true})
	groups := slices.Clone(g.Members)
	slices.SortStableFunc(groups, func(a, b []int32) int { return len(a) - len(b) })
	return slices.Concat(groups...), g.Of, nil
}

// cutOrder lists owners in the order of their tree; a group is a part of the best
// cut at p, numbered in this order.
func cutOrder(b *trace.Behaviour, p float64) (order, of []int32) {
	t := b.Tree
	parts := entropy.BestParts(&entropy.Tree{Parent: t.Parent, Last: t.Last}, t.Values, p)
	order, of = make([]int32, b.Owners), make([]int32, b.Owners)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(t.Leaf[x], t.Leaf[y]) })
	k, last, group := 0, -1, int32(-1)
	for _, o := range order {
		for t.Last[parts[k]] < t.Leaf[o] {
			k++
		}
		if k != last { // parts without an owner have no number
			last, group = k, group+1
		}
		of[o] = group
	}
	return order, of
}

func tableOf(b *trace.Behaviour, o callgraph.Options) (*Table, error) {
	if b.Profile == nil {
		plan := &callgraph.Plan{Options: o, Locations: b.Locations}
		if b.Owners < len(b.Locations) {
			plan.Owner, plan.Owners = b.Owner, b.Owners
		}
		return Scan(plan, b.Calls)
	}
	p := &callgraph.ProfileReader{Options: o, Paths: b.Paths, Metric: b.Metric, Flat: true}
	for _, path := range b.Paths {
		p.Flat = p.Flat && path.Flat
	}
	if n := len(b.Locations); n > 0 {
		p.Index = make([]int32, b.Locations[n-1]+1)
	}
	for i := range p.Index {
		p.Index[i] = -1
	}
	for i, id := range b.Locations {
		p.Index[id] = b.Owner[i]
	}
	err := b.Profile(func(rows []trace.ProfileRow) error {
		p.Add(rows)
		return nil
	})
	return NewTable(b.Owners, p.Rows(), Exclusive), err
}
