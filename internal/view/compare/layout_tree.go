package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/words"
)

// leastPitch is the height of a level with the name of its boxes.
const leastPitch = 14

// drawTree draws the call tree from the top down. A box is as wide as the longer of both
// sides; its upper half is filled as wide as A is, its lower as B. Grey where nothing at
// it or below it is certain.
func (r *result) drawTree(s *scene.Scene, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	children := make([][]int32, len(r.Nodes)+1)
	for n := range r.Nodes {
		up := r.Tree.Nodes[n].Parent
		if up < 0 {
			up = int32(len(r.Nodes))
		}
		children[up] = append(children[up], int32(n))
	}
	// wide is the room of a box: its own longer side, or that of all below it.
	wide, depth := make([]float64, len(r.Nodes)), make([]int, len(r.Nodes))
	changed := make([]float64, len(r.Nodes)) // known changes at it and below
	deepest := 0
	for n := len(r.Nodes) - 1; n >= 0; n-- {
		q := r.Nodes[n]
		below := 0.0
		for _, c := range children[n] {
			below += wide[c]
			changed[n] += changed[c]
		}
		wide[n] = max(q.Inclusive[0], q.Inclusive[1], below)
		if q.Verdict == compare.Changed {
			changed[n] += q.Difference()
		}
	}
	total := 0.0
	for _, c := range children[len(r.Nodes)] {
		total += wide[c]
	}
	if total == 0 {
		drawWhyEmpty(s, top, "no call path with time")
		return
	}
	f := scene.Frame{Name: "tree", X: edge, Y: top, W: max(w-2*edge, 1), H: max(h-top-scene.AxisHeight-4, 1),
		XScale: scene.Scale{Kind: "linear", End: total, Label: r.perWords()}}
	for n := range r.Nodes {
		if up := r.Tree.Nodes[n].Parent; up >= 0 {
			depth[n] = depth[up] + 1
		}
		if wide[n]/total*float64(f.W) >= 1 {
			deepest = max(deepest, depth[n])
		}
	}
	// Levels without room for names say nothing: the deepest are left out.
	levels := min(deepest+1, max(int(f.H/leastPitch), 1))
	if left := deepest + 1 - levels; left > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s not drawn for want of room",
			words.Count(left, "deeper level")+" "+words.Plural(left, "is", "are")))
	}
	pitch := min(f.H/float32(levels), 34)
	f.H = pitch * float32(levels)
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: r.axisUnit(), NoGrid: true})
	boxes, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	one := len(r.Runs[0]) == 1 && len(r.Runs[1]) == 1
	var place func(of []int32, at float64)
	place = func(of []int32, at float64) {
		slices.SortStableFunc(of, func(a, b int32) int { return cmp.Compare(wide[b], wide[a]) })
		for _, n := range of {
			x, end := f.XPixel(at), f.XPixel(at+wide[n])
			if end-x < 1 {
				break
			}
			q := r.Nodes[n]
			y := f.Y + float32(depth[n])*pitch
			colour := scene.UIAggregate
			switch {
			case changed[n] > 0:
				colour = scene.Ramp("diverging", 0.85)
			case changed[n] < 0:
				colour = scene.Ramp("diverging", 0.15)
			}
			item := s.Item(itemNode, int(n))
			boxes.Add(x, y+1, max(end-x-1, 0.5), pitch-2, scene.UIEmpty)
			boxes.SetItem(item)
			for side := range 2 {
				boxes.Add(x, y+1+float32(side)*(pitch-2)/2, max(float32(q.Inclusive[side]/total)*f.W-1, 0.5),
					(pitch-2)/2-0.5, colour)
				boxes.SetItem(item)
			}
			if end-x > 30 && pitch >= leastPitch {
				if label := scene.Shorten(label(q), end-x-6, scene.TextSize); label != "…" {
					text.Add(x+3, y+pitch/2+4, label, scene.InkFor(colour, 0), scene.Start)
				}
			}
			if depth[n]+1 < levels {
				place(children[n], at)
			}
			at += wide[n]
		}
	}
	place(children[len(r.Nodes)], 0)
	s.AddLayer("boxes", frame, boxes)
	s.AddLayer("names", -1, text)
	if !one {
		s.Legend = append(s.Legend, plot.Key("longer in B", scene.Ramp("diverging", 0.85)),
			plot.Key("shorter in B", scene.Ramp("diverging", 0.15)))
	}
	s.Legend = append(s.Legend, plot.Key("not certain: A above, B below", scene.UIAggregate),
		plot.Key("less than the other", scene.UIEmpty))
}
