package kaleidoscope_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// shapesOf are the marks of calls, those below others first.
func shapesOf(s *scene.Scene) (marks []scene.Mark) {
	for _, l := range s.Layers {
		if l.Name == "grounds" || l.Name == "families" {
			marks = append(marks, l.Marks...)
		}
	}
	return marks
}

// topmost is the colour drawn last at a place, found from the marks alone; none
// where an edge is near, whose pixels may be of either side.
func topmost(s *scene.Scene, x, y float32) (colour scene.Colour, ok bool) {
	colour = scene.None
	for _, m := range shapesOf(s) {
		switch m := m.(type) {
		case *scene.Polygon:
			for i := range m.Len() {
				xs, ys := m.Corners(i)
				if !meets(xs, x, 2) || !meets(ys, y, 2) {
					continue
				}
				in := false
				for a, b := 0, len(xs)-1; a < len(xs); b, a = a, a+1 {
					if edgeDistance(xs[a], ys[a], xs[b], ys[b], x, y) < 1.5 {
						return colour, false
					}
					if (ys[a] > y) != (ys[b] > y) && x < (xs[b]-xs[a])*(y-ys[a])/(ys[b]-ys[a])+xs[a] {
						in = !in
					}
				}
				if in {
					colour = m.Fill[i]
				}
			}
		case *scene.Line:
			for i := range m.Len() {
				if edgeDistance(m.X0[i], m.Y0[i], m.X1[i], m.Y1[i], x, y) < 5 {
					return colour, false
				}
			}
		case *scene.Point:
			for i := range m.Len() {
				if math.Hypot(float64(m.X[i]-x), float64(m.Y[i]-y)) < 5 {
					return colour, false
				}
			}
		}
	}
	return colour, colour != scene.None
}

// meets tells whether a value lies between corners, or within slack of them.
func meets(corners []float32, v, slack float32) bool {
	return v >= slices.Min(corners)-slack && v <= slices.Max(corners)+slack
}

func edgeDistance(x1, y1, x2, y2, x, y float32) float64 {
	dx, dy := float64(x2-x1), float64(y2-y1)
	share := 0.0
	if l := dx*dx + dy*dy; l > 0 {
		share = min(max((float64(x-x1)*dx+float64(y-y1)*dy)/l, 0), 1)
	}
	return math.Hypot(float64(x1)+share*dx-float64(x), float64(y1)+share*dy-float64(y))
}

// TestHoveringShowsTheDrawnValues: everywhere inside a shape or a band the call that is
// picked has the colour that is seen there. By the nearest corner 28 of 39 had not.
func TestHoveringShowsTheDrawnValues(t *testing.T) {
	for name, c := range map[string]viewtest.Case{"quicksort": {Reader: quicksort}, "pascal, closer": {Reader: fromDemo("pascal"), Options: map[string][]string{"zoom": {"6,-0.4,-0.4"}}}, "fan": {Trace: fan(15)}, "calls": {Trace: calls}} {
		size := scene.Size{Width: 600, Height: 600}
		c.Size = size
		if c.Options == nil {
			c.Options = map[string][]string{}
		}
		c.Options["paint"] = []string{"region"}
		r := c.Compute(t, kaleidoscope.View, c.Open(t))
		s := r.Scene(size)
		colour := map[string]scene.Colour{}
		for _, e := range s.Legend {
			colour[e.Label] = e.Colour
		}
		tried := 0
		for y := 1; y < size.Height; y += 6 {
			for x := 1; x < size.Width; x += 6 {
				want, ok := topmost(s, float32(x), float32(y))
				if !ok {
					continue
				}
				tried++
				f, ok, _ := view.PickAt(r, s, float64(x), float64(y))
				if got := colour[f.Title]; !ok || got != want && !(f.Title == "all" && want == scene.UIAggregate) {
					t.Fatalf("%s: at %d, %d colour %d is drawn and %q of colour %d is picked", name, x, y, want, f.Title, got)
				}
			}
		}
		if tried < 25 {
			t.Errorf("%s: only %d places were tried", name, tried)
		}
	}
}

// TestTheNearestNodeIsFoundFromItsRing: where nothing is drawn, the rings nearest to
// the cursor give the same node as all nodes do.
func TestTheNearestNodeIsFoundFromItsRing(t *testing.T) {
	size := scene.Size{Width: 500, Height: 500}
	c := viewtest.Case{Reader: quicksort, Size: size, Options: map[string][]string{"paper": {"true"}}}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(size)
	nodes := r.Data().(kaleidoscope.Data).Nodes
	tried := 0
	for y := 0; y < 500; y += 7 {
		for x := 0; x < 500; x += 7 {
			best, near := int32(-1), 24.0
			for _, n := range nodes {
				if d := math.Hypot(250+n.X-float64(x), 250+n.Y-float64(y)); d < near {
					best, near = n.ID, d
				}
			}
			f, ok, _ := view.PickAt(r, s, float64(x), float64(y))
			if best < 0 && !ok {
				continue
			}
			if s := r.Scene(size); overMark(s, float32(x), float32(y)) {
				continue
			}
			tried++
			if got := line(f.Lines, "node"); ok != (best >= 0) || ok && got != fmt.Sprint(best) {
				t.Fatalf("at %d, %d node %s is picked, want %d", x, y, got, best)
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d places were tried", tried)
	}
}

// overMark tells whether something is drawn at a place, or within five pixels of it.
func overMark(s *scene.Scene, x, y float32) bool {
	_, inside := topmost(s, x, y)
	if inside {
		return true
	}
	for _, m := range shapesOf(s) {
		switch m := m.(type) {
		case *scene.Polygon:
			for i := range m.Len() {
				xs, ys := m.Corners(i)
				for a, b := 0, len(xs)-1; a < len(xs); b, a = a, a+1 {
					if edgeDistance(xs[a], ys[a], xs[b], ys[b], x, y) < 5 {
						return true
					}
				}
			}
		case *scene.Line:
			for i := range m.Len() {
				if edgeDistance(m.X0[i], m.Y0[i], m.X1[i], m.Y1[i], x, y) < 5 {
					return true
				}
			}
		case *scene.Point:
			for i := range m.Len() {
				if math.Hypot(float64(m.X[i]-x), float64(m.Y[i]-y)) < 5 {
					return true
				}
			}
		}
	}
	return false
}
