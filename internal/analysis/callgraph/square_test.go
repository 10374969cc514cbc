package callgraph

import (
	"math"
	"testing"
)

// cell gives the outline of a ring in slice k of n: the outer arc, then the inner
// one backwards; the innermost ring ends in the centre.
func cell(k, n, ring int) []Point {
	arc := Arc(nil, k, k, n)
	out := make([]Point, 0, 2*len(arc))
	for _, p := range arc {
		out = append(out, p.Shrink(RingScale(ring+1)))
	}
	if ring == 0 {
		return append(out, Point{0.5, 0.5})
	}
	for i := len(arc) - 1; i >= 0; i-- {
		out = append(out, arc[i].Shrink(RingScale(ring)))
	}
	return out
}

func samePoints(a []Point, b [][2]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i].X-b[i][0]) > 1e-12 || math.Abs(a[i].Y-b[i][1]) > 1e-12 {
			return false
		}
	}
	return true
}

func area(p []Point) (sum float64) {
	for i := range p {
		q := p[(i+1)%len(p)]
		sum += p[i].X*q.Y - q.X*p[i].Y
	}
	return math.Abs(sum) / 2
}

func TestGeometryOfTheOracle(t *testing.T) {
	g := load(t).Geometry
	for i, s := range g.Scales {
		if !near(RingScale(i), s) {
			t.Errorf("scale %d: %v, want %v", i, RingScale(i), s)
		}
	}
	for _, c := range g.Slices {
		for i, k := range c.Of {
			if got := Arc(nil, k, k, c.N); !samePoints(got, c.Outline[i]) {
				t.Errorf("slice %d of %d: %v, want %v", k, c.N, got, c.Outline[i])
			}
		}
		for k := range c.N {
			for ring := range 5 {
				if got, want := area(cell(k, c.N, ring)), c.Area[0][ring]; math.Abs(got-want) > 1e-12 {
					t.Errorf("slice %d of %d, ring %d: area %v, want %v", k, c.N, ring, got, want)
				}
			}
		}
	}
	for ring := range 5 {
		if got := cell(0, 4, ring); !samePoints(got, g.N4[ring]) {
			t.Errorf("n = 4, ring %d: %v, want %v", ring, got, g.N4[ring])
		}
		if got := cell(1, 3, ring); !samePoints(got, g.N3[ring]) {
			t.Errorf("n = 3, ring %d: %v, want %v", ring, got, g.N3[ring])
		}
	}
	for _, c := range g.Locate {
		if slice, ring := Locate(Point{c.X, c.Y}, c.N); [2]int{slice, ring} != c.At {
			t.Errorf("(%v, %v) of %d: %d, %d, want %v", c.X, c.Y, c.N, slice, ring, c.At)
		}
	}
}

// TestLocateFindsWhatCellDraws: counted over a grid of points, every cell has the
// area its outline has.
func TestLocateFindsWhatCellDraws(t *testing.T) {
	const grid = 1000
	for _, n := range []int{1, 3, 4, 7, 16} {
		count := map[[2]int]float64{}
		for x := range grid {
			for y := range grid {
				slice, ring := Locate(Point{(float64(x) + 0.5) / grid, (float64(y) + 0.5) / grid}, n)
				count[[2]int{slice, ring}]++
			}
		}
		for k := range n {
			for ring, part := range Parts {
				if got, want := count[[2]int{k, ring}]/grid/grid, part/14/float64(n); math.Abs(got-want) > 4e-3 {
					t.Errorf("slice %d of %d, ring %d: %v of the points, want %v", k, n, ring, got, want)
				}
			}
		}
	}
}
