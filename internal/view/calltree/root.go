package calltree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A zoom is where in the whole tree the part lies that is shown.
type zoom struct {
	on    bool
	first int      // id of its root in the whole tree
	names []string // of the nodes above its root, from the top
	words []string // the same as --root takes them
}

// arrow joins the names of a path in words; ">" does as well, which a keyboard has.
const arrow = " → "

// below returns the part of a sorted tree at and below the node that --root names. Ids move with the selection and
// with the other side of a comparison; a path stays, which is why the page asks by path.
func below(t *pathtree.Tree, text string) (*pathtree.Tree, zoom, error) {
	if text == "" {
		return t, zoom{}, nil
	}
	id, err := find(t, text)
	if err != nil {
		return nil, zoom{}, err
	}
	z := zoom{on: true, first: id}
	shared := sharedNames(t)
	for up := t.Nodes[id].Parent; up >= 0; up = t.Nodes[up].Parent {
		z.names = append(z.names, t.Name(&t.Nodes[up]))
		z.words = append(z.words, word(t, shared, int(up)))
	}
	slices.Reverse(z.names)
	slices.Reverse(z.words)
	return t.Below(id), z, nil
}

// find returns the node that --root names in a sorted tree: by id, by its path from the
// top, or the first, which is the widest of its siblings, whose path ends so. O(nodes × names).
func find(t *pathtree.Tree, text string) (int, error) {
	if id, err := strconv.Atoi(text); err == nil {
		if id < 0 || id >= len(t.Nodes) {
			return 0, fmt.Errorf("--root %q: want the id of a node, below %d, or a call path", text, len(t.Nodes))
		}
		return id, nil
	}
	words := strings.Split(text, arrow)
	named := func(n pathtree.Node) bool { return t.Name(&n) == text }
	if len(words) == 1 && !slices.ContainsFunc(t.Nodes, named) { // names of C++ hold a ">", too
		words = strings.Split(text, " > ")
	}
	suffix := -1
	for i := range t.Nodes {
		up := int32(i)
		for k := len(words) - 1; k >= 0 && up >= 0 && is(t, &t.Nodes[up], words[k]); k-- {
			if up = t.Nodes[up].Parent; k > 0 {
				continue
			}
			if up < 0 {
				return i, nil
			}
			if suffix < 0 {
				suffix = i
			}
		}
	}
	if suffix < 0 {
		return 0,
			view.Empty("choose more, or show the whole tree, without --root", "no call path %q in the selection", text)
	}
	return suffix, nil
}

// is reports whether a word of --root is a node.
func is(t *pathtree.Tree, n *pathtree.Node, word string) bool {
	return t.Name(n) == word || len(word) > 1 && word[0] == '#' && word[1:] == strconv.Itoa(int(n.Region))
}

// word is how --root names a node below its caller: by its name, or as #ID of its region
// where a sibling has the same name, or where the name would be read otherwise.
func word(t *pathtree.Tree, shared map[string]bool, i int) string {
	n := &t.Nodes[i]
	name := t.Name(n)
	if _, err := strconv.Atoi(name); err == nil || strings.Contains(name, arrow) || strings.HasPrefix(name, "#") ||
		name == "" || shared[name] && hasTwin(t, n) {
		return "#" + strconv.Itoa(int(n.Region))
	}
	return name
}

// hasTwin reports whether a region of the same name, and another id, has the same caller.
func hasTwin(t *pathtree.Tree, n *pathtree.Node) bool {
	return slices.ContainsFunc(t.Nodes, func(x pathtree.Node) bool {
		return x.Parent == n.Parent && x.Region != n.Region && t.Name(&x) == t.Name(n)
	})
}

// sharedNames are the names that several regions of a tree have: only these need to be looked for among siblings.
func sharedNames(t *pathtree.Tree) map[string]bool {
	shared, first := map[string]bool{}, map[string]trace.RegionID{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if old, ok := first[t.Name(n)]; ok && old != n.Region {
			shared[t.Name(n)] = true
		}
		first[t.Name(n)] = n.Region
	}
	return shared
}

// word is how --root names a node of the tree that is shown.
func (r *result) word(i int) string {
	if r.shared == nil {
		r.shared = sharedNames(r.tree)
	}
	return word(r.tree, r.shared, i)
}

// open returns the options that a double click on a node sets: the tree below it, or
// from the root of the shown tree one level up.
func (r *result) open(i int32) map[string]string {
	if r.callers > 0 {
		return map[string]string{"root": r.word(int(i))}
	}
	words := slices.Clone(r.zoom.words)
	if i > 0 || !r.zoom.on {
		at := len(words)
		for k := i; k >= 0; k = r.tree.Nodes[k].Parent {
			words = slices.Insert(words, at, r.word(int(k)))
		}
	}
	return map[string]string{"root": strings.Join(words, arrow)}
}

// path of a node, with its callers, those that are not shown too.
func (r *result) path(i int) string {
	var names []string
	for k := int32(i); k >= 0; k = r.tree.Nodes[k].Parent {
		names = append(names, r.tree.Name(&r.tree.Nodes[k]))
	}
	for k := len(r.zoom.names) - 1; k >= 0; k-- {
		names = append(names, r.zoom.names[k])
	}
	if !bottomUp(r.request) && !r.isCaller(i) {
		slices.Reverse(names)
	}
	return strings.Join(names, arrow)
}
