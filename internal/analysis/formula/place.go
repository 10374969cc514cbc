package formula

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Place decides where points are drawn, see PlaceAll.
func (p *Points) Place(restrict bool) (placed []bool) { return PlaceAll([]Points{*p}, restrict)[0] }

// A Span is the range of an axis before it was mapped to 0 … 1.
type Span struct{ Low, High float64 }

// PlaceAll decides where the points of all sets are drawn, in place. An axis on which
// every point is not finite is flat: 0 for all. A point with another coordinate that
// is not finite is not placed. With restrict each axis is mapped to 0 … 1 over the
// placed points of all sets together, so that they keep their places to each other.
func PlaceAll(points []Points, restrict bool) (placed [][]bool) {
	placed, _ = PlaceSpans(points, restrict)
	return placed
}

// PlaceSpans is PlaceAll, and returns the span of each axis.
func PlaceSpans(points []Points, restrict bool) (placed [][]bool, spans [3]Span) {
	placed = make([][]bool, len(points))
	axis := func(k, a int) []float64 { return [3][]float64{points[k].X, points[k].Y, points[k].Z}[a] }
	for k := range points {
		placed[k] = make([]bool, len(points[k].X))
		for i := range placed[k] {
			placed[k][i] = true
		}
	}
	for a := range 3 {
		flat := true
		for k := range points {
			flat = flat && !slices.ContainsFunc(axis(k, a), finite)
		}
		for k := range points {
			for i, v := range axis(k, a) {
				if flat {
					axis(k, a)[i] = 0
				} else if !finite(v) {
					placed[k][i] = false
				}
			}
		}
	}
	for a := range 3 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for k := range points {
			for i, v := range axis(k, a) {
				if placed[k][i] {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
		spans[a] = Span{lo, hi}
		for k := range points {
			for i, v := range axis(k, a) {
				if !restrict || !placed[k][i] {
					continue
				}
				if axis(k, a)[i] = 0; hi > lo {
					axis(k, a)[i] = (v - lo) / (hi - lo)
				}
			}
		}
	}
	return placed, spans
}

// Fill puts n locations into a box in order of rank, x fastest.
func Fill(n int, dims [3]int) (*Points, error) {
	if dims[0] < 1 || dims[1] < 1 || dims[2] < 1 || n > dims[0]*dims[1]*dims[2] {
		return nil, fmt.Errorf("a box of %d × %d × %d does not hold %d locations", dims[0], dims[1], dims[2], n)
	}
	p := &Points{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		p.X[i] = float64(i % dims[0])
		p.Y[i] = float64(i / dims[0] % dims[1])
		p.Z[i] = float64(i / dims[0] / dims[1])
	}
	return p, nil
}

// A Mean is the mean of the values at one place.
type Mean struct {
	At    [3]int
	Value float64
	Count int
}

// NodeMeans averages values over locations that share their first three
// coordinates, in order of the place.
func NodeMeans(coordinates [][]int, values []float64) []Mean {
	place := placesOf(coordinates)
	var out []Mean
	for i, c := range coordinates {
		var k [3]int
		copy(k[:], c)
		j, known := place(k, len(out))
		if !known {
			out = append(out, Mean{At: k})
		}
		out[j].Value += values[i]
		out[j].Count++
	}
	for j := range out {
		out[j].Value /= float64(out[j].Count)
	}
	sortMeans(out)
	return out
}

// placesOf returns a function that numbers places: it gives the number of a place, or the next one to a place that has
// none yet. A box of which many places are taken is a table, others are a map.
func placesOf(coordinates [][]int) func(k [3]int, next int) (number int, known bool) {
	var low, high [3]int
	for i, c := range coordinates {
		for a := range min(len(c), 3) {
			if i == 0 {
				low[a], high[a] = c[a], c[a]
			}
			low[a], high[a] = min(low[a], c[a]), max(high[a], c[a])
		}
	}
	size, most := 1.0, 8*float64(len(coordinates))+64
	var side [3]int
	for a := range side {
		side[a] = high[a] - low[a] + 1
		size *= float64(high[a]) - float64(low[a]) + 1
	}
	if size > most {
		at := make(map[[3]int]int, len(coordinates))
		return func(k [3]int, next int) (int, bool) {
			j, ok := at[k]
			if !ok {
				at[k], j = next, next
			}
			return j, ok
		}
	}
	table := make([]int32, int(size)) // number + 1
	return func(k [3]int, next int) (int, bool) {
		at := &table[((k[0]-low[0])*side[1]+k[1]-low[1])*side[2]+k[2]-low[2]]
		if *at == 0 {
			*at = int32(next) + 1
			return next, false
		}
		return int(*at) - 1, true
	}
}

func sortMeans(m []Mean) {
	parallel.Sort(m, func(a, b Mean) int {
		return cmp.Or(cmp.Compare(a.At[0], b.At[0]), cmp.Compare(a.At[1], b.At[1]), cmp.Compare(a.At[2], b.At[2]))
	})
}
