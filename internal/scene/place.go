package scene

import (
	"cmp"
	"math"
	"slices"
)

// A Label wants a place along an axis: Width pixels round At. Those of a lower Rank
// are placed first. One that finds its place taken moves by up to Slack.
type Label struct {
	At, Width float32
	Rank      int
	Slack     float32
}

// Place finds places for labels between from and to so that none overlaps another: it
// gives the middle of each, NaN for those that must go away. A label that reaches over
// an end moves inwards. Takes O(n log n) and, for each label that is kept, a shift of those kept.
func Place(labels []Label, from, to, gap float32) []float32 {
	out := make([]float32, len(labels))
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
		out[i] = float32(math.NaN())
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a].Rank, labels[b].Rank) })
	var kept []taken // ascending
	for _, i := range order {
		l := labels[i]
		if !(l.Width <= to-from) || !(l.At >= from && l.At <= to) || l.Width < 0 {
			continue
		}
		at := min(max(l.At, from+l.Width/2), to-l.Width/2)
		a, b := at-l.Width/2, at+l.Width/2
		k, _ := slices.BinarySearchFunc(kept, a, func(t taken, v float32) int { return cmp.Compare(t.from, v) })
		if k > 0 && kept[k-1].to+gap > a || k < len(kept) && b+gap > kept[k].from {
			if k, a = near(kept, k, a, l.Width, gap, from, to); k < 0 || abs(a+l.Width/2-l.At) > l.Slack {
				continue
			}
			at, b = a+l.Width/2, a+l.Width
		}
		kept = slices.Insert(kept, k, taken{a, b})
		out[i] = at
	}
	return out
}

// A taken is where a label stands.
type taken struct{ from, to float32 }

// near finds the nearest begin to a at which a width is free, before or behind the label that
// is there, and its index among those kept; -1: neither is free.
func near(kept []taken, k int, a, width, gap, from, to float32) (int, float32) {
	best, at := -1, float32(0)
	for g := max(k-1, 0); g <= min(k+1, len(kept)); g++ { // the gap before the gth
		low, high := from, to
		if g > 0 {
			low = kept[g-1].to + gap
		}
		if g < len(kept) {
			high = kept[g].from - gap
		}
		if high-low < width {
			continue
		}
		if x := min(max(a, low), high-width); best < 0 || abs(x-a) < abs(at-a) {
			best, at = g, x
		}
	}
	return best, at
}

func abs(x float32) float32 { return max(x, -x) }

// Thin returns the least n so that every nth of equally wide labels at a distance of
// step pixels has room: 1 where all have.
func Thin(step, width, gap float32) int {
	if !(step > 0) {
		return math.MaxInt32
	}
	return max(int(math.Ceil(float64((width+gap)/step))), 1)
}
