package contrast

import (
	"cmp"
	"math"
	"slices"
)

// midranks returns the doubled ranks of a, then of b, among all of them; equal values
// share the mean of their ranks, which doubled is whole.
func midranks(a, b []float64) []int {
	all := make([]float64, 0, len(a)+len(b))
	return doubled(append(append(all, a...), b...))
}

// signedRanks returns the doubled ranks of the sizes of differences that are not 0, and those.
func signedRanks(d []float64) ([]int, []float64) {
	values := slices.DeleteFunc(slices.Clone(d), func(v float64) bool { return v == 0 })
	sizes := make([]float64, len(values))
	for i, v := range values {
		sizes[i] = math.Abs(v)
	}
	return doubled(sizes), values
}

func doubled(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Compare(v[x], v[y]) })
	ranks := make([]int, len(v))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		from = to
	}
	return ranks
}
