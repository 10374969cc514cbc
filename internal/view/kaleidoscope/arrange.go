package kaleidoscope

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// leastRing is the smallest distance of rings chosen by the view itself.
const leastRing = 4

// An arrangement is a tree with the place of every node. All paintings share it.
type arrangement struct {
	origin     []int32 // node of the forest; nil: the same
	layout     *invocation.Layout
	height     int // of the tree before condensing
	ring       float64
	hmax       int
	condensing invocation.Condensing
	shown      []int32 // nodes that are drawn in a whole picture, ascending
	crowded    int     // nodes that lie where another one is drawn
	notes      []string

	// For a tree that is looked at at any scale: the item of each node, and nodes on levels between
	// rings.
	items   []invocation.Item
	skipped []invocation.Skip
	nodes   []invocation.Node // the first of each item, with the facts that are drawn
	mixes   []*mix            // of items that are merged
}

// node returns the node of the forest that node i is.
func (a *arrangement) node(i int) int32 {
	if a.origin == nil {
		return int32(i)
	}
	return a.origin[i]
}

func (a *arrangement) sizeBytes() int64 {
	return 4*int64(len(a.shown)) + 28*int64(a.layout.Tree.Len()) + 4*int64(len(a.origin))
}

// A plan holds the values that an arrangement depends on besides the forest.
type plan struct {
	root  int32 // -1: the whole tree
	order string
	ring  int // 0: chosen
	width int // of the picture, or its height where that is less
	all   bool

	locations *store.Tree
}

// key names the values that an arrangement depends on.
func (p *plan) key() string { return fmt.Sprint(p.root, p.order, p.ring, p.width, p.all) }

// arrange orders, condenses and lays out. A subtree, and all of a tree where all is
// asked for, is never condensed in levels: it gets as many rings as it has.
func (p *plan) arrange(f *forest) *arrangement {
	a := &arrangement{}
	tree, level := f.calls.Tree, f.level
	a.height = f.height
	if p.root >= 0 {
		tree, a.origin = tree.Subtree(p.root)
		level, a.height = tree.Levels()
	}
	if p.order != byTime {
		ordered,
			order := tree.Preorder(sorter(p.order, f, p.locations, a.node,
			func() []float64 { return invocation.NewLayout(tree).Weight }))
		tree, a.origin = ordered, a.through(order)
		level, _ = tree.Levels()
	}
	a.chooseRing(p)
	if p.root < 0 && !p.all {
		a.condensing = invocation.Condense(a.height, a.hmax)
	}
	if a.condensing.C0 > 0 {
		condensed, kept := a.condensing.Apply(tree, level)
		a.notes = append(a.notes,
			fmt.Sprintf("%d levels on %d rings: %s calls of condensed levels are not drawn", a.height, a.hmax,
				view.Thousands(int64(tree.Len()-condensed.Len()))))
		tree, a.origin = condensed, a.through(kept)
	}
	a.layout = invocation.NewLayout(tree)
	a.shown, a.crowded = choose(a.layout, a.ring, sight{all: true})
	a.widen(p)
	if hidden := tree.Len() - len(a.shown) - a.crowded; hidden > 0 {
		a.notes = append(a.notes,
			plural(hidden, "call below a sector of less than a pixel is not drawn",
				"calls below sectors of less than a pixel are not drawn"))
	}
	return a
}

// through follows places of a new tree to nodes of the forest.
func (a *arrangement) through(places []int32) []int32 {
	if a.origin == nil {
		return places
	}
	next := make([]int32, len(places))
	for k, i := range places {
		next[k] = a.origin[i]
	}
	return next
}

func (a *arrangement) chooseRing(p *plan) {
	ring := p.ring
	if ring <= 0 {
		ring = max(p.width/(2*max(a.height, 1)), leastRing)
		ring = min(ring, max(p.width/4, 1))
	}
	a.ring, a.hmax = float64(ring), invocation.HMax(p.width, ring)
}

// widen gives rings that stay empty to those that do not, where the view chooses
// their distance itself.
func (a *arrangement) widen(p *plan) {
	if p.ring > 0 {
		return
	}
	used := 0
	for _, i := range a.shown {
		used = max(used, int(a.layout.Level[i])+1)
	}
	if ring := min(p.width/(2*max(used, 1)), max(p.width/4, 1)); float64(ring) > a.ring {
		a.ring = float64(ring)
	}
}
