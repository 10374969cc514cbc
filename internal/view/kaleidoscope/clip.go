package kaleidoscope

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// farAway is how far outside of a picture corners may lie, in pixels: beyond it renderers lose digits and time.
const farAway = 100

// addPolygon adds a shape, without the parts far outside of the picture.
func addPolygon(to *scene.Polygon, xs, ys []float32, colour scene.Colour, flag scene.Flag, size scene.Size) {
	if len(xs) < 3 || isOut(xs, size.Width) || isOut(ys, size.Height) {
		return
	}
	if isFar(xs, size.Width) {
		xs, ys = clip(xs, ys, -farAway, float64(size.Width)+farAway)
	}
	if isFar(ys, size.Height) {
		ys, xs = clip(ys, xs, -farAway, float64(size.Height)+farAway)
	}
	if len(xs) < 3 {
		return
	}
	to.Add(xs, ys, colour)
	if flag != 0 {
		to.SetFlags(flag)
	}
}

func isFar(v []float32, side int) bool {
	for _, x := range v {
		if x < -farAway || x > float32(side)+farAway {
			return true
		}
	}
	return false
}

// isOut reports whether all corners are far out on one side.
func isOut(v []float32, side int) bool {
	return slices.Max(v) < -farAway || slices.Min(v) > float32(side)+farAway
}

// clip cuts a polygon to low ≤ a ≤ high (Sutherland, Hodgman).
func clip(a, b []float32, low, high float64) (outA, outB []float32) {
	a, b = clipSide(a, b, low, 1)
	return clipSide(a, b, high, -1)
}

func clipSide(a, b []float32, edge, side float64) (outA, outB []float32) {
	inside := func(i int) float64 { return side * (float64(a[i]) - edge) }
	for i, last := 0, len(a)-1; i < len(a); last, i = i, i+1 {
		from, to := inside(last), inside(i)
		if from < 0 && to > 0 || from > 0 && to < 0 {
			share := from / (from - to)
			outA = append(outA, float32(edge))
			outB = append(outB, float32(float64(b[last])+share*(float64(b[i])-float64(b[last]))))
		}
		if to >= 0 {
			outA, outB = append(outA, a[i]), append(outB, b[i])
		}
	}
	return outA, outB
}

// clipLine cuts a line to the part that is not far outside of the picture; false: nothing
// is left.
func clipLine(x1, y1, x2, y2 float64, size scene.Size) (a, b, c, d float64, ok bool) {
	from, to := 0.0, 1.0
	for _, e := range [][2]float64{{x1 - x2, x1 + farAway}, {x2 - x1, float64(size.Width) + farAway - x1},
		{y1 - y2, y1 + farAway}, {y2 - y1, float64(size.Height) + farAway - y1}} {
		switch {
		case e[0] == 0 && e[1] < 0:
			return 0, 0, 0, 0, false
		case e[0] < 0:
			from = math.Max(from, e[1]/e[0])
		case e[0] > 0:
			to = math.Min(to, e[1]/e[0])
		}
	}
	return x1 + from*(x2-x1), y1 + from*(y2-y1), x1 + to*(x2-x1), y1 + to*(y2-y1), from < to
}
