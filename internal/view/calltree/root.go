package calltree

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// below returns the part of the tree at and below a node. Ids move with the selection and
// with the other side of a comparison; a path stays, which is why the page asks by path.
func (r *result) below(t *tree, text string) (*tree, error) {
	if text == "" {
		return t, nil
	}
	id, err := r.find(t, text)
	if err != nil {
		return nil, err
	}
	last := id
	for last+1 < len(t.nodes) && t.nodes[last+1].depth > t.nodes[id].depth {
		last++
	}
	r.zoom = zoom{on: true, first: id}
	for up := t.nodes[id].parent; up >= 0; up = t.nodes[up].parent {
		r.zoom.names = append(r.zoom.names, r.regions[t.nodes[up].region].Name)
		r.zoom.words = append(r.zoom.words, r.word(t, int(up)))
	}
	slices.Reverse(r.zoom.names)
	slices.Reverse(r.zoom.words)
	name, depth := r.regions[t.nodes[id].region].Name, t.nodes[id].depth
	// the rest is not needed any more
	out := &tree{nodes: t.nodes[id : last+1], locations: t.locations, whole: t.whole, how: t.how}
	for i := range out.nodes {
		out.nodes[i].depth -= depth
		out.nodes[i].parent -= int32(id)
	}
	out.nodes[0].parent = -1
	r.notes = append(r.notes, "only what lies below "+name+" is shown")
	return out, nil
}

// find returns the node that --root names in a sorted tree: by id, by its path from the
// top, or the first, which is the widest of its siblings, whose path ends so. O(nodes × names).
func (r *result) find(t *tree, text string) (int, error) {
	if id, err := strconv.Atoi(text); err == nil {
		if id < 0 || id >= len(t.nodes) {
			return 0, fmt.Errorf("--root %q: want the id of a node, below %d, or a call path", text, len(t.nodes))
		}
		return id, nil
	}
	words := strings.Split(text, arrow)
	if len(words) == 1 && !r.named(t, text) { // names of C++ hold a ">", too
		words = strings.Split(text, " > ")
	}
	suffix := -1
	for i := range t.nodes {
		up := int32(i)
		for k := len(words) - 1; k >= 0 && up >= 0 && r.is(&t.nodes[up], words[k]); k-- {
			if up = t.nodes[up].parent; k > 0 {
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

func (r *result) is(n *node, word string) bool {
	return r.regions[n.region].Name == word ||
		len(word) > 1 && word[0] == '#' && word[1:] == strconv.Itoa(int(n.region))
}

func (r *result) named(t *tree, name string) bool {
	return slices.ContainsFunc(t.nodes, func(n node) bool { return r.regions[n.region].Name == name })
}

// word is how --root names a node below its caller: by its name, or as #ID of its region
// where a sibling has the same name, or where the name would be read otherwise.
func (r *result) word(t *tree, i int) string {
	n := &t.nodes[i]
	name := r.regions[n.region].Name
	if _, err := strconv.Atoi(name); err == nil || strings.Contains(name, arrow) || strings.HasPrefix(name, "#") ||
		name == "" || r.twin(t, i) {
		return "#" + strconv.Itoa(int(n.region))
	}
	return name
}

// twin reports whether a region of the same name, and another id, has the same caller.
// Only names that several regions have are looked for among the nodes.
func (r *result) twin(t *tree, i int) bool {
	if r.shared == nil {
		r.shared = map[string]bool{}
		first := map[string]trace.RegionID{}
		for k := range t.nodes {
			g := t.nodes[k].region
			if old, ok := first[r.regions[g].Name]; ok && old != g {
				r.shared[r.regions[g].Name] = true
			}
			first[r.regions[g].Name] = g
		}
	}
	n := &t.nodes[i]
	return r.shared[r.regions[n.region].Name] && slices.ContainsFunc(t.nodes, func(x node) bool {
		return x.parent == n.parent && x.region != n.region && r.regions[x.region].Name == r.regions[n.region].Name
	})
}

// open returns the options that a double click on a node sets: the tree below it, or
// from the root of the shown tree one level up.
func (r *result) open(i int32) map[string]string {
	if r.callers > 0 {
		return map[string]string{"root": r.word(r.tree, int(i))}
	}
	words := slices.Clone(r.zoom.words)
	if i > 0 || !r.zoom.on {
		at := len(words)
		for k := i; k >= 0; k = r.tree.nodes[k].parent {
			words = slices.Insert(words, at, r.word(r.tree, int(k)))
		}
	}
	return map[string]string{"root": strings.Join(words, arrow)}
}

// path of a node, with its callers, those that are not shown too.
func (r *result) path(i int) string {
	var names []string
	for k := int32(i); k >= 0; k = r.tree.nodes[k].parent {
		names = append(names, r.regions[r.tree.nodes[k].region].Name)
	}
	for k := len(r.zoom.names) - 1; k >= 0; k-- {
		names = append(names, r.zoom.names[k])
	}
	if !r.bottomUp && !r.isCaller(i) {
		slices.Reverse(names)
	}
	return strings.Join(names, arrow)
}
