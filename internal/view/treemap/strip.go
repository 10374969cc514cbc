package treemap

import "math"

// A box is an area of the picture.
type box struct{ x, y, w, h float64 }

func (b box) inset(d, top float64) box {
	return box{b.x + d, b.y + top, max(b.w-2*d, 0), max(b.h-top-d, 0)}
}

// longest is how long boxes may be on average, as a ratio of sides, before where rows
// break follows the sizes themselves.
const longest = 5

// layStrips gives each size its share of the area as a box, in rows that are read like
// text: from left to right, from top to bottom. So the order is that of the tree, and a
// place is found again when sizes change. Counts decide where rows break, and they do
// not change with the time that is chosen; sizes decide only if this makes long boxes.
// Boxes come in the order of sizes; those of size 0 are empty. O(n).
//
// Squarified boxes (Bruls, Huizing, van Wijk) are a little nearer to squares, but are
// sorted by size, and equal ones change places at every brush.
func layStrips(sizes, counts []float64, area box) []box {
	out := make([]box, len(sizes))
	total := 0.0
	for _, s := range sizes {
		total += s
	}
	if total <= 0 || area.w <= 0 || area.h <= 0 {
		return out
	}
	rows := breaks(counts, area)
	if length(sizes, rows, area) > longest {
		rows = breaks(sizes, area)
	}
	y := area.y
	for k, from := range rows {
		to := len(sizes)
		if k+1 < len(rows) {
			to = rows[k+1]
		}
		sum := 0.0
		for _, s := range sizes[from:to] {
			sum += s
		}
		if sum <= 0 {
			continue
		}
		h, x := area.h*sum/total, area.x
		for i := from; i < to; i++ {
			w := area.w * sizes[i] / sum
			out[i] = box{x, y, w, h}
			x += w
		}
		y += h
	}
	return out
}

// breaks decides where rows begin: rows of about equal sums, as many as make the
// boxes shortest on average. The numbers of rows around that of squares are tried: O(n).
func breaks(sizes []float64, area box) (best []int) {
	n := float64(len(sizes))
	ideal := int(math.Round(math.Sqrt(n * area.h / area.w)))
	shortest := math.Inf(1)
	for k := max(ideal-2, 1); k <= min(max(ideal+2, 1), len(sizes)); k++ {
		rows := split(sizes, k)
		if l := length(sizes, rows, area); l < shortest-1e-9 {
			best, shortest = rows, l
		}
	}
	if best == nil {
		return []int{0}
	}
	return best
}

// split cuts a list into k rows of about equal sums: a box belongs to the row in which
// its middle lies.
func split(sizes []float64, k int) []int {
	total := 0.0
	for _, s := range sizes {
		total += s
	}
	rows, sum := []int{0}, 0.0
	for i, s := range sizes {
		if row := int((sum + s/2) * float64(k) / max(total, 1e-300)); i > 0 && row >= len(rows) && len(rows) < k {
			rows = append(rows, i)
		}
		sum += s
	}
	return rows
}

// length is the mean ratio of sides of boxes with given sizes in given rows.
func length(sizes []float64, rows []int, area box) float64 {
	total := 0.0
	for _, s := range sizes {
		total += s
	}
	sum, n := 0.0, 0.0
	for k, from := range rows {
		to := len(sizes)
		if k+1 < len(rows) {
			to = rows[k+1]
		}
		row := 0.0
		for _, s := range sizes[from:to] {
			row += s
		}
		h := area.h * row / total
		for _, s := range sizes[from:to] {
			if w := area.w * s / max(row, 1e-300); w > 0 && h > 0 {
				sum += max(w/h, h/w)
				n++
			}
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}
