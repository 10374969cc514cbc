package store

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Tree holds all locations in preorder, children in display order: the subtree
// of id is the range id … Last[id].
type Tree struct {
	Name   []string
	Kind   []trace.Kind
	Parent []trace.LocationID
	Last   []trace.LocationID
	Level  []uint16 // 0 at the top
	Rank   []int32  // own or inherited; trace.NoRank
	Holds  []bool   // has intervals of its own, and they count
	// Aside are the locations whose intervals repeat the time of another one (trace.Kind.Aside); nil if there are
	// none. A set of locations holds them only where it names them: "all" and "all below" are without them.
	Aside      []bool
	Attributes [][]trace.Attribute
}

// Len returns the number of locations.
func (t *Tree) Len() int { return len(t.Name) }

// Path returns the names from the top, joined by slashes; names keep their own slashes.
func (t *Tree) Path(id trace.LocationID) string {
	if t.Parent[id] == trace.NoLocation {
		return t.Name[id]
	}
	long := len(t.Name[id])
	for p := t.Parent[id]; p != trace.NoLocation; p = t.Parent[p] {
		long += len(t.Name[p]) + 1
	}
	path := make([]byte, long) // from its end, so that no tree is so deep that paths are built many times
	at := long - len(t.Name[id])
	copy(path[at:], t.Name[id])
	for p := t.Parent[id]; p != trace.NoLocation; p = t.Parent[p] {
		at--
		path[at] = '/'
		at -= len(t.Name[p])
		copy(path[at:], t.Name[p])
	}
	return string(path)
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

// Topmost drops ids below others, as a Window wants them; ids are in order.
func (t *Tree) Topmost(ids []trace.LocationID) (out []trace.LocationID) {
	for _, id := range ids {
		if n := len(out); n == 0 || id > t.Last[out[n-1]] {
			out = append(out, id)
		}
	}
	return slices.Clip(out)
}

// IsLeaf reports whether id has no children.
func (t *Tree) IsLeaf(id trace.LocationID) bool { return t.Last[id] == id }

// IsAside reports whether id has intervals that do not count.
func (t *Tree) IsAside(id trace.LocationID) bool { return t.Aside != nil && t.Aside[id] }

// Shows reports whether id has intervals, whether or not they count.
func (t *Tree) Shows(id trace.LocationID) bool { return t.Holds[id] || t.IsAside(id) }

// Expand replaces each location by its whole subtree, sorted and without
// repeats. nil stays nil, which stands for all. Locations aside come only where
// they are named themselves.
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
			if t.IsAside(x) && !named(ids, x) {
				continue
			}
			out = append(out, x)
		}
		next = t.Last[id] + 1
	}
	return out
}

// named reports whether a sorted list holds id itself.
func named(ids []trace.LocationID, id trace.LocationID) bool {
	_, found := slices.BinarySearch(ids, id)
	return found
}
