// Package kaleidoscope draws the whole invocation tree as one radial picture: a
// program's signature. Flame graphs merge calls; this shows every call, painted
// by who ran it, what it was, or when.
//
// After Tick, Park: Kaleidescope Visualization of Fine-Grain Parallel Programs.
package kaleidoscope

import (
	"context"
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "kaleidoscope",
	Title:   "Kaleidoscope",
	Paper:   "Tick, Park: Kaleidescope Visualization of Fine-Grain Parallel Programs",
	Summary: "the whole invocation tree as one radial picture: by location, region or time",
	HowToRead: "The root is in the middle; a call lies on the ring of its depth, and its calls share its sector by weight. A call and its calls form one filled shape. " +
		"Painted by location, even colours mean an even load; painted by time, one colour is one moment. The same time colour with different location colours is work in parallel, " +
		"the same with the same is work in sequence. Where there are more levels than rings, levels are condensed; what is under a pixel is not drawn; both are said.",
	Needs:   view.Needs{Intervals: true},
	Options: view.Use("ring", "paint", "order", "root", "all", "paper"),
	Compute: compute,
}

// leastRing is the smallest distance of rings chosen by the view itself.
const leastRing = 4

type result struct {
	request *view.Request
	calls   *invocation.Calls
	// of the tree as it is drawn
	origin     []int32 // node of calls
	layout     *invocation.Layout
	height     int // of the tree before condensing
	ring       int
	hmax       int
	condensing invocation.Condensing
	drawn      []bool
	count      int // of drawn
	notes      []string
	places     []place // of the scene drawn last
	scale      float64
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q}
	if q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "no time is selected")
	}
	var err error
	if r.calls, err = r.collect(ctx); err != nil {
		return nil, err
	}
	if n := len(r.calls.Calls); n == 0 || n == 1 && r.calls.Virtual {
		return nil, view.Empty("choose other locations or a longer time", "no call begins in the selection")
	}
	tree := r.calls.Tree
	whole := make([]int32, tree.Len())
	for i := range whole {
		whole[i] = int32(i)
	}
	root := q.Values.Text("root")
	if root != "" {
		id, err := strconv.Atoi(root)
		if err != nil || id < 0 || id >= tree.Len() {
			return nil, fmt.Errorf("--root %q: want the id of a node, 0 to %d", root, tree.Len()-1)
		}
		tree, whole = tree.Subtree(int32(id))
	}
	return r, r.arrange(tree, whole, root != "")
}

// arrange orders, condenses and lays out. A subtree, and all of a tree where all is
// asked for, is never condensed in levels: it gets as many rings as it has.
func (r *result) arrange(tree *invocation.Tree, origin []int32, subtree bool) error {
	switch r.request.Values.Text("order") {
	case "", "time":
	case "family":
		ordered, order := tree.Families()
		next := make([]int32, len(order))
		for k, i := range order {
			next[k] = origin[i]
		}
		tree, origin = ordered, next
	default:
		return fmt.Errorf("--order %q: want time or family", r.request.Values.Text("order"))
	}
	level, height := tree.Levels()
	r.height = height
	width := min(r.request.Size.Width, r.request.Size.Height)
	r.ring = r.request.Values.Integer("ring")
	if r.ring <= 0 {
		r.ring = max(width/(2*max(height, 1)), leastRing)
		r.ring = min(r.ring, max(width/4, 1))
	}
	r.hmax = invocation.HMax(width, r.ring)
	if !subtree && !r.request.Values.Switch("all") {
		r.condensing = invocation.Condense(height, r.hmax)
	}
	if r.condensing.C0 > 0 {
		condensed, kept := r.condensing.Apply(tree, level)
		next := make([]int32, len(kept))
		for k, i := range kept {
			next[k] = origin[i]
		}
		r.notes = append(r.notes, fmt.Sprintf("%d levels on %d rings: %s calls of condensed levels are not drawn", height, r.hmax, view.Thousands(int64(tree.Len()-condensed.Len()))))
		tree, origin = condensed, next
	}
	r.origin = origin
	r.layout = invocation.NewLayout(tree)
	r.drawn, r.count = r.visible(float64(r.ring))
	r.widen(width)
	if hidden := tree.Len() - r.count; hidden > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s calls below sectors of less than a pixel are not drawn", view.Thousands(int64(hidden))))
	}
	return nil
}

// widen gives rings that stay empty to those that do not, where the view chooses
// their distance itself.
func (r *result) widen(width int) {
	if r.request.Values.Integer("ring") > 0 {
		return
	}
	used := 0
	for i, is := range r.drawn {
		if is {
			used = max(used, int(r.layout.Level[i])+1)
		}
	}
	if ring := min(width/(2*max(used, 1)), max(width/4, 1)); ring > r.ring {
		r.ring = ring
	}
}

// visible marks what is drawn: by the paper's rule where that is asked for, else by
// the milder one, so that wide trees do not end at their first ring.
func (r *result) visible(d float64) ([]bool, int) {
	if r.request.Values.Switch("paper") {
		return r.layout.Drawn(d)
	}
	return r.layout.DrawnOutside(d)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }

// call of a node as drawn.
func (r *result) call(i int) *invocation.Call { return &r.calls.Calls[r.origin[i]] }
