package contrast

import (
	"cmp"
	"math"
	"slices"
)

// Fisher is Fisher's exact test of two shares, two-sided: a of n against b of m.
func Fisher(a, n, b, m int) float64 {
	all, hits := n+m, a+b
	if n == 0 || m == 0 || hits == 0 || hits == all {
		return 1
	}
	chance := func(k int) float64 { // of k hits among the n
		return logChoose(n, k) + logChoose(m, hits-k) - logChoose(all, hits)
	}
	seen := chance(a)
	p := 0.0
	for k := max(0, hits-m); k <= min(n, hits); k++ {
		if c := chance(k); c <= seen+1e-7 {
			p += math.Exp(c)
		}
	}
	return min(p, 1)
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// Adjust corrects the p of many tests, by Benjamini and Hochberg's step-up rule: of those called found at a
// level of q, a share q is chance on average.
func Adjust(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	q := make([]float64, len(p))
	least := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		least = min(least, p[i]*float64(len(p))/float64(k+1))
		q[i] = least
	}
	return q
}
