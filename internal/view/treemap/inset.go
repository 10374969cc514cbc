package treemap

import (
	"cmp"
	"slices"
)

// An inset shows a place in large that is too small in the picture itself.
type inset struct {
	node int32
	from box // where it lies
	to   box // where it is drawn
	cell int // of the drawing, the first inside
}

const (
	mostInsets  = 3
	insetShare  = 0.24 // of the picture's width
	leastInsetW = 150
	leastInsetH = 110
	insetGap    = 10
)

// legible is the area in pixels that a part needs to be read.
const legible = 150

// leastDiffer is the share of all loss that is between the parts of a place which is
// worth an inset.
const leastDiffer = 1e-5

// addInsets finds places whose parts differ and are too small to be read, and lays the
// picture out anew with those that differ most next to it in large: whether a machine
// among ten thousand is odd is not a matter of its area.
func (r *drawing) addInsets(whole box) {
	wide := min(max(whole.w*insetShare, leastInsetW), 420)
	if whole.w-wide < 1.5*wide || whole.h < leastInsetH+2*insetGap || len(r.small()) == 0 {
		return
	}
	r.cells = nil
	r.place(0, box{whole.x, whole.y, whole.w - wide - 2*insetGap, whole.h})
	list := r.small()
	most := min(mostInsets, int(whole.h/(leastInsetH+insetGap)), len(list))
	list = list[:most]
	// From top to bottom as they lie, so that the lines do not cross.
	slices.SortFunc(list, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.at.y, b.at.y), cmp.Compare(b.at.x, a.at.x), cmp.Compare(a.node, b.node))
	})
	high := min((whole.h-insetGap*float64(most-1))/float64(max(most, 1)), 1.5*wide)
	y := whole.y
	for _, c := range list {
		to := box{whole.x + whole.w - wide, y, wide, high}
		r.insets = append(r.insets, inset{c.node, c.at, to, len(r.cells)})
		r.place(c.node, to)
		y += high + insetGap
	}
}

// small lists the places that are open in the cut, differ inside and have no space to
// show it, the largest difference first, each where it or its holder is drawn.
func (r *drawing) small() (out []cell) {
	t := r.tree
	at := make(map[int32]cell, len(r.cells))
	for _, c := range r.cells {
		at[c.node] = c
	}
	for _, i := range r.differing(16) {
		if r.share(r.between[i]) < leastDiffer || !r.open(i) {
			continue
		}
		parts := 0.0
		for c := i + 1; c <= t.Last[i]; c = t.Last[c] + 1 {
			parts++
		}
		holder := i
		for {
			if _, ok := at[holder]; ok || holder == 0 {
				break
			}
			holder = t.Parent[holder]
		}
		if c := at[holder]; holder != i || c.look == unreadable || c.at.w*c.at.h < legible*parts {
			c.node = i
			out = append(out, c)
		}
	}
	// A cell that holds another one would show it small again.
	return slices.DeleteFunc(slices.Clone(out), func(c cell) bool {
		return slices.ContainsFunc(out, func(o cell) bool { return o.node > c.node && o.node <= t.Last[c.node] })
	})
}

// open reports whether a node is drawn in parts.
func (r *drawing) open(i int32) bool {
	if r.tree.Leaf(int(i)) {
		return false
	}
	for ; i >= 0; i = r.tree.Parent[i] {
		if r.inCut[i] {
			return false
		}
	}
	return true
}

// hidden counts the boxes whose parts have no room, and the parts that are shown nowhere.
func (r *drawing) hidden() (boxes, parts int) {
	for k, c := range r.cells {
		if c.look != unreadable {
			continue
		}
		n := r.partsBelow(c.node)
		for _, in := range r.insets {
			if k < r.insets[0].cell && in.node >= c.node && in.node <= r.tree.Last[c.node] {
				n -= r.partsBelow(in.node)
			}
		}
		if n > 0 {
			boxes, parts = boxes+1, parts+n
		}
	}
	return boxes, parts
}
