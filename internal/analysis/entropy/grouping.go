package entropy

import "math"

// GroupScore is the share of how leaves differ that a grouping explains, adjusted for the
// number of groups as a coefficient of determination is: 1 - inside/total · (n-1)/(n-k),
// with the losses of groups and of all. values are by variable and leaf, group by leaf.
// False where there is nothing to explain, or no grouping: one group, or one a leaf.
func GroupScore(values [][]float64, group []int32) (score float64, ok bool) {
	n, k := len(group), int32(0)
	for _, g := range group {
		k = max(k, g+1)
	}
	count := make([]float64, k)
	for _, g := range group {
		count[g]++
	}
	groups := 0
	for _, c := range count {
		if c > 0 {
			groups++
		}
	}
	if groups < 2 || groups >= n {
		return 0, false
	}
	var inside, total, all sum
	for _, v := range values {
		sums, whole := make([]float64, k), 0.0
		for i, x := range v {
			sums[group[i]] += x
			whole += x
		}
		for i, x := range v {
			if x > 0 { // against the mean: sums of v log2 v would cancel each other
				g := group[i]
				inside.add(x * math.Log2(x*count[g]/sums[g]))
				total.add(x * math.Log2(x*float64(n)/whole))
				all.add(x)
			}
		}
	}
	if total.value() <= guard*all.value() {
		return 0, false
	}
	return 1 - max(inside.value(), 0)/total.value()*float64(n-1)/float64(n-groups), true
}
