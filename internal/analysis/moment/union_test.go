package moment

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// unionOf merges overlapping and touching intervals and clips them to [t0, tf);
// what is left is in order. The input is sorted in place. O(n log n).
func unionOf(list []Interval, t0, tf trace.Time) []Interval {
	sort.Slice(list, func(i, j int) bool { return list[i].Begin < list[j].Begin })
	var out []Interval
	for _, x := range list {
		b, e := max(x.Begin, t0), min(x.End, tf)
		switch {
		case b >= e:
		case len(out) > 0 && b <= out[len(out)-1].End:
			out[len(out)-1].End = max(out[len(out)-1].End, e)
		default:
			out = append(out, Interval{b, e})
		}
	}
	return out
}

// sketchOf is the sketch of disjoint intervals in order.
func sketchOf(list []Interval, order int) Sketch {
	switch len(list) {
	case 0:
		return Sketch{}
	case 1:
		return Bar(list[0].Begin, list[0].End, order)
	}
	a := sketchOf(list[:len(list)/2], order)
	b := sketchOf(list[len(list)/2:], order)
	a.Merge(&b, order)
	return a
}
