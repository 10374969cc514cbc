package formula

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Place decides where points are drawn, in place. An axis on which every point is
// not finite is flat: 0 for all. A point with another coordinate that is not finite
// is not placed. With restrict each axis is mapped to 0 … 1 over the placed points.
func (p *Points) Place(restrict bool) (placed []bool) {
	axes := [3][]float64{p.X, p.Y, p.Z}
	placed = make([]bool, len(p.X))
	for i := range placed {
		placed[i] = true
	}
	for _, axis := range axes {
		flat := true
		for _, v := range axis {
			flat = flat && !finite(v)
		}
		for i := range axis {
			if flat {
				axis[i] = 0
			} else if !finite(axis[i]) {
				placed[i] = false
			}
		}
	}
	if !restrict {
		return placed
	}
	for _, axis := range axes {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i, v := range axis {
			if placed[i] {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		for i, v := range axis {
			if !placed[i] {
				continue
			}
			if axis[i] = 0; hi > lo {
				axis[i] = (v - lo) / (hi - lo)
			}
		}
	}
	return placed
}

// Shown is the range filter: between lo and hi; where lo > hi, what lies outside
// of them. What is not finite is hidden.
func Shown(v, lo, hi float64) bool {
	switch {
	case !finite(v):
		return false
	case lo <= hi:
		return lo <= v && v <= hi
	}
	return v > lo || v < hi
}

// A Slice fixes axes (0, 1, 2): one leaves a plane, two a line, three a point.
type Slice struct {
	Axis  [3]bool
	At    [3]float64
	Width float64 // 0: 1
}

// Holds reports whether a place lies in the slice.
func (s *Slice) Holds(x, y, z float64) bool {
	w := s.Width
	if w <= 0 {
		w = 1
	}
	for a, v := range [3]float64{x, y, z} {
		if s.Axis[a] && !(s.At[a]-w/2 <= v && v < s.At[a]+w/2) {
			return false
		}
	}
	return true
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
	at := map[[3]int]int{}
	var out []Mean
	for i, c := range coordinates {
		var k [3]int
		copy(k[:], c)
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
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

func sortMeans(m []Mean) {
	slices.SortFunc(m, func(a, b Mean) int {
		return cmp.Or(cmp.Compare(a.At[0], b.At[0]), cmp.Compare(a.At[1], b.At[1]), cmp.Compare(a.At[2], b.At[2]))
	})
}
