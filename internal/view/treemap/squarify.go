package treemap

import "sort"

// A box is an area of the picture.
type box struct{ x, y, w, h float64 }

func (b box) inset(d, top float64) box {
	return box{b.x + d, b.y + top, max(b.w-2*d, 0), max(b.h-top-d, 0)}
}

// squarify gives each size its share of the area as a box near to a square: sizes
// in falling order are laid in rows along the shorter side, a row being closed
// when one more box would make its worst box longer. Bruls, Huizing, van Wijk.
// Boxes come in the order of sizes; those of size 0 are empty. O(n log n).
func squarify(sizes []float64, area box) []box {
	out := make([]box, len(sizes))
	order := make([]int, 0, len(sizes))
	total := 0.0
	for i, s := range sizes {
		if s > 0 {
			order = append(order, i)
			total += s
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return sizes[order[a]] > sizes[order[b]] })
	if total <= 0 || area.w <= 0 || area.h <= 0 {
		return out
	}
	scale := area.w * area.h / total
	for len(order) > 0 {
		side := min(area.w, area.h)
		n, sum := 1, sizes[order[0]]*scale
		for n < len(order) {
			next := sizes[order[n]] * scale
			if worst(sizes[order[0]]*scale, next, sum+next, side) > worst(sizes[order[0]]*scale, sizes[order[n-1]]*scale, sum, side) {
				break
			}
			sum += next
			n++
		}
		area = layRow(out, order[:n], sizes, scale, sum, area)
		order = order[n:]
	}
	return out
}

// worst is the longest side ratio in a row of a sum whose largest and smallest
// boxes are given.
func worst(largest, smallest, sum, side float64) float64 {
	s2 := sum * sum
	return max(side*side*largest/s2, s2/(side*side*smallest))
}

// layRow fills a strip along the shorter side and gives what is left of the area.
func layRow(out []box, row []int, sizes []float64, scale, sum float64, area box) box {
	if area.w >= area.h {
		w := min(sum/max(area.h, 1e-12), area.w)
		y := area.y
		for _, i := range row {
			h := area.h * sizes[i] * scale / sum
			out[i] = box{area.x, y, w, h}
			y += h
		}
		return box{area.x + w, area.y, area.w - w, area.h}
	}
	h := min(sum/max(area.w, 1e-12), area.h)
	x := area.x
	for _, i := range row {
		w := area.w * sizes[i] * scale / sum
		out[i] = box{x, area.y, w, h}
		x += w
	}
	return box{area.x, area.y + h, area.w, area.h - h}
}
