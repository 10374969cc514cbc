package callgraph

import "container/heap"

// mostPaths bounds the call paths of a thread: a graph of some thousand functions has more paths than atoms.
const mostPaths = 20_000

// A node is a call path: a function as its callers called it.
type node struct {
	f        *Function // nil: callees further down that were not followed
	parent   *node
	calls    float64
	cost     []float64 // inclusive
	self     []float64
	children int
	order    int
}

// A forest is the call paths of a graph.
type forest struct {
	nodes   []*node
	shared  int // functions whose callees were shared out among several callers
	circles int // paths that end where they would come back to a function
	cut     int // paths that were not followed
}

// byCost puts the largest path first, so that paths left out are small.
type byCost []*node

func (b byCost) Len() int { return len(b) }
func (b byCost) Less(i, k int) bool {
	if x, y := b[i].weight(), b[k].weight(); x != y {
		return x > y
	}
	return b[i].order < b[k].order
}
func (b byCost) Swap(i, k int) { b[i], b[k] = b[k], b[i] }
func (b *byCost) Push(x any)   { *b = append(*b, x.(*node)) }
func (b *byCost) Pop() any {
	old := *b
	last := old[len(old)-1]
	*b = old[:len(old)-1]
	return last
}

func (n *node) weight() float64 {
	if len(n.cost) == 0 {
		return 0
	}
	return n.cost[0]
}

// paths unfolds a graph that is finished, from functions that cost more than their callers gave.
func (g *Graph) paths() *forest {
	t := &forest{}
	var open byCost
	push := func(n *node) {
		n.order = len(t.nodes)
		t.nodes = append(t.nodes, n)
		heap.Push(&open, n)
	}
	for _, f := range g.functions {
		if f.callers > 1 && len(f.calls) > 0 {
			t.shared++
		}
	}
	for _, root := range g.roots() {
		push(root)
	}
	for open.Len() > 0 {
		n := heap.Pop(&open).(*node)
		t.unfold(n, push)
	}
	return t
}

// roots are functions with the cost that none of their callers gave. In a circle the root is the function that
// costs most.
func (g *Graph) roots() (roots []*node) {
	for _, circle := range g.circles {
		top := circle[0]
		rest := []float64(nil)
		for _, f := range circle {
			if f.index < top.index && len(circle) > 1 {
				top = f // what was found first is nearest to where it began
			}
			rest = add(rest, f.Self)
			for _, e := range f.calls {
				if e.to.circle != f.circle {
					rest = add(rest, e.cost)
				}
			}
		}
		for _, f := range circle {
			for i, v := range f.given {
				if i < len(rest) {
					rest[i] -= v
				}
			}
		}
		some := false
		for i := range rest {
			rest[i] = max(rest[i], 0)
			some = some || rest[i] > 0
		}
		if some {
			roots = append(roots, &node{f: top, cost: rest, calls: top.Called})
		}
	}
	return roots
}

// unfold computes a path's own cost, and the paths below it.
func (t *forest) unfold(n *node, push func(*node)) {
	for up := n.parent; up != nil; up = up.parent {
		if up.f == n.f { // round a circle: not again
			t.circles++
			n.self = n.cost
			return
		}
	}
	// For each event, the share of the function's total cost that falls to this path.
	sum := add(nil, n.f.Self)
	for _, e := range n.f.calls {
		if e.to != n.f {
			sum = add(sum, e.cost)
		}
	}
	share := make([]float64, len(sum))
	for i := range share {
		if sum[i] != 0 && i < len(n.cost) {
			share[i] = n.cost[i] / sum[i]
		}
	}
	n.self = scaled(n.f.Self, share)
	rest := []float64(nil)
	for _, e := range n.f.calls {
		if e.to == n.f {
			continue
		}
		cost := scaled(e.cost, share)
		if len(t.nodes) >= mostPaths {
			t.cut++
			rest = add(rest, cost)
			continue
		}
		calls := e.count
		if len(share) > 0 && share[0] != 0 {
			calls *= min(share[0], 1)
		}
		n.children++
		push(&node{f: e.to, parent: n, calls: calls, cost: cost})
	}
	if rest != nil {
		t.nodes = append(t.nodes, &node{parent: n, cost: rest, self: rest, order: len(t.nodes)})
	}
}

func scaled(list, share []float64) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		if share[i] == 1 {
			out[i] = v
		} else {
			out[i] = v * share[i]
		}
	}
	return out
}
