package callgraph

import "slices"

// Reachable returns the static transitive closure of pairs: all (f, g) with a chain
// of one call or more from f to g. It is all that a matrix alone allows, and may
// claim chains that never happened; Options.Closure does not. Sorted.
// O(nodes × pairs) at worst.
func Reachable(pairs []Pair) []Pair {
	next := map[int32][]int32{}
	for _, p := range pairs {
		next[p.Caller] = append(next[p.Caller], p.Callee)
	}
	out := []Pair{}
	for from := range next {
		met := map[int32]bool{}
		stack := slices.Clone(next[from])
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !met[n] {
				met[n] = true
				out = append(out, Pair{from, n})
				stack = append(stack, next[n]...)
			}
		}
	}
	slices.SortFunc(out, comparePairs)
	return out
}

func comparePairs(a, b Pair) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}
