package runfacts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Hierarchy is the part of the location tree that has values: its leaves are the locations that hold
// some. A location that holds values and has others below it gets a leaf of its own next to them. If the
// source has several tops, a root is added above them.
type Hierarchy struct {
	Tree *store.Tree
	// Parent and Last are the tree in preorder: -1 above the root, and the last
	// node of each subtree.
	Parent, Last []int32
	Location     []trace.LocationID // of each node; NoLocation of a root that the source does not have
	Self         []bool             // the leaf of a location that has others below it
	LeafOf       []int32            // of each location: its leaf, -1
	Depth        []uint16
	Leaves       int
	Made         map[int32]string // names of groups that a rule made
}

// Holders returns the locations with values.
func Holders(ctx context.Context, r store.Reader) ([]bool, error) {
	if r.Info().Timed() {
		return r.Locations().Holds, nil
	}
	holds := make([]bool, r.Locations().Len())
	err := r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		for i := range rows {
			holds[rows[i].Location] = true
		}
		return nil
	})
	return holds, err
}

// ChosenHolders returns the locations of a selection that have values, ascending.
func ChosenHolders(ctx context.Context, r store.Reader, selected []trace.LocationID) ([]trace.LocationID, error) {
	holds, err := Holders(ctx, r)
	if err != nil {
		return nil, err
	}
	return Chosen(r.Locations(), selected, holds), nil
}

// NewHierarchy is O(locations).
func NewHierarchy(t *store.Tree, selected []trace.LocationID, holds []bool) *Hierarchy {
	n := t.Len()
	in := Within(t, selected)
	leaf := func(id int) bool {
		return in(id) && (holds[id] || selected != nil && t.IsAside(trace.LocationID(id)))
	}
	below := make([]int32, n) // leaves at and below
	tops := 0
	for id := n - 1; id >= 0; id-- {
		if leaf(id) {
			below[id]++
		}
		if p := t.Parent[id]; p != trace.NoLocation {
			below[p] += below[id]
		} else if below[id] > 0 {
			tops++
		}
	}
	h := &Hierarchy{Tree: t, LeafOf: make([]int32, n)}
	node := make([]int32, n)
	h.Grow(n + 1)
	if tops != 1 {
		h.Add(-1, trace.NoLocation, false)
	}
	for id := range n {
		h.LeafOf[id] = -1
		if below[id] == 0 {
			continue
		}
		parent := int32(-1)
		if p := t.Parent[id]; p != trace.NoLocation {
			parent = node[p]
		} else if tops != 1 {
			parent = 0
		}
		node[id] = h.Add(parent, trace.LocationID(id), false)
		if leaf(id) {
			h.Leaves++
			h.LeafOf[id] = node[id]
			if below[id] > 1 {
				h.LeafOf[id] = h.Add(node[id], trace.LocationID(id), true)
			}
		}
	}
	h.Close()
	return h
}

// Within reports whether a location is selected.
func Within(t *store.Tree, selected []trace.LocationID) func(id int) bool {
	if selected == nil {
		return func(int) bool { return true }
	}
	chosen := make([]bool, t.Len())
	for _, id := range t.Expand(selected) {
		chosen[id] = true
	}
	return func(id int) bool { return chosen[id] }
}

// Close finds the last node of each subtree.
func (h *Hierarchy) Close() {
	for i := h.Len() - 1; i >= 0; i-- {
		h.Last[i] = max(h.Last[i], int32(i))
		if p := h.Parent[i]; p >= 0 {
			h.Last[p] = max(h.Last[p], h.Last[i])
		}
	}
}

// Len is the number of nodes.
func (h *Hierarchy) Len() int { return len(h.Parent) }

// Grow makes room for n more nodes.
func (h *Hierarchy) Grow(n int) {
	h.Parent, h.Last, h.Self = slices.Grow(h.Parent, n), slices.Grow(h.Last, n), slices.Grow(h.Self, n)
	h.Location, h.Depth = slices.Grow(h.Location, n), slices.Grow(h.Depth, n)
}

// Add puts a node below another, -1 for the root.
func (h *Hierarchy) Add(parent int32, id trace.LocationID, self bool) int32 {
	depth := uint16(0)
	if parent >= 0 {
		depth = h.Depth[parent] + 1
	}
	h.Parent = append(h.Parent, parent)
	h.Last = append(h.Last, 0)
	h.Location = append(h.Location, id)
	h.Self = append(h.Self, self)
	h.Depth = append(h.Depth, depth)
	return int32(h.Len() - 1)
}

// Name of a node, for a label.
func (h *Hierarchy) Name(i int32) string {
	id := h.Location[i]
	switch {
	case h.Made[i] != "":
		return h.Made[i]
	case id == trace.NoLocation:
		return "all"
	case h.Self[i]:
		return h.Tree.Name[id] + " (itself)"
	}
	return h.Tree.Name[id]
}

// Label is the name that tells a node from others: of processes with one thread
// each, the threads are called as their processes.
func (h *Hierarchy) Label(i int32) string {
	id := h.Location[i]
	if h.Last[i] > i || id == trace.NoLocation || h.Self[i] || h.Made[i] != "" {
		return h.Name(i)
	}
	t := h.Tree
	for up := t.Parent[id]; up != trace.NoLocation && up == id-1 && t.Last[up] == t.Last[id]; up = t.Parent[id] {
		if h.Tree.Rank[up] != h.Tree.Rank[id] || h.Tree.Rank[id] == trace.NoRank || h.LeafOf[up] >= 0 {
			break
		}
		id = up
	}
	name := h.Tree.Name[id]
	if number := strconv.Itoa(int(h.Tree.Rank[id])); h.Tree.Rank[id] != trace.NoRank && len(name) < len(number)+12 {
		if word, ok := strings.CutSuffix(name, number); ok && strings.HasSuffix(strings.ToLower(word), "rank ") {
			return "rank " + number // in place of "MPI Rank 7"
		}
	}
	if h.onlyOfRank(id) && !endsWith(name, int(t.Rank[id])) {
		return "rank " + strconv.Itoa(int(t.Rank[id])) // in place of "THREAD 1.8.1": other views call it so
	}
	return name
}

// onlyOfRank reports whether a location has a rank that neither what it lies in nor its neighbours have.
func (h *Hierarchy) onlyOfRank(id trace.LocationID) bool {
	t := h.Tree
	rank := t.Rank[id]
	if rank == trace.NoRank {
		return false
	}
	for _, other := range []trace.LocationID{t.Parent[id], id - 1, t.Last[id] + 1} {
		if int(other) < t.Len() && t.Rank[other] == rank {
			return false
		}
	}
	return true
}

// endsWith reports whether the number at the end of a name is n.
func endsWith(name string, n int) bool {
	number := name[len(strings.TrimRight(name, "0123456789")):]
	v, err := strconv.Atoi(number)
	return err == nil && v == n && !strings.HasSuffix(strings.TrimSuffix(name, number), ".")
}

// Path of a node; empty for a root that the source does not have.
func (h *Hierarchy) Path(i int32) string {
	if id := h.Location[i]; id != trace.NoLocation {
		return h.Tree.Path(id)
	}
	if name := h.Made[i]; name != "" {
		if above := h.Path(h.Parent[i]); above != "" {
			return above + "/" + name
		}
		return name
	}
	return ""
}

// Group is the path of the nearest group above a node that a rule made; empty where all above it is the source's own.
func (h *Hierarchy) Group(i int32) string {
	for i = h.Parent[i]; i >= 0; i = h.Parent[i] {
		if h.Made[i] != "" {
			return h.Path(i)
		}
	}
	return ""
}

// Kind of a node's location.
func (h *Hierarchy) Kind(i int32) string {
	if id := h.Location[i]; id != trace.NoLocation {
		return string(h.Tree.Kind[id])
	}
	return "group"
}

// LevelNamed returns the depth of a level by number, or by the kind of its locations.
func (h *Hierarchy) LevelNamed(name string) (int, error) {
	if name == "all" {
		return 0, nil
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 {
		return n, nil
	}
	seen := map[string]int{}
	var known []string
	for i := range h.Len() {
		k := h.Kind(int32(i))
		if _, ok := seen[k]; !ok && h.Location[i] != trace.NoLocation {
			seen[k] = int(h.Depth[i])
			known = append(known, k)
		}
	}
	if d, ok := seen[name]; ok {
		return d, nil
	}
	return 0, fmt.Errorf("--group %q: want optimal, all, a depth, or one of %s", name, strings.Join(known, ", "))
}
