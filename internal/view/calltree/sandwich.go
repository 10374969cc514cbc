package calltree

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// sandwich makes the tree of one region with its callees and callers.
func sandwich(ctx context.Context, q *view.Request, t *pathtree.Tree, metric runfacts.MetricChoice,
	weight func(*pathtree.Node) float64) (*pathtree.Tree, int, error) {
	region, err := middle(t, q.Selection.Regions, q.Values.Text("root"))
	if err != nil {
		return nil, 0, err
	}
	if t.Join != trace.JoinSum {
		return nil, 0,
			fmt.Errorf("--direction sandwich adds up over callers, and values of %s do not add up", metric.Name)
	}
	return t.Around(ctx, region, weight)
}

// middle is the region that --root names, by its name or as the end of a path; else the
// first one that is selected, or the one with most time of its own.
func middle(t *pathtree.Tree, selected []trace.RegionID, text string) (trace.RegionID, error) {
	if text != "" {
		words := strings.Split(text, arrow)
		last := words[len(words)-1]
		for i := range t.Nodes {
			if is(t, &t.Nodes[i], last) {
				return t.Nodes[i].Region, nil
			}
		}
		if id, err := strconv.Atoi(last); err == nil && id >= 0 && id < len(t.Nodes) {
			return t.Nodes[id].Region, nil
		}
		return 0, view.Empty("choose more, or another region", "%q is not called in the selection", last)
	}
	own := map[trace.RegionID]float64{}
	for i := range t.Nodes {
		own[t.Nodes[i].Region] += t.Nodes[i].Exclusive
	}
	for _, id := range selected {
		if _, ok := own[id]; ok {
			return id, nil
		}
	}
	best := t.Nodes[0].Region
	for i := range t.Nodes { // in order, so that equal ones do not change places
		if g := t.Nodes[i].Region; own[g] > own[best] {
			best = g
		}
	}
	return best, nil
}

// isCaller reports whether a node of a sandwich is above its root.
func (r *result) isCaller(i int) bool { return r.callers > 0 && i >= r.callers }

// sandwichLevels returns the number of levels above and below the region, and the height of each.
func (r *drawing) sandwichLevels(room float32) (up, down int, height float32) {
	for i := range r.tree.Nodes {
		if d := int(r.tree.Nodes[i].Depth); r.isCaller(i) {
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

// sandwichBoxes draws the region as wide as the picture, below it its callees, and above it
// its callers.
func (r *drawing) sandwichBoxes(f scene.Frame) {
	whole := r.weight(&r.tree.Nodes[0])
	up, down, height := r.sandwichLevels(f.H)
	last, y := r.tree.Last(), f.Y+float32(up)*height
	r.levels = up
	r.row(int32(r.callers), int32(len(r.tree.Nodes))-1, f.X, 0, f.W, height, whole, 0, last)
	for i := range r.boxes {
		r.boxes[i].y = y - height - r.boxes[i].y
	}
	r.boxes = append(r.boxes, box{x: f.X, y: y, w: f.W, h: height, count: 1})
	r.levels = down
	r.row(1, int32(r.callers)-1, f.X, y+height, f.W, height, whole, 0, last)
	r.levels = up + 1 + down
}
