// Package orderstat has order statistics of plain lists: medians, quantiles and a robust deviation, without sorting.
// Those of many values that are not kept are sketches, see package quantile.
package orderstat

import (
	"math"
	"slices"
)

// Nth returns the value that would be at a place of the sorted list; smaller ones are before it afterwards, greater
// ones behind. Quickselect with the median of three, O(n) expected.
func Nth[T ~int64 | ~float64](v []T, at int) T {
	low, high := 0, len(v)-1
	for high-low > 12 {
		a, b, c := v[low], v[low+(high-low)/2], v[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := low, high
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			high = j
		case at >= i:
			low = i
		default:
			return v[at]
		}
	}
	slices.Sort(v[low : high+1])
	return v[at]
}

// Median of values, which it does not reorder; 0 of none. O(n).
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return middle(slices.Clone(values))
}

// middle is the median of at least one value, and reorders them.
func middle(v []float64) float64 {
	n := len(v) / 2
	high := Nth(v, n)
	if len(v)%2 == 1 {
		return high
	}
	return (slices.Max(v[:n]) + high) / 2
}

// Deviation returns the median of values and their robust standard deviation: 1.4826 × the median distance from it, as
// that of a normal distribution. It replaces the values by their distances. O(n).
func Deviation(values []float64) (centre, deviation float64) {
	centre = middle(values)
	for i, v := range values {
		values[i] = math.Abs(v - centre)
	}
	return centre, 1.4826 * middle(values)
}

// Quantile returns the quantile of type 7 of values, 0 of none, and reorders them. O(n).
func Quantile[T ~int64 | ~float64](v []T, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	h := float64(len(v)-1) * q
	i := int(h)
	a := Nth(v, i)
	if i+1 >= len(v) || h == float64(i) {
		return float64(a)
	}
	b := slices.Min(v[i+1:]) // those behind are no smaller
	return float64(a) + (h-math.Trunc(h))*float64(b-a)
}
