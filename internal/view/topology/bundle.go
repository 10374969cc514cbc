package topology

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/view"
)

// mostSingle is how many lines between single points are drawn where blocks could have them instead.
const mostSingle = 200

// blockOfPoints returns the block of each point, -1 if it has none; nil if the layout has fewer than two blocks.
func (r *result) blockOfPoints() []int32 {
	if r.blockOf == nil || slices.Max(r.blockOf) < 1 {
		return nil
	}
	out := make([]int32, len(r.location))
	for i, id := range r.location {
		out[i] = -1
		if rank := r.proposed.rank[id]; rank >= 0 && int(rank) < len(r.blockOf) {
			out[i] = r.blockOf[rank]
		}
	}
	return out
}

// centres returns the point of each block that is nearest to the block's middle. O(points).
func (r *result) centres(block []int32) []int {
	p, n := &r.points[0], slices.Max(block)+1
	x, y, count := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, b := range block {
		if b >= 0 {
			x[b], y[b], count[b] = x[b]+p.X[i], y[b]+p.Y[i], count[b]+1
		}
	}
	out, best := make([]int, n), slices.Repeat([]float64{math.Inf(1)}, int(n))
	for i, b := range block {
		if b < 0 {
			continue
		}
		if far := math.Hypot(p.X[i]-x[b]/count[b], p.Y[i]-y[b]/count[b]); far < best[b] {
			out[b], best[b] = i, far
		}
	}
	return out
}

// bundle draws one line for all messages between two blocks. It says how much stays within blocks.
func (t *traffic) bundle(block []int32, centre []int, ends [][2]int, amount []float64) string {
	type line struct{ a, b int32 }
	sums := map[line]float64{}
	all, inside := 0.0, 0.0
	for k, e := range ends {
		a, b := block[e[0]], block[e[1]]
		all += amount[k]
		switch {
		case a < 0 || b < 0:
		case a == b:
			inside += amount[k]
		default:
			sums[line{min(a, b), max(a, b)}] += amount[k]
		}
	}
	list := make([]line, 0, len(sums))
	for l, v := range sums {
		list, t.most = append(list, l), max(t.most, v)
	}
	slices.SortFunc(list, func(x, y line) int { // the largest are drawn last
		return cmp.Or(cmp.Compare(sums[x], sums[y]), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	hidden := max(len(list)-mostLinks, 0)
	list = list[hidden:]
	for _, l := range list {
		if sums[l] < leastDrawn*t.most {
			hidden++
			continue
		}
		t.from, t.to = append(t.from, centre[l.a]), append(t.to, centre[l.b])
		t.amount = append(t.amount, sums[l])
	}
	t.between = "blocks"
	text := fmt.Sprintf("lines are traffic between blocks; %s of it stays within blocks",
		view.FormatShare(inside/math.Max(all, 1)))
	if hidden > 0 {
		text += fmt.Sprintf("; %s with the least are not drawn", view.Count(hidden, "line"))
	}
	return text
}
