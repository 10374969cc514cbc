package store

import "github.com/parallax-hpc/parallax/internal/trace"

// A Tree holds all locations in preorder, children in display order: the subtree
// of id is the range id … Last[id].
type Tree struct {
	Name       []string
	Kind       []trace.Kind
	Parent     []trace.LocationID
	Last       []trace.LocationID
	Level      []uint16 // 0 at the top
	Rank       []int32  // own or inherited; trace.NoRank
	Holds      []bool   // has intervals of its own
	Attributes [][]trace.Attribute
}

// Len is the number of locations.
func (t *Tree) Len() int { return len(t.Name) }

// Path is the names from the top, joined by slashes; names keep their own slashes.
func (t *Tree) Path(id trace.LocationID) string {
	if p := t.Parent[id]; p != trace.NoLocation {
		return t.Path(p) + "/" + t.Name[id]
	}
	return t.Name[id]
}

// Children calls f for each child of id in order; NoLocation for the top.
func (t *Tree) Children(id trace.LocationID, f func(trace.LocationID)) {
	next, last := trace.LocationID(0), trace.LocationID(t.Len())
	if id != trace.NoLocation {
		next, last = id+1, t.Last[id]+1
	}
	for next < last {
		f(next)
		next = t.Last[next] + 1
	}
}

// IsLeaf reports whether id has no children.
func (t *Tree) IsLeaf(id trace.LocationID) bool { return t.Last[id] == id }

// Expand replaces each location by its whole subtree, sorted and without
// repeats. nil stays nil, which stands for all.
func (t *Tree) Expand(ids []trace.LocationID) []trace.LocationID {
	if ids == nil {
		return nil
	}
	out := make([]trace.LocationID, 0, len(ids))
	next := trace.LocationID(0)
	for _, id := range ids {
		if id < next {
			continue
		}
		for x := id; x <= t.Last[id]; x++ {
			out = append(out, x)
		}
		next = t.Last[id] + 1
	}
	return out
}
