package pathtree

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An index finds the node of a path in a tree that grows. It is a hash table with open addressing over the nodes of
// the tree, so that it stays small.
type index struct {
	tree  *Tree
	slots []int32 // a node + 1; 0: free
}

func newIndex(t *Tree) *index {
	x := &index{tree: t}
	x.fill(64)
	return x
}

// child returns the node of a call from another, which is new if there is none.
func (x *index) child(ctx context.Context, parent int32, region trace.RegionID) (int32, error) {
	if 2*len(x.tree.Nodes) >= len(x.slots) {
		if err := memory.Room(ctx, int64(2*len(x.slots))*4); err != nil {
			return 0, err
		}
		x.fill(2 * len(x.slots))
	}
	slot := x.slot(parent, region)
	if id := x.slots[slot] - 1; id >= 0 {
		return id, nil
	}
	x.slots[slot] = int32(len(x.tree.Nodes) + 1)
	return x.tree.add(ctx, Node{Parent: parent, Region: region})
}

// slot is where a path is, or belongs.
func (x *index) slot(parent int32, region trace.RegionID) int {
	mask := len(x.slots) - 1
	key := (uint64(uint32(parent+1))<<32 | uint64(region)) * 0x9e3779b97f4a7c15
	for at := int(key>>33) & mask; ; at = (at + 1) & mask {
		id := x.slots[at] - 1
		if id < 0 || x.tree.Nodes[id].Region == region && x.tree.Nodes[id].Parent == parent {
			return at
		}
	}
}

// fill makes the table anew; of nodes with the same caller and region the first counts.
func (x *index) fill(size int) {
	for 2*len(x.tree.Nodes) >= size {
		size *= 2
	}
	x.slots = make([]int32, size)
	for i := range x.tree.Nodes {
		if at := x.slot(x.tree.Nodes[i].Parent, x.tree.Nodes[i].Region); x.slots[at] == 0 {
			x.slots[at] = int32(i + 1)
		}
	}
}
