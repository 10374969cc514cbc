package pathtree

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/memory"
)

// ByInclusive is the usual weight of a node.
func ByInclusive(n *Node) float64 { return n.Inclusive }

// Sort brings the tree into preorder, siblings by weight and then by name.
func (t *Tree) Sort(ctx context.Context, weight func(*Node) float64) error {
	above := func(i int) int32 { // the last is above the roots
		if p := t.Nodes[i].Parent; p >= 0 {
			return p
		}
		return int32(len(t.Nodes))
	}
	if err := memory.Room(ctx, int64(len(t.Nodes))*5*4); err != nil {
		return err
	}
	first := make([]int32, len(t.Nodes)+2) // of the children of each in all; a tree may have a node for every call
	for i := range t.Nodes {
		first[above(i)+1]++
	}
	for i := range first[1:] {
		first[i+1] += first[i]
	}
	all, next := make([]int32, len(t.Nodes)), slices.Clone(first)
	for i := range t.Nodes {
		p := above(i)
		all[next[p]] = int32(i)
		next[p]++
	}
	children := func(i int) []int32 { return all[first[i]:first[i+1]] }
	for i := range len(t.Nodes) + 1 {
		if err := stopped(ctx, i); err != nil {
			return err
		}
		slices.SortFunc(children(i), func(a, b int32) int {
			x, y := &t.Nodes[a], &t.Nodes[b]
			return cmp.Or(cmp.Compare(weight(y), weight(x)), cmp.Compare(y.Inclusive, x.Inclusive),
				cmp.Compare(y.Calls, x.Calls), strings.Compare(t.Name(x), t.Name(y)),
				cmp.Compare(x.Region, y.Region))
		})
	}
	order, parents := next[:0], make([]int32, 0, len(t.Nodes)) // next has been used
	type step struct{ id, parent int32 }
	var stack []step
	push := func(list []int32, parent int32) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, step{list[i], parent})
		}
	}
	push(children(len(t.Nodes)), -1)
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order, parents = append(order, s.id), append(parents, s.parent)
		push(children(int(s.id)), int32(len(order)-1))
	}
	t.reorder(order)
	for i, parent := range parents {
		n := &t.Nodes[i]
		if n.Parent, n.Depth = parent, 0; parent >= 0 {
			n.Depth = t.Nodes[parent].Depth + 1
		}
	}
	return nil
}

// reorder brings node order[i] to place i, without a second list. It uses up the order.
func (t *Tree) reorder(order []int32) {
	for i := range order {
		if order[i] < 0 {
			continue
		}
		first, to := t.Nodes[i], i
		for {
			from := int(order[to])
			order[to] = -1
			if from == i {
				t.Nodes[to] = first
				break
			}
			t.Nodes[to] = t.Nodes[from]
			to = from
		}
	}
}

// Heaviest chooses nodes of a sorted tree by their time so that the caller of each is chosen too, and gives them in
// preorder. Takes O(most log nodes).
func (t *Tree) Heaviest(most int) []int32 {
	h := &heaviest{nodes: t.Nodes}
	last := t.Last()
	push := func(first, end int32) {
		for i := first; i <= end; i = last[i] + 1 {
			heap.Push(h, i)
		}
	}
	push(0, int32(len(t.Nodes))-1)
	var out []int32
	for h.Len() > 0 && len(out) < most {
		i := heap.Pop(h).(int32)
		out = append(out, i)
		push(i+1, last[i])
	}
	slices.Sort(out)
	return out
}

// heaviest is a heap of nodes, the one with the most time first.
type heaviest struct {
	nodes []Node
	list  []int32
}

func (h *heaviest) Len() int { return len(h.list) }
func (h *heaviest) Less(a, b int) bool {
	x, y := h.nodes[h.list[a]].Inclusive, h.nodes[h.list[b]].Inclusive
	if x != y {
		return x > y
	}
	return h.list[a] < h.list[b]
}
func (h *heaviest) Swap(a, b int) { h.list[a], h.list[b] = h.list[b], h.list[a] }
func (h *heaviest) Push(x any)    { h.list = append(h.list, x.(int32)) }
func (h *heaviest) Pop() any {
	x := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return x
}
