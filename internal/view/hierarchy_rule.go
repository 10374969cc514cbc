package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// HierarchyBy makes a hierarchy by a rule, for sources whose own tree says
// little:
//
//	tree             the source's own (also the empty rule, and auto, see Request.Hierarchy)
//	split:SEP        the parts of a location's name between separators
//	attribute:KEY    the value of an attribute of the location or the nearest above it that has one
//	ranks:N          blocks of N ranks; ranks:N,M blocks of N within blocks of M
//
// Groups come in the order in which their first member does.
func HierarchyBy(rule string, t *store.Tree, selected []trace.LocationID, holds []bool) (*runfacts.Hierarchy, error) {
	kind, arg, _ := strings.Cut(rule, ":")
	var groups func(id int) []string // names of the groups above a leaf, outermost first
	switch kind {
	case "", "tree", "auto":
		return runfacts.NewHierarchy(t, selected, holds), nil
	case "split":
		if arg == "" {
			arg = "/"
		}
		groups = func(id int) []string {
			parts := strings.Split(t.Name[id], arg)
			return parts[:len(parts)-1]
		}
	case "attribute":
		if arg == "" {
			return nil, fmt.Errorf("hierarchy %q: name the attribute, as in attribute:node", rule)
		}
		groups = func(id int) []string { return []string{attributeAbove(t, trace.LocationID(id), arg)} }
	case "ranks":
		sizes, err := blockSizes(arg)
		if err != nil {
			return nil, fmt.Errorf("hierarchy %q: %w", rule, err)
		}
		groups = func(id int) []string { return rankBlocks(int(t.Rank[id]), sizes) }
	default:
		refused := words.NotOneOf("--hierarchy", rule, "auto", "tree", "split", "attribute", "ranks")
		refused.More = ", as in split:SEP, attribute:KEY or ranks:N"
		return nil, refused
	}
	return groupedHierarchy(t, chosenIn(t, selected, holds), groups), nil
}

// ownTree reports whether a rule is the source's own tree.
func ownTree(rule string) bool { return rule == "" || rule == "tree" || rule == "auto" }

// HierarchyOf makes the hierarchy of an arrangement, in its order: all, groups,
// locations; or by a rule if there is none.
func HierarchyOf(a *Arrangement, rule string, t *store.Tree, selected []trace.LocationID,
	holds []bool) (*runfacts.Hierarchy, error) {
	switch {
	case a == nil:
		return HierarchyBy(rule, t, selected, holds)
	case !ownTree(rule):
		return nil, fmt.Errorf("--arrange %s: not with --hierarchy %s, since the groups are the hierarchy", a.By, rule)
	}
	ids := chosenIn(t, selected, holds)
	a.Sort(ids)
	return groupedHierarchy(t, ids, a.groupNames), nil
}

// chosenIn lists the selected locations that hold values.
func chosenIn(t *store.Tree, selected []trace.LocationID, holds []bool) (ids []trace.LocationID) {
	in := runfacts.Within(t, selected)
	for id := range t.Len() {
		if holds[id] && in(id) {
			ids = append(ids, trace.LocationID(id))
		}
	}
	return ids
}

// attributeAbove finds an attribute's value on a location or above it.
func attributeAbove(t *store.Tree, id trace.LocationID, key string) string {
	for ; id != trace.NoLocation; id = t.Parent[id] {
		for _, a := range t.Attributes[id] {
			if a.Key == key {
				return a.Value.String()
			}
		}
	}
	return "no " + key
}

func blockSizes(arg string) (sizes []int, err error) {
	for _, s := range strings.Split(arg, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of ranks", s)
		}
		sizes = append([]int{n}, sizes...) // largest first
	}
	return sizes, nil
}

func rankBlocks(rank int, sizes []int) (names []string) {
	if rank < 0 {
		return []string{"no rank"}
	}
	for _, n := range sizes {
		first := rank / n * n
		names = append(names, fmt.Sprintf("ranks %d-%d", first, first+n-1))
	}
	return names
}

// groupedHierarchy puts leaves under invented groups, in two passes: the groups
// as a tree of maps, then preorder.
func groupedHierarchy(t *store.Tree, ids []trace.LocationID, groups func(id int) []string) *runfacts.Hierarchy {
	type group struct {
		name   string
		below  map[string]*group
		order  []*group
		leaves []trace.LocationID
	}
	root := &group{}
	for _, id := range ids {
		g := root
		for _, name := range groups(int(id)) {
			next := g.below[name]
			if next == nil {
				next = &group{name: name}
				if g.below == nil {
					g.below = map[string]*group{}
				}
				g.below[name], g.order = next, append(g.order, next)
			}
			g = next
		}
		g.leaves = append(g.leaves, id)
	}
	h := &runfacts.Hierarchy{Tree: t, LeafOf: make([]int32, t.Len()), Made: map[int32]string{}}
	for id := range h.LeafOf {
		h.LeafOf[id] = -1
	}
	var walk func(g *group, parent int32)
	walk = func(g *group, parent int32) {
		node := h.Add(parent, trace.NoLocation, false)
		if g.name != "" {
			h.Made[node] = g.name
		}
		for _, sub := range g.order {
			walk(sub, node)
		}
		for _, id := range g.leaves {
			h.LeafOf[id] = h.Add(node, id, false)
			h.Leaves++
		}
	}
	walk(root, -1)
	h.Close()
	return h
}
