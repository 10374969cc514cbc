package treemap

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A hierarchy is the part of the location tree that has values: its leaves are
// the locations that hold some. A location that holds values and has others
// below it gets a leaf of its own beside them. Where the source has several
// tops, a root stands above them.
type hierarchy struct {
	store    *store.Tree
	tree     entropy.Tree
	location []trace.LocationID // of each node
	self     []bool             // the leaf of a location that has others below it
	leafOf   []int32            // of each location: its leaf, -1
	depth    []uint16
	leaves   int
}

// holders says which locations have values.
func holders(ctx context.Context, r store.Reader) []bool {
	if r.Info().Intervals > 0 {
		return r.Locations().Holds
	}
	holds := make([]bool, r.Locations().Len())
	_ = r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		for i := range rows {
			holds[rows[i].Location] = true
		}
		return nil
	})
	return holds
}

// newHierarchy is O(locations).
func newHierarchy(t *store.Tree, selected []trace.LocationID, holds []bool) *hierarchy {
	n := t.Len()
	in := func(int) bool { return true }
	if selected != nil {
		chosen := make([]bool, n)
		for _, id := range t.Expand(selected) {
			chosen[id] = true
		}
		in = func(id int) bool { return chosen[id] }
	}
	below := make([]int32, n) // leaves at and below
	tops := 0
	for id := n - 1; id >= 0; id-- {
		if holds[id] && in(id) {
			below[id]++
		}
		if p := t.Parent[id]; p != trace.NoLocation {
			below[p] += below[id]
		} else if below[id] > 0 {
			tops++
		}
	}
	h := &hierarchy{store: t, leafOf: make([]int32, n)}
	node := make([]int32, n)
	if tops != 1 {
		h.add(-1, trace.NoLocation, false)
	}
	for id := range n {
		h.leafOf[id] = -1
		if below[id] == 0 {
			continue
		}
		parent := int32(-1)
		if p := t.Parent[id]; p != trace.NoLocation {
			parent = node[p]
		} else if tops != 1 {
			parent = 0
		}
		node[id] = h.add(parent, trace.LocationID(id), false)
		if holds[id] && in(id) {
			h.leaves++
			h.leafOf[id] = node[id]
			if below[id] > 1 {
				h.leafOf[id] = h.add(node[id], trace.LocationID(id), true)
			}
		}
	}
	for i := h.tree.Len() - 1; i >= 0; i-- {
		h.tree.Last[i] = max(h.tree.Last[i], int32(i))
		if p := h.tree.Parent[i]; p >= 0 {
			h.tree.Last[p] = max(h.tree.Last[p], h.tree.Last[i])
		}
	}
	return h
}

func (h *hierarchy) add(parent int32, id trace.LocationID, self bool) int32 {
	depth := uint16(0)
	if parent >= 0 {
		depth = h.depth[parent] + 1
	}
	h.tree.Parent = append(h.tree.Parent, parent)
	h.tree.Last = append(h.tree.Last, 0)
	h.location = append(h.location, id)
	h.self = append(h.self, self)
	h.depth = append(h.depth, depth)
	return int32(h.tree.Len() - 1)
}

// name of a node, for a label.
func (h *hierarchy) name(i int32) string {
	id := h.location[i]
	switch {
	case id == trace.NoLocation:
		return "all"
	case h.self[i]:
		return h.store.Name[id] + " (itself)"
	}
	return h.store.Name[id]
}

// path of a node; empty for a root that the source does not have.
func (h *hierarchy) path(i int32) string {
	if id := h.location[i]; id != trace.NoLocation {
		return h.store.Path(id)
	}
	return ""
}

// kind of a node, as a word in the plural for what lies below it.
func (h *hierarchy) kind(i int32) string {
	if id := h.location[i]; id != trace.NoLocation {
		return string(h.store.Kind[id])
	}
	return "group"
}

// levelNamed gives the depth of a level by number, or by the kind of its locations.
func (h *hierarchy) levelNamed(name string) (int, error) {
	if name == "all" {
		return 0, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n, nil
	}
	seen := map[string]int{}
	var known []string
	for i := range h.tree.Len() {
		k := h.kind(int32(i))
		if _, ok := seen[k]; !ok && h.location[i] != trace.NoLocation {
			seen[k] = int(h.depth[i])
			known = append(known, k)
		}
	}
	if d, ok := seen[name]; ok {
		return d, nil
	}
	return 0, fmt.Errorf("--group %q: want optimal, all, a depth, or one of %s", name, strings.Join(known, ", "))
}
