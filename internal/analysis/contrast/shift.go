package contrast

import (
	"math"
	"slices"
	"sort"
)

// Delta is Cliff's: the share of pairs with a > b less that with a < b. O(n log n).
func Delta(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(b))
	sum := 0
	for _, x := range a {
		below := sort.SearchFloat64s(sorted, x)
		above := len(sorted) - sort.Search(len(sorted), func(i int) bool { return sorted[i] > x })
		sum += below - above
	}
	return float64(sum) / (float64(len(a)) * float64(len(b)))
}

// Shift is Hodges and Lehmann's: the median of all differences a - b. It does not
// make them all, see kth. O(n log n).
func Shift(a, b []float64) float64 {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return middle(len(a)*len(b), func(t float64) int {
		n, j := 0, len(b) // b[j:] are those with a - b ≤ t
		for _, x := range a {
			for j > 0 && x-b[j-1] <= t {
				j--
			}
			for j < len(b) && x-b[j] > t {
				j++
			}
			n += len(b) - j
		}
		return n
	})
}

// signed returns the rank-biserial correlation of pairs, and Hodges and Lehmann's
// estimate of one set of differences: the median of the means of any two of them.
func signed(a, b []float64) (delta, shift float64) {
	d := differences(a, b)
	up, down := 0.0, 0.0
	ranks, values := signedRanks(d)
	for i, v := range values {
		if v > 0 {
			up += float64(ranks[i])
		} else {
			down += float64(ranks[i])
		}
	}
	if up+down > 0 {
		delta = (up - down) / (up + down)
	}
	slices.Sort(d)
	return delta, middle(len(d)*(len(d)+1)/2, func(t float64) int {
		n, j := 0, len(d) // d[:j] have a mean with d[i] of at most t
		for i, x := range d {
			for j > 0 && (x+d[j-1])/2 > t {
				j--
			}
			n += max(j-i, 0)
		}
		return n
	})
}

func differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// middle returns the median of n values that are known by how many of them are at most t.
func middle(n int, atMost func(t float64) int) float64 {
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return kth(n/2+1, atMost)
	}
	return (kth(n/2, atMost) + kth(n/2+1, atMost)) / 2
}

// kth finds the least t of which at least k values are at most, by halving the numbers
// that a float64 can be: 64 questions, and the answer is one of the values.
func kth(k int, atMost func(t float64) int) float64 {
	lo, hi := ordered(math.Inf(-1)), ordered(math.Inf(1))
	for lo < hi {
		mid := lo + (hi-lo)/2
		if atMost(unordered(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if v := unordered(lo); v != 0 {
		return v
	}
	return 0 // not -0
}

// ordered numbers floats so that larger ones have larger numbers.
func ordered(f float64) uint64 {
	if b := math.Float64bits(f); b>>63 == 0 {
		return b | 1<<63
	} else {
		return ^b
	}
}

func unordered(u uint64) float64 {
	if u>>63 == 1 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}
