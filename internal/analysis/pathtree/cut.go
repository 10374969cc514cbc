package pathtree

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// To returns the paths to some regions; nil: all.
func (t *Tree) To(ctx context.Context, regions []trace.RegionID) (*Tree, error) {
	if regions == nil {
		return t, nil
	}
	keep := make([]bool, len(t.Nodes))
	chosen := make([]bool, len(t.Nodes))
	count := 0
	for i := range t.Nodes {
		if !slices.Contains(regions, t.Nodes[i].Region) {
			continue
		}
		chosen[i] = true
		for up := int32(i); up >= 0 && !keep[up]; up = t.Nodes[up].Parent {
			keep[up] = true
			count++
		}
	}
	if err := memory.Room(ctx, int64(count)*nodeBytes); err != nil {
		return nil, err
	}
	out := t.like()
	out.Nodes = make([]Node, 0, count)
	place := make([]int32, len(t.Nodes))
	for i, n := range t.Nodes {
		if !keep[i] {
			continue
		}
		place[i] = int32(len(out.Nodes))
		n.Context = !chosen[i]
		out.Nodes = append(out.Nodes, n)
	}
	for i := range out.Nodes { // parents may come after their children
		if p := out.Nodes[i].Parent; p >= 0 {
			out.Nodes[i].Parent = place[p]
		}
	}
	return out, nil
}

// Below returns the part of a sorted tree at and below a node. It uses up the tree.
func (t *Tree) Below(id int) *Tree {
	depth, end := t.Nodes[id].Depth, id+1
	for end < len(t.Nodes) && t.Nodes[end].Depth > depth {
		end++
	}
	out := t.like()
	out.Nodes = t.Nodes[id:end]
	for i := range out.Nodes {
		out.Nodes[i].Depth -= depth
		out.Nodes[i].Parent -= int32(id)
	}
	out.Nodes[0].Parent = -1
	return out
}
