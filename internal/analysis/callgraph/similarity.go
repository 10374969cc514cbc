package callgraph

import "math"

// A Vector is what is compared of a location: values by key, keys ascending.
type Vector struct {
	Key   []uint32
	Value []float64
}

// Jaccard is the share of keys that two locations have in common: structure
// alone. Two without keys are alike (1).
func Jaccard(a, b Vector) float64 {
	both := 0
	walk(a, b, func(_, _ float64, inA, inB bool) {
		if inA && inB {
			both++
		}
	})
	if all := len(a.Key) + len(b.Key) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}

// CosineLog is the cosine of ln(1 + value): structure and time, damped. It
// depends on the unit: use ns. Both zero are alike (1), one zero is not (0).
func CosineLog(a, b Vector) float64 {
	var aa, bb, ab float64
	walk(a, b, func(x, y float64, _, _ bool) {
		x, y = math.Log1p(x), math.Log1p(y)
		aa, bb, ab = aa+x*x, bb+y*y, ab+x*y
	})
	switch {
	case aa == 0 && bb == 0:
		return 1
	case aa == 0 || bb == 0:
		return 0
	}
	return min(max(ab/math.Sqrt(aa*bb), 0), 1)
}

// Common is the share of the values that two locations have in common:
// 1 − Σ|a−b| / Σ(a+b), Bray-Curtis. Both zero are alike (1).
func Common(a, b Vector) float64 {
	var apart, all float64
	walk(a, b, func(x, y float64, _, _ bool) {
		apart += math.Abs(x - y)
		all += x + y
	})
	if all == 0 {
		return 1
	}
	return 1 - apart/all
}

// walk visits the union of keys.
func walk(a, b Vector, f func(x, y float64, inA, inB bool)) {
	i, j := 0, 0
	for i < len(a.Key) || j < len(b.Key) {
		switch {
		case j == len(b.Key) || i < len(a.Key) && a.Key[i] < b.Key[j]:
			f(a.Value[i], 0, true, false)
			i++
		case i == len(a.Key) || b.Key[j] < a.Key[i]:
			f(0, b.Value[j], false, true)
			j++
		default:
			f(a.Value[i], b.Value[j], true, true)
			i++
			j++
		}
	}
}
