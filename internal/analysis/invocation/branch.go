package invocation

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A branch is a child of the root that is walked into by itself, on any core.
type branch struct {
	node, end    int32
	start, alloc float64
	above        int32 // the item of the root
	items        int   // how many of the root and its children come before
	found        walker
}

// ofRoot is, in a branch, the item above its first node.
const ofRoot = -1

// join walks into the branches, and puts what is found in its place.
func (w *walker) join() {
	if len(w.branches) == 0 || w.full {
		return
	}
	_ = parallel.For(context.Background(), len(w.branches), func(k int) { // each of which looks whether ctx has ended
		b := &w.branches[k]
		b.found = walker{Outline: w.Outline, Sight: w.Sight, unit: w.unit, most: w.most, angles: w.angles, ctx: w.ctx}
		b.found.walk(b.node, b.end, b.start, b.alloc, ofRoot)
	})
	n := len(w.items)
	for k := range w.branches {
		n += len(w.branches[k].found.items)
		w.full = w.full || w.branches[k].found.full
	}
	if w.full = w.full || n > w.most; w.full {
		return
	}
	items, done := make([]Item, 0, n), 0
	for k := range w.branches {
		b := &w.branches[k]
		items = append(items, w.items[done:b.items]...)
		done = b.items
		first := int32(len(items))
		within := func(item int32) int32 {
			if item == ofRoot {
				return b.above
			}
			return first + item
		}
		for _, it := range b.found.items {
			it.Parent = within(it.Parent)
			items = append(items, it)
		}
		for _, s := range b.found.skipped {
			w.skipped = append(w.skipped, Skip{s.Place, within(s.Item)})
		}
		w.steps += b.found.steps
	}
	w.items = slices.Concat(items, w.items[done:])
}
