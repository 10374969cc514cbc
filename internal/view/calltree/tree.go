package calltree

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A tree is a merged call tree. Once sorted it is in preorder.
type tree struct {
	nodes     []node
	locations int // that hold values
	notes     []string
	whole     float64    // what shares are of, where the roots overlap; else 0
	how       trace.Join // how values become one
}

// A node is a call path, or in a tree turned round a chain of callers.
type node struct {
	parent                      int32 // -1 at the top
	depth                       int
	region                      trace.RegionID
	calls, inclusive, exclusive float64
	values                      []float64        // inclusive of each location that has some; nil: not kept
	each                        *quantile.Sketch // over calls; nil: not asked for
	other, otherCalls           float64          // of what the tree is compared with
	context                     bool             // shown only because something below it is selected
	cut                         bool             // the source says nothing of it: a path that was cut at its callers
}

// sort brings the tree into preorder, siblings by weight and then by name.
func (t *tree) sort(ctx context.Context, regions []trace.Region, weight func(*node) float64) error {
	above := func(i int) int32 { // the last is above the roots
		if p := t.nodes[i].parent; p >= 0 {
			return p
		}
		return int32(len(t.nodes))
	}
	first := make([]int32, len(t.nodes)+2) // of the children of each in all; a tree may have a node for every call
	for i := range t.nodes {
		first[above(i)+1]++
	}
	for i := range first[1:] {
		first[i+1] += first[i]
	}
	all, next := make([]int32, len(t.nodes)), slices.Clone(first)
	for i := range t.nodes {
		p := above(i)
		all[next[p]] = int32(i)
		next[p]++
	}
	children := func(i int) []int32 { return all[first[i]:first[i+1]] }
	for i := range len(t.nodes) + 1 {
		if i%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		slices.SortFunc(children(i), func(a, b int32) int {
			x, y := &t.nodes[a], &t.nodes[b]
			return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(y.inclusive, x.inclusive), cmp.Compare(y.calls, x.calls), strings.Compare(regions[x.region].Name, regions[y.region].Name), cmp.Compare(x.region, y.region))
		})
	}
	out := make([]node, 0, len(t.nodes))
	type step struct{ id, parent int32 }
	var stack []step
	push := func(list []int32, parent int32) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, step{list[i], parent})
		}
	}
	push(children(len(t.nodes)), -1)
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := t.nodes[s.id]
		n.parent, n.depth = s.parent, 0
		if s.parent >= 0 {
			n.depth = out[s.parent].depth + 1
		}
		out = append(out, n)
		push(children(int(s.id)), int32(len(out)-1))
	}
	t.nodes = out
	return nil
}

// mostCallers bounds the chains of callers of a tree turned round.
const mostCallers = 64

// turned gives the tree from regions to their callers. The time of a node is the
// time that the region of its root spent itself when it was called through the
// chain; its own time is that of chains that end there. Takes O(nodes × depth).
func (t *tree) turned() *tree {
	out := &tree{locations: t.locations, notes: t.notes, whole: t.whole, how: t.how}
	type key struct {
		parent int32
		region trace.RegionID
	}
	index := map[key]int32{}
	var inclusive, exclusive []view.Joined
	for i := range t.nodes {
		leaf := &t.nodes[i]
		if leaf.exclusive == 0 && leaf.calls == 0 {
			continue
		}
		at := int32(-1)
		for up, n := int32(i), 0; up >= 0 && n < mostCallers; up, n = t.nodes[up].parent, n+1 {
			k := key{at, t.nodes[up].region}
			id, ok := index[k]
			if !ok {
				id = int32(len(out.nodes))
				index[k] = id
				out.nodes = append(out.nodes, node{parent: at, region: k.region})
				inclusive, exclusive = append(inclusive, view.Joined{}), append(exclusive, view.Joined{})
			}
			x := &out.nodes[id]
			x.calls += leaf.calls
			inclusive[id].Add(t.how, leaf.exclusive)
			if leaf.each != nil {
				if x.each == nil {
					x.each = &quantile.Sketch{}
				}
				x.each.Merge(leaf.each)
			}
			if t.nodes[up].parent < 0 {
				exclusive[id].Add(t.how, leaf.exclusive)
			}
			at = id
		}
	}
	for i := range out.nodes {
		out.nodes[i].inclusive, out.nodes[i].exclusive = inclusive[i].Value(t.how), exclusive[i].Value(t.how)
	}
	return out
}

// restricted keeps the selected regions and what leads to them.
func (t *tree) restricted(regions []trace.RegionID) *tree {
	if regions == nil {
		return t
	}
	keep := make([]bool, len(t.nodes))
	chosen := make([]bool, len(t.nodes))
	for i := range t.nodes {
		if !slices.Contains(regions, t.nodes[i].region) {
			continue
		}
		chosen[i] = true
		for up := int32(i); up >= 0 && !keep[up]; up = t.nodes[up].parent {
			keep[up] = true
		}
	}
	out := &tree{locations: t.locations, notes: t.notes, whole: t.whole, how: t.how}
	place := make([]int32, len(t.nodes))
	for i, n := range t.nodes {
		if !keep[i] {
			continue
		}
		place[i] = int32(len(out.nodes))
		n.context = !chosen[i]
		out.nodes = append(out.nodes, n)
	}
	for k, i := 0, 0; i < len(t.nodes); i++ { // parents may come after their children
		if keep[i] {
			if p := t.nodes[i].parent; p >= 0 {
				out.nodes[k].parent = place[p]
			}
			k++
		}
	}
	return out
}
