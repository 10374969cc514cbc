package calltree

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tree is a merged call tree. Once sorted it is in preorder.
type tree struct {
	nodes     []node
	locations int // that hold values
	notes     []string
	whole     float64    // base of shares, if the roots overlap; else 0
	how       trace.Join // how values become one
	alone     bool       // regions without callers: inclusive is exclusive
}

// A node is a call path, or in a tree turned round a chain of callers. There may be one
// for every call, so it is kept small.
type node struct {
	parent                      int32 // -1 at the top
	depth                       int32
	region                      trace.RegionID
	context                     bool // shown only because something below it is selected
	cut                         bool // the source says nothing of it: a path that was cut at its callers
	calls, inclusive, exclusive float64
	values                      []float64        // inclusive of each location that has some; nil: not kept
	each                        *quantile.Sketch // over calls; nil: not asked for
	other, otherCalls           float64          // of the other side of a comparison
}

const nodeBytes = int64(unsafe.Sizeof(node{}))

// stopped reports, once in so many nodes, whether the request was cancelled.
func stopped(ctx context.Context, i int) error {
	if i%4096 == 0 && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// sort brings the tree into preorder, siblings by weight and then by name.
func (t *tree) sort(ctx context.Context, regions []trace.Region, weight func(*node) float64) error {
	above := func(i int) int32 { // the last is above the roots
		if p := t.nodes[i].parent; p >= 0 {
			return p
		}
		return int32(len(t.nodes))
	}
	if err := memory.Room(ctx, int64(len(t.nodes))*5*4); err != nil {
		return err
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
		if err := stopped(ctx, i); err != nil {
			return err
		}
		slices.SortFunc(children(i), func(a, b int32) int {
			x, y := &t.nodes[a], &t.nodes[b]
			return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(y.inclusive, x.inclusive),
				cmp.Compare(y.calls, x.calls), strings.Compare(regions[x.region].Name, regions[y.region].Name),
				cmp.Compare(x.region, y.region))
		})
	}
	order, parents := next[:0], make([]int32, 0, len(t.nodes)) // next has been used
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
		order, parents = append(order, s.id), append(parents, s.parent)
		push(children(int(s.id)), int32(len(order)-1))
	}
	t.reorder(order)
	for i, parent := range parents {
		n := &t.nodes[i]
		if n.parent, n.depth = parent, 0; parent >= 0 {
			n.depth = t.nodes[parent].depth + 1
		}
	}
	return nil
}

// reorder brings node order[i] to place i, without a second list. It uses up the order.
func (t *tree) reorder(order []int32) {
	for i := range order {
		if order[i] < 0 {
			continue
		}
		first, to := t.nodes[i], i
		for {
			from := int(order[to])
			order[to] = -1
			if from == i {
				t.nodes[to] = first
				break
			}
			t.nodes[to] = t.nodes[from]
			to = from
		}
	}
}

// mostCallers bounds the chains of callers of a tree turned round.
const mostCallers = 64

// turned returns the tree from regions to their callers. The time of a node is the
// time that the region of its root spent itself when it was called through the
// chain; its own time is that of chains that end there. Takes O(nodes × depth).
func (t *tree) turned(ctx context.Context) (*tree, error) {
	out := &tree{locations: t.locations, notes: t.notes, whole: t.whole, how: t.how}
	g := newGatherer(out)
	inclusive, exclusive := joiner{how: t.how}, joiner{how: t.how}
	for i := range t.nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		leaf := &t.nodes[i]
		if leaf.exclusive == 0 && leaf.calls == 0 {
			continue
		}
		at := int32(-1)
		for up, n := int32(i), 0; up >= 0 && n < mostCallers; up, n = t.nodes[up].parent, n+1 {
			id, err := g.child(ctx, at, t.nodes[up].region)
			if err != nil {
				return nil, err
			}
			x := &out.nodes[id]
			x.calls += leaf.calls
			inclusive.add(id, &x.inclusive, leaf.exclusive)
			if leaf.each != nil {
				if x.each == nil {
					x.each = &quantile.Sketch{}
				}
				x.each.Merge(leaf.each)
			}
			if t.nodes[up].parent < 0 {
				exclusive.add(id, &x.exclusive, leaf.exclusive)
			}
			at = id
		}
	}
	return out, nil
}

// A joiner puts values of nodes together. Sums need nothing next to the number itself.
type joiner struct {
	how  trace.Join
	many []runfacts.Joined
}

func (j *joiner) add(id int32, to *float64, v float64) {
	if j.how == trace.JoinSum {
		*to += v
		return
	}
	for int(id) >= len(j.many) {
		j.many = append(j.many, runfacts.Joined{})
	}
	j.many[id].Add(j.how, v)
	*to = j.many[id].Value(j.how)
}

// restricted keeps the selected regions and the paths to them.
func (t *tree) restricted(ctx context.Context, regions []trace.RegionID) (*tree, error) {
	if regions == nil {
		return t, nil
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
	count := 0
	for _, k := range keep {
		if k {
			count++
		}
	}
	if err := memory.Room(ctx, int64(count)*nodeBytes); err != nil {
		return nil, err
	}
	out.nodes = make([]node, 0, count)
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
	return out, nil
}
