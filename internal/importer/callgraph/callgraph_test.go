package callgraph

import (
	"math"
	"strconv"
	"testing"
)

// A function that two others call: what it calls is shared out by what they took, and all is there once.
func TestSharedCalleesAreSharedOut(t *testing.T) {
	g := New()
	a, b, c, d := g.Function("a", "", ""), g.Function("b", "", ""), g.Function("c", "", ""), g.Function("d", "", "")
	a.Self, b.Self, c.Self, d.Self = []float64{10}, []float64{20}, []float64{40}, []float64{100}
	g.Call(a, c, 1, []float64{105})
	g.Call(b, c, 3, []float64{35})
	g.Call(c, d, 8, []float64{100})
	g.finish()
	if got := c.inclusive[0]; got != 140 {
		t.Errorf("inclusive cost of c is %v, want 140", got)
	}
	forest := g.paths()
	got := map[string]float64{}
	for _, n := range forest.nodes {
		name := ""
		for up := n; up != nil; up = up.parent {
			name = up.f.Name + name
		}
		got[name] = n.self[0]
	}
	for name, want := range map[string]float64{"a": 10, "b": 20, "ac": 30, "bc": 10, "acd": 75, "bcd": 25} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if len(got) != 6 || forest.shared != 1 {
		t.Errorf("%v, %d shared", got, forest.shared)
	}
}

// Paths are many where functions call each other in all ways; the smallest are put together and nothing is lost.
func TestPathsAreBounded(t *testing.T) {
	g := New()
	var layers [16][6]*Function
	for i := range layers {
		for k := range layers[i] {
			layers[i][k] = g.Function(strconv.Itoa(i)+"."+strconv.Itoa(k), "", "")
			layers[i][k].Self = []float64{1}
		}
	}
	for i := len(layers) - 2; i >= 0; i-- {
		cost := float64(len(layers)-1-i) / 6 * 6 / 6
		for _, from := range layers[i] {
			for _, to := range layers[i+1] {
				g.Call(from, to, 1, []float64{cost})
			}
		}
	}
	g.finish()
	forest := g.paths()
	sum := 0.0
	for _, n := range forest.nodes {
		sum += n.self[0]
	}
	if len(forest.nodes) > mostPaths*2 || forest.cut == 0 || math.Abs(sum-96) > 1e-6 {
		t.Errorf("%d paths, %d not followed, %v in all; want 96", len(forest.nodes), forest.cut, sum)
	}
}
