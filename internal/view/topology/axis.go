package topology

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// axis makes a labelled axis. If places along it are the values of an event, moved and
// stretched, ticks are values of the event in its unit, whatever the layout made of
// them. If all axes were brought to one length, they are the numbers that the layout
// gave.
func (r *result) axis(a int, lo, hi float64, whole bool) scene.SpaceAxis {
	unit := map[bool]string{true: "count"}[whole]
	if r.chosen == nil {
		return scene.FitAxis(r.axes[a], lo, hi, unit)
	}
	if b, scale, origin := r.eventOf(a); b != nil {
		axis := scene.SpaceAxis{Label: r.axes[a], Begin: lo, End: hi, Stretch: 1}
		from, to := (lo-origin)/scale, (hi-origin)/scale // the other way round where the axis is
		for _, t := range scene.LinearTicks(min(from, to), max(from, to), 6, b.unit) {
			axis.Ticks = append(axis.Ticks, scene.Tick{At: origin + scale*t.At, Label: t.Label})
		}
		return axis
	}
	span := r.spans[a]
	if !r.cube || !(span.High > span.Low) || math.IsInf(span.High-span.Low, 0) {
		return scene.FitAxis(r.axes[a], lo, hi, unit)
	}
	axis := scene.SpaceAxis{Label: r.axes[a], Begin: lo, End: hi, Stretch: 1}
	wide := span.High - span.Low
	for _, t := range scene.LinearTicks(span.Low+lo*wide, span.Low+hi*wide, 6, "") {
		axis.Ticks = append(axis.Ticks, scene.Tick{At: (t.At - span.Low) / wide, Label: t.Label})
	}
	return axis
}

// eventOf finds the event whose values the places along an axis are, as origin + scale ×
// value; nil of none. It looks at all points, so it cannot be wrong.
func (r *result) eventOf(a int) (b *binding, scale, origin float64) {
	used := r.chosen.Events([]string{"x", "y", "z"}[a])
	if used == 0 || used&(used-1) != 0 || len(r.points) != 1 {
		return nil, 0, 0
	}
	for i := range r.bound {
		if r.bound[i].name == fmt.Sprintf("event%d", trailing(used)) {
			b = &r.bound[i]
		}
	}
	if b == nil {
		return nil, 0, 0
	}
	at := [3][]float64{r.points[0].X, r.points[0].Y, r.points[0].Z}[a]
	low, high := -1, -1
	for i, v := range b.values {
		if !r.placed[0][i] || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if low < 0 || v < b.values[low] {
			low = i
		}
		if high < 0 || v > b.values[high] {
			high = i
		}
	}
	if low < 0 || !(b.values[high] > b.values[low]) || at[high] == at[low] {
		return nil, 0, 0
	}
	scale = (at[high] - at[low]) / (b.values[high] - b.values[low])
	origin = at[low] - scale*b.values[low]
	for i, v := range b.values {
		if r.placed[0][i] && !(math.Abs(origin+scale*v-at[i]) <= 1e-9*(math.Abs(at[high]-at[low])+math.Abs(at[i]))) {
			return nil, 0, 0
		}
	}
	return b, scale, origin
}
