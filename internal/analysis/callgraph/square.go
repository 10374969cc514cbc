package callgraph

import "math"

// The square of a matrix cell has five rings about its centre, one a quantile of
// the box plot from the lowest (innermost) to the highest, with areas 1:3:6:3:1.
// For n locations it is cut into n slices of equal area: from the centre all edges
// are equally far, so equal areas are equal lengths of perimeter, counted from the
// top-left corner clockwise. Scaling about the centre keeps proportions, so each
// slice has the same rings. Coordinates are in the unit square, y downwards.

// Parts are the areas of the rings, of 14.
var Parts = [5]float64{1, 3, 6, 3, 1}

// cumulative areas of the rings, of 14.
var cumulative = [6]float64{0, 1, 4, 10, 13, 14}

// RingScale is the size of the square within which rings 0 … i-1 lie, for i from 0 to 5.
func RingScale(i int) float64 { return math.Sqrt(cumulative[i] / 14) }

// A Point is a place in the unit square.
type Point struct{ X, Y float64 }

// Perimeter returns the point s edge lengths from the top-left corner, clockwise.
func Perimeter(s float64) Point {
	edge := math.Floor(s)
	u := s - edge
	switch int(edge) % 4 {
	case 0:
		return Point{u, 0}
	case 1:
		return Point{1, u}
	case 2:
		return Point{1 - u, 1}
	}
	return Point{0, 1 - u}
}

// Arc appends the outline of slices k … last of n on the square's edge: its ends
// and the corners between them.
func Arc(out []Point, k, last, n int) []Point {
	a, b := 4*float64(k)/float64(n), 4*float64(last+1)/float64(n)
	out = append(out, Perimeter(a))
	for corner := 1; corner <= 3; corner++ {
		// Exact in whole numbers: a < corner < b.
		if 4*k < corner*n && corner*n < 4*(last+1) {
			out = append(out, Perimeter(float64(corner)))
		}
	}
	return append(out, Perimeter(b))
}

// Shrink moves a point towards the centre.
func (p Point) Shrink(scale float64) Point {
	return Point{0.5 + scale*(p.X-0.5), 0.5 + scale*(p.Y-0.5)}
}

// Locate returns the slice, of n, and the ring that hold a point: the hit test. The
// centre is (0, 0).
func Locate(p Point, n int) (slice, ring int) {
	dx, dy := p.X-0.5, p.Y-0.5
	s := 2 * max(math.Abs(dx), math.Abs(dy))
	if s == 0 {
		return 0, 0
	}
	for ring < 4 && s*s > cumulative[ring+1]/14 {
		ring++
	}
	x, y := dx/s, dy/s // on the edge, from -1/2 to 1/2
	var at float64
	switch {
	case dy < 0 && math.Abs(dy) >= math.Abs(dx):
		at = x + 0.5
	case dx > 0 && math.Abs(dx) >= math.Abs(dy):
		at = 1 + y + 0.5
	case dy > 0 && math.Abs(dy) >= math.Abs(dx):
		at = 2 + 0.5 - x
	default:
		at = 3 + 0.5 - y
	}
	at = math.Mod(at, 4)
	return min(n-1, int(at*float64(n)/4)), ring
}

// Stripe returns where the stripe of a quantile begins and ends from the bottom up, where a
// square has stripes in place of rings: of the same areas, with the locations side by
// side from left to right.
func Stripe(i int) (from, to float64) { return cumulative[i] / 14, cumulative[i+1] / 14 }

// LocateStriped is the hit test of such a square.
func LocateStriped(p Point, n int) (slice, stripe int) {
	up := 1 - p.Y
	for stripe < 4 && up > cumulative[stripe+1]/14 {
		stripe++
	}
	return max(0, min(n-1, int(p.X*float64(n)))), stripe
}
