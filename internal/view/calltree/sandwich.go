package calltree

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// around returns a tree whose root is one region: its callees come first, and after them its
// callers. In a recursion the outermost call counts, so that the root has the region's
// inclusive time; the time of a caller is the region's time when called through it. Takes
// O(nodes × depth).
func around(ctx context.Context, r *result, t *tree, region trace.RegionID) (*tree, error) {
	if t.how != trace.JoinSum {
		return nil,
			fmt.Errorf("--direction sandwich adds up over callers, and values of %s do not add up", r.metric.Name)
	}
	below := &tree{nodes: []node{{parent: -1, region: region}}, locations: t.locations, how: t.how}
	above := &tree{nodes: []node{{parent: -1, region: region}}, locations: t.locations, how: t.how}
	down, up := newGatherer(below), newGatherer(above)
	place := make([]int32, len(t.nodes)) // in below; -1: not below the region
	var err error
	for i := range t.nodes {
		if err := stopped(ctx, i); err != nil {
			return nil, err
		}
		n := &t.nodes[i]
		place[i] = -1
		switch p := n.parent; {
		case p >= 0 && place[p] >= 0:
			if place[i], err = down.child(ctx, place[p], n.region); err != nil {
				return nil, err
			}
		case n.region == region:
			place[i] = 0
			up.add(0, n)
			at := int32(0)
			for c, k := n.parent, 0; c >= 0 && k < mostCallers; c, k = t.nodes[c].parent, k+1 {
				if at, err = up.child(ctx, at, t.nodes[c].region); err != nil {
					return nil, err
				}
				up.add(at, n)
			}
		}
		if place[i] >= 0 {
			down.add(place[i], n)
		}
	}
	for _, x := range []*tree{below, above} {
		if err := x.sort(ctx, r.regions, r.weight); err != nil {
			return nil, err
		}
	}
	r.callers = len(below.nodes)
	out := below
	out.whole, out.notes = t.whole, t.notes
	for _, n := range above.nodes[1:] { // after the root, which both have
		if n.parent > 0 {
			n.parent += int32(r.callers) - 1
		}
		if _, err := out.add(ctx, n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// middle is the region that --root names, by its name or as the end of a path; else the
// first one that is selected, or the one with most time of its own.
func middle(r *result, t *tree, text string) (trace.RegionID, error) {
	if text != "" {
		words := strings.Split(text, arrow)
		last := words[len(words)-1]
		for i := range t.nodes {
			if r.is(&t.nodes[i], last) {
				return t.nodes[i].region, nil
			}
		}
		if id, err := strconv.Atoi(last); err == nil && id >= 0 && id < len(t.nodes) {
			return t.nodes[id].region, nil
		}
		return 0, view.Empty("choose more, or another region", "%q is not called in the selection", last)
	}
	own := map[trace.RegionID]float64{}
	for i := range t.nodes {
		own[t.nodes[i].region] += t.nodes[i].exclusive
	}
	for _, id := range r.request.Selection.Regions {
		if _, ok := own[id]; ok {
			return id, nil
		}
	}
	best := t.nodes[0].region
	for i := range t.nodes { // in order, so that equal ones do not change places
		if g := t.nodes[i].region; own[g] > own[best] {
			best = g
		}
	}
	return best, nil
}

// isCaller reports whether a node of a sandwich is above its root.
func (r *result) isCaller(i int) bool { return r.callers > 0 && i >= r.callers }

// sandwichLevels returns the number of levels above and below the region, and the height of each.
func (r *drawing) sandwichLevels(room float32) (up, down int, height float32) {
	for i := range r.tree.nodes {
		if d := int(r.tree.nodes[i].depth); r.isCaller(i) {
			up = max(up, d)
		} else {
			down = max(down, d)
		}
	}
	if asked := r.request.Values.Integer("depth"); asked > 0 {
		up, down = min(up, asked), min(down, asked)
	}
	height = min(max(room/float32(up+1+down), leastLevel), highest(up+1+down))
	levels := max(int(room/height)-1, 0)
	if up+down > levels { // the shorter side has all of its own, up to a half
		up, down = min(up, max(levels/2, levels-down)), min(down, max(levels-levels/2, levels-up))
	}
	return up, down, height
}

// sandwichHeight is the part of the available height that it takes.
func (r *drawing) sandwichHeight(room float32) float32 {
	up, down, height := r.sandwichLevels(room)
	return min(room, float32(up+1+down)*height)
}

// sandwich draws the region as wide as the picture, below it its callees, and above it
// its callers.
func (r *drawing) sandwich(f scene.Frame) {
	whole := r.weight(&r.tree.nodes[0])
	up, down, height := r.sandwichLevels(f.H)
	last, y := r.last(), f.Y+float32(up)*height
	r.levels = up
	r.row(int32(r.callers), int32(len(r.tree.nodes))-1, f.X, 0, f.W, height, whole, 0, last)
	for i := range r.boxes {
		r.boxes[i].y = y - height - r.boxes[i].y
	}
	r.boxes = append(r.boxes, box{x: f.X, y: y, w: f.W, h: height, count: 1})
	r.levels = down
	r.row(1, int32(r.callers)-1, f.X, y+height, f.W, height, whole, 0, last)
	r.levels = up + 1 + down
}
