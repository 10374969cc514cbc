package timeline

import (
	"errors"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A row is one line of the picture.
type row struct {
	// location holds the intervals of a leaf; for a group it is the top of the locations of
	// the row.
	location trace.LocationID
	kind     rowKind
	node     node
	level    int // of indent
	count    int // selected locations with intervals that it stands for
	// pieces are the selected locations of a group, topmost ones.
	pieces []trace.LocationID
	label  string
	// own is set on the row of a group's own intervals, between it and its members.
	own bool
	// tall is set on headers that meet another one, so that both labels fit.
	tall bool
	// auto is set on groups that are folded because their members do not fit.
	auto bool
	// lanes of a leaf, and whether each has a strip of its own.
	lanes int
	split bool
}

type rowKind uint8

const (
	leaf   rowKind = iota // the intervals of one location
	header                // a group whose members follow, drawn as their aggregate
	folded                // a group drawn as its aggregate alone
)

// A forest is the tree of locations as far as it is selected and holds
// intervals. Nodes with a single child and no intervals of their own are drawn
// together with the child.
type forest struct {
	tree     *store.Tree
	before   []int32 // how many selected locations with intervals have a lower id
	selected []trace.LocationID
}

// newForest takes the selected locations that shows is true of.
func newForest(tree *store.Tree, shows func(trace.LocationID) bool, selected []trace.LocationID) *forest {
	f := &forest{tree: tree, selected: selected, before: make([]int32, tree.Len()+1)}
	next := 0 // of selected
	for id := range tree.Len() {
		for selected != nil && next < len(selected) && trace.LocationID(id) > tree.Last[selected[next]] {
			next++
		}
		in := selected == nil || next < len(selected) && trace.LocationID(id) >= selected[next]
		f.before[id+1] = f.before[id]
		if in && shows(trace.LocationID(id)) {
			f.before[id+1]++
		}
	}
	return f
}

// A folding says which groups of a forest are open.
type folding struct {
	open   []trace.LocationID // --expand, subtrees
	shut   []trace.LocationID // --collapse, single nodes
	opened bool               // whatever is not shut
	depth  int                // of the tree above which groups are open by default
	// cut are the groups drawn as one in place of those of a depth; nil: of a depth.
	cut []trace.LocationID
}

func parseFolding(tree *store.Tree, expand, collapse []string) (folds folding, err error) {
	if folds.open, err = matchGroups(tree, "--expand", expand); err != nil {
		return folds, err
	}
	folds.shut, err = matchGroups(tree, "--collapse", collapse)
	return folds, err
}

// matchGroups matches as --locations does, and says which option is wrong.
func matchGroups(tree *store.Tree, option string, patterns []string) ([]trace.LocationID, error) {
	ids, err := view.MatchLocations(tree, patterns)
	if err != nil {
		return nil, errors.New(strings.Replace(err.Error(), "--locations", option, 1))
	}
	return ids, nil
}

// below counts the selected locations with intervals in the subtree of id.
func (f *forest) below(id trace.LocationID) int {
	return int(f.before[f.tree.Last[id]+1] - f.before[id])
}

func (f *forest) all() int { return int(f.before[len(f.before)-1]) }

// named returns the selected locations as a query wants them: with those aside by name,
// where there are some.
func (f *forest) named() []trace.LocationID {
	if f.tree.Aside == nil {
		return f.selected
	}
	var ids []trace.LocationID
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			ids = append(ids, trace.LocationID(id))
		}
	}
	return ids
}

// holds reports whether id itself has intervals and is selected.
func (f *forest) holds(id trace.LocationID) bool { return f.before[id+1] > f.before[id] }

// A node is a chain of locations drawn as one: top … bottom.
type node struct {
	top, bottom trace.LocationID
	depth       int // in the drawn tree
}

// children calls g for the nodes below id, NoLocation for the top, until it says stop.
func (f *forest) children(id trace.LocationID, depth int, g func(node) bool) {
	next, last := trace.LocationID(0), trace.LocationID(f.tree.Len())
	if id != trace.NoLocation {
		next, last = id+1, f.tree.Last[id]+1
	}
	for next < last {
		if f.below(next) > 0 && !g(f.chain(next, depth)) {
			return
		}
		next = f.tree.Last[next] + 1
	}
}

// chain follows single children down.
func (f *forest) chain(top trace.LocationID, depth int) node {
	n := node{top: top, bottom: top, depth: depth}
	for !f.holds(n.bottom) {
		only := trace.NoLocation
		for c := n.bottom + 1; c <= f.tree.Last[n.bottom]; c = f.tree.Last[c] + 1 {
			if f.below(c) == f.below(n.bottom) {
				only = c
			}
			if f.below(c) > 0 {
				break
			}
		}
		if only == trace.NoLocation {
			break
		}
		n.bottom = only
	}
	return n
}

// isLeaf reports whether nothing below the node has intervals but itself.
func (f *forest) isLeaf(n node) bool { return f.holds(n.bottom) && f.below(n.bottom) == 1 }

// isSelected reports whether a location is selected, or below one that is.
func (f *forest) isSelected(id trace.LocationID) bool {
	if f.selected == nil {
		return true
	}
	i, found := slices.BinarySearch(f.selected, id)
	return found || i > 0 && f.tree.Last[f.selected[i-1]] >= id
}

// state returns the user's choice for a group: open, shut or nothing.
func (s *folding) state(tree *store.Tree, n node) (open, shut bool) {
	for _, id := range s.shut {
		if id >= n.top && id <= n.bottom && tree.Last[id] >= n.bottom {
			return false, true
		}
	}
	for _, id := range s.open {
		inside := id <= n.bottom && n.bottom <= tree.Last[id]
		around := n.top <= id && id <= tree.Last[n.top]
		if inside || around {
			return true, false
		}
	}
	return s.opened, false
}

// cuts reports whether a node is drawn as one by the cut.
func (s *folding) cuts(tree *store.Tree, n node) bool {
	i, _ := slices.BinarySearch(s.cut, n.top)
	return i < len(s.cut) && s.cut[i] <= n.bottom && tree.Last[s.cut[i]] >= n.bottom
}

// rows lists the drawn rows. It gives up past limit rows.
func (f *forest) rows(folds folding, limit int) (out []row, deeper, ok bool) {
	ok = true
	var visit func(n node) bool
	visit = func(n node) bool {
		if len(out) >= limit {
			ok = false
			return false
		}
		r := row{location: n.bottom, node: n, level: n.depth, count: f.below(n.top)}
		if f.isLeaf(n) {
			out = append(out, r)
			return true
		}
		open, shut := folds.state(f.tree, n)
		if !open && !shut {
			open = int(f.tree.Level[n.bottom]) < folds.depth
			if folds.cut != nil {
				open = !folds.cuts(f.tree, n)
			}
			deeper, r.auto = deeper || !open, !open
		}
		r.location, r.kind = n.top, folded
		if !open {
			out = append(out, r)
			return true
		}
		r.kind = header
		if n := len(out); n > 0 && out[n-1].kind == header {
			out[n-1].tall, r.tall = true, true
		}
		out = append(out, r)
		if f.holds(n.bottom) {
			out = append(out, row{location: n.bottom, node: n, level: n.depth + 1, count: 1, own: true})
		}
		f.children(n.bottom, n.depth+1, visit)
		return ok
	}
	f.children(trace.NoLocation, 0, visit)
	return out, deeper, ok
}

// pieces returns the selected locations that a group stands for, topmost ones.
func (f *forest) pieces(id trace.LocationID) []trace.LocationID {
	if f.selected == nil {
		return []trace.LocationID{id}
	}
	var out []trace.LocationID
	i, _ := slices.BinarySearch(f.selected, id)
	if i > 0 && f.tree.Last[f.selected[i-1]] >= id {
		return []trace.LocationID{id} // below a selected one
	}
	for ; i < len(f.selected) && f.selected[i] <= f.tree.Last[id]; i++ {
		if f.below(f.selected[i]) > 0 {
			out = append(out, f.selected[i])
		}
	}
	return out
}
