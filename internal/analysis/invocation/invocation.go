// Package invocation lays out an invocation tree on rings: who called whom, all
// calls at once.
//
// After Tick, Park: "Kaleidescope Visualization of Fine-Grain Parallel Programs" (VISTA). A node at level l
// is on a circle of radius d·l; its sector is shared among its children by weight. If the tree is higher
// than there are rings, levels are condensed; if a sector is under a pixel, the nodes below it are not
// drawn.
//
// The calls of a run are read from its store (read.go), with the processors that ran goroutines (processor.go).
//
// Trees are flat arrays in an order in which parents come before children; that
// order is also the order of siblings. Every pass is O(nodes).
package invocation

import "math"

// A Tree is an invocation tree: Parent[i] < i, and -1 at node 0, the root.
type Tree struct {
	Parent []int32
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.Parent) }

// Levels returns the level of every node, the root's being 0, and the height: the
// number of levels.
func (t *Tree) Levels() (level []int32, height int) {
	level = make([]int32, t.Len())
	for i, p := range t.Parent {
		if p >= 0 {
			level[i] = level[p] + 1
			height = max(height, int(level[i]))
		}
	}
	if t.Len() == 0 {
		return level, 0
	}
	return level, height + 1
}

// Children counts the children of every node.
func (t *Tree) Children() []int32 {
	count := make([]int32, t.Len())
	for _, p := range t.Parent {
		if p >= 0 {
			count[p]++
		}
	}
	return count
}

// HMax is how many rings of distance d fit into a picture of width w.
func HMax(w, d int) int {
	if d <= 0 {
		return 0
	}
	return w / (2 * d)
}

// A Condensing says which levels of a tree are drawn: every C0-th up to level T,
// every (C0+1)-th below. C0 = 0 keeps them all.
type Condensing struct {
	C0, T int
}

// Condense returns the paper's condensing of a tree of height h to hmax rings: the
// T that solves T/C0 + (h-T)/(C0+1) = hmax. It keeps hmax levels or one more; the
// extra ring still fits.
func Condense(h, hmax int) Condensing {
	if h <= hmax || hmax <= 0 {
		return Condensing{}
	}
	c0 := h / hmax
	return Condensing{C0: c0, T: c0*hmax - c0*(h-c0*hmax)}
}

// Keeps reports whether a level is drawn. The root always is.
func (c Condensing) Keeps(level int) bool {
	switch {
	case c.C0 == 0:
		return true
	case level <= c.T:
		return level%c.C0 == 0
	}
	return level%(c.C0+1) == 0
}

// Apply returns the condensed tree: nodes of levels that are not kept hand their
// children to the nearest kept ancestor. origin[i] is the node of t that node i
// of the new tree is.
func (c Condensing) Apply(t *Tree, level []int32) (condensed *Tree, origin []int32) {
	stand := make([]int32, t.Len()) // the node of the new tree that is or is above each node
	condensed = &Tree{}
	for i, p := range t.Parent {
		up := int32(-1)
		if p >= 0 {
			up = stand[p]
		}
		if c.Keeps(int(level[i])) {
			stand[i] = int32(len(origin))
			condensed.Parent = append(condensed.Parent, up)
			origin = append(origin, int32(i))
		} else {
			stand[i] = up
		}
	}
	return condensed, origin
}

// Preorder reorders a tree so that all below a node follows it. Siblings keep their order, or that to which
// sort brings them; it may be nil. In a condensed tree this keeps the grandchildren of one condensed node
// together. order[k] is the node of t at place k. O(nodes), and the time of sort.
func (t *Tree) Preorder(sort func(parent int32, children []int32)) (ordered *Tree, order []int32) {
	n := t.Len()
	// of each node: nodes in its subtree, place of its children in list
	size, first := make([]int32, n), make([]int32, n+1)
	for i := n - 1; i >= 0; i-- {
		size[i]++
		if p := t.Parent[i]; p >= 0 {
			size[p] += size[i]
			first[p+1]++
		}
	}
	for i := range n {
		first[i+1] += first[i]
	}
	list, filled := make([]int32, max(n-1, 0)), make([]int32, n)
	for i, p := range t.Parent {
		if p >= 0 {
			list[first[p]+filled[p]] = int32(i)
			filled[p]++
		}
	}
	place := filled // of each node; what it counted is not needed any more
	order = make([]int32, n)
	ordered = &Tree{Parent: make([]int32, n)}
	if n > 0 {
		place[0], ordered.Parent[0] = 0, -1
	}
	for i := range int32(n) {
		children := list[first[i]:first[i+1]]
		if sort != nil && len(children) > 1 {
			sort(i, children)
		}
		at := place[i] + 1
		for _, c := range children {
			place[c], order[at], ordered.Parent[at] = at, c, place[i]
			at += size[c]
		}
	}
	return ordered, order
}

// Subtree returns the tree below root, levels starting anew. origin[i] is the node
// of t that node i of the new tree is.
func (t *Tree) Subtree(root int32) (sub *Tree, origin []int32) {
	inside := make([]int32, t.Len()) // place in the new tree + 1; 0: outside
	sub = &Tree{}
	for i := int(root); i < t.Len(); i++ {
		p, up := t.Parent[i], int32(-1)
		if i != int(root) {
			if p < root || inside[p] == 0 {
				continue
			}
			up = inside[p] - 1
		}
		sub.Parent = append(sub.Parent, up)
		origin = append(origin, int32(i))
		inside[i] = int32(len(origin))
	}
	return sub, origin
}

// A Layout is the place of every node: its weight, and the sector of the circle
// that it was given, in degrees.
type Layout struct {
	Tree   *Tree
	Level  []int32
	Height int
	Weight []float64 // whole numbers
	Start  []float64
	Alloc  []float64
}

// NewLayout weighs from the leaves up (weight = height of the node + weights of its
// children) and shares sectors from the root down.
func NewLayout(t *Tree) *Layout {
	n := t.Len()
	l := &Layout{Tree: t, Weight: make([]float64, n), Start: make([]float64, n), Alloc: make([]float64, n)}
	l.Level, l.Height = t.Levels()
	children := make([]float64, n) // weight of all children
	for i := n - 1; i >= 0; i-- {
		l.Weight[i] = children[i] + float64(l.Height-int(l.Level[i]))
		if p := t.Parent[i]; p >= 0 {
			children[p] += l.Weight[i]
		}
	}
	// The share of children before a sibling is added up in weights, which are
	// whole, so that sectors meet exactly at the parent's end.
	before := make([]float64, n)
	for i, p := range t.Parent {
		if p < 0 {
			l.Alloc[i] = 360
			continue
		}
		l.Start[i] = l.Start[p] + before[p]/children[p]*l.Alloc[p]
		l.Alloc[i] = l.Weight[i] / children[p] * l.Alloc[p]
		before[p] += l.Weight[i]
	}
	return l
}

// At is the place of node i with rings d apart, the root at 0, 0, y downwards.
func (l *Layout) At(i int, d float64) (x, y float64) {
	sin, cos := math.Sincos((l.Start[i] + l.Alloc[i]/2) * math.Pi / 180)
	r := d * float64(l.Level[i])
	return r * cos, r * sin
}

// Arc is the length of node i's sector on its own circle.
func (l *Layout) Arc(i int, d float64) float64 {
	return d * float64(l.Level[i]) * l.Alloc[i] * math.Pi / 180
}

// Drawn marks the nodes that are drawn: a node whose sector is under a pixel is, the nodes below it are
// not. A sector is under a pixel where it is nowhere a pixel wide, not even on the outermost circle:
// measured on the node's own circle, trees that are wide near the root would end there, as the spokes of
// the paper's figure 19 do not. The root never is too small.
func (l *Layout) Drawn(d float64) (drawn []bool, count int) {
	drawn = make([]bool, l.Tree.Len())
	radius := d * float64(l.Height-1) * math.Pi / 180
	for i, p := range l.Tree.Parent {
		if p < 0 || drawn[p] && (l.Level[p] == 0 || radius*l.Alloc[p] >= 1) {
			drawn[i] = true
			count++
		}
	}
	return drawn, count
}
