package boxprofile

import (
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// modesOf returns where the calls of a row pile up; nil if that is not known.
func modesOf(x *callgraph.Row) []float64 {
	if x.Shape == nil {
		return nil
	}
	return x.Shape.Modes()
}

// leastViolin is the height of a lane in which an outline can be seen.
const leastViolin = 8

// violin draws the outline of a distribution behind its box, as high as the lane where
// calls are densest, and reports whether it did. Density is a length of the logarithm of
// time, as on the axis.
func (p *painter) violin(l *lane, y, h float32, c scene.Colour) bool {
	row := l.row
	if row.Shape == nil || l.h < leastViolin || row.Count < 2 {
		return false
	}
	if p.r.request.Values.Text("violin") == "auto" && len(row.Shape.Modes()) < 2 {
		return false
	}
	smooth, _ := row.Shape.Smooth()
	most := slices.Max(smooth)
	f := p.boxes
	var xs, up, down []float32
	for k, n := range smooth {
		a, b := row.Shape.Edge(k), row.Shape.Edge(k+1)
		if b < f.XScale.Begin || a > f.XScale.End {
			continue
		}
		half := h / 2 * float32(n/most)
		xs, up, down = append(xs, p.x(math.Sqrt(a*b))), append(up, y+h/2-half), append(down, y+h/2+half)
	}
	if len(xs) < 2 {
		return false
	}
	for i := len(xs) - 1; i >= 0; i-- {
		xs, up = append(xs, xs[i]), append(up, down[i])
	}
	p.violins.Add(xs, up, c)
	p.violins.SetFlags(scene.Dimmed)
	p.isViolin = true
	return true
}

// modeWords say where calls pile up.
func (r *result) modeWords(modes []float64) string {
	var parts []string
	for _, v := range modes {
		parts = append(parts, r.format(v))
	}
	return strings.Join(parts, ", ")
}
