package calltree

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A gatherer finds the node of a path in a tree that grows. It is a table with open
// addressing over the nodes of the tree, so that it stays small.
type gatherer struct {
	tree  *tree
	slots []int32 // a node + 1; 0: free
}

// newGatherer takes in the nodes of the tree; of nodes with the same caller and region the first
// counts.
func newGatherer(t *tree) *gatherer {
	g := &gatherer{tree: t}
	g.fill(64)
	return g
}

// child returns the node of a call from another, which is new if there is none.
func (g *gatherer) child(ctx context.Context, parent int32, region trace.RegionID) (int32, error) {
	if 2*len(g.tree.nodes) >= len(g.slots) {
		if err := memory.Room(ctx, int64(2*len(g.slots))*4); err != nil {
			return 0, err
		}
		g.fill(2 * len(g.slots))
	}
	slot := g.slot(parent, region)
	if id := g.slots[slot] - 1; id >= 0 {
		return id, nil
	}
	g.slots[slot] = int32(len(g.tree.nodes) + 1)
	return g.tree.add(ctx, node{parent: parent, region: region})
}

// add puts the numbers of one node to those of another.
func (g *gatherer) add(at int32, n *node) {
	x := &g.tree.nodes[at]
	x.calls += n.calls
	x.inclusive += n.inclusive
	x.exclusive += n.exclusive
}

// slot is where a path is, or belongs.
func (g *gatherer) slot(parent int32, region trace.RegionID) int {
	mask := len(g.slots) - 1
	key := (uint64(uint32(parent+1))<<32 | uint64(region)) * 0x9e3779b97f4a7c15
	for at := int(key>>33) & mask; ; at = (at + 1) & mask {
		id := g.slots[at] - 1
		if id < 0 || g.tree.nodes[id].region == region && g.tree.nodes[id].parent == parent {
			return at
		}
	}
}

func (g *gatherer) fill(size int) {
	for 2*len(g.tree.nodes) >= size {
		size *= 2
	}
	g.slots = make([]int32, size)
	for i := range g.tree.nodes {
		if at := g.slot(g.tree.nodes[i].parent, g.tree.nodes[i].region); g.slots[at] == 0 {
			g.slots[at] = int32(i + 1)
		}
	}
}

// add appends a node. A long list asks for room before it grows.
func (t *tree) add(ctx context.Context, n node) (int32, error) {
	if len(t.nodes) == cap(t.nodes) {
		size := max(256, cap(t.nodes)/2*3)
		if err := memory.Room(ctx, int64(size)*nodeBytes); err != nil {
			return 0, err
		}
		t.nodes = append(make([]node, 0, size), t.nodes...)
	}
	t.nodes = append(t.nodes, n)
	return int32(len(t.nodes) - 1), nil
}
