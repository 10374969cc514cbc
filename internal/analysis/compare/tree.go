package compare

import (
	"math"
	"slices"
)

// A Question is a node of a tree of questions: did this one change? P is NaN if it is not asked by itself.
// Parents come before their children; -1 at the top.
type Question struct {
	Parent int
	P      float64
}

// Down gives each question the q at which it would be answered yes. Below a node
// questions are asked only if something at it or below it changed, so a thousand call
// unchanged paths do not drown one that moved.
//
// A node stands for itself and all below by Simes' combination of their p; the nodes below one, and its own
// question, are one family, corrected by Benjamini and Hochberg's rule; the q of a family counts from that
// of the node above. After Bogomolov, Peterson, Benjamini, Sabatti: Hypotheses on a tree (Biometrika 2021).
// If nothing changed anywhere, a yes occurs in at most Level of all cases. O(n log n).
func Down(tree []Question) []float64 {
	n := len(tree)
	below := make([][]int, n+1) // children; the top is n
	for i, x := range tree {
		up := x.Parent
		if up < 0 {
			up = n
		}
		below[up] = append(below[up], i)
	}
	gate := make([]float64, n) // p of a node with all below
	for i := n - 1; i >= 0; i-- {
		gate[i] = simes(family(tree[i].P, below[i], gate))
	}
	q := make([]float64, n)
	for i := range q {
		q[i] = math.NaN()
	}
	// least is the lower bound of the q of a family.
	var open func(node int, least float64)
	open = func(node int, least float64) {
		own := math.NaN()
		if node < n {
			own = tree[node].P
		}
		p := family(own, below[node], gate)
		adjusted := stepUp(p)
		k := 0
		if !math.IsNaN(own) {
			q[node] = max(adjusted[0], least)
			k = 1
		}
		for _, c := range below[node] {
			if math.IsNaN(gate[c]) {
				continue
			}
			from := max(adjusted[k], least)
			k++
			if from <= Level {
				open(c, from)
				continue
			}
			closed(tree, below, c, from, q)
		}
	}
	all := simes(family(math.NaN(), below[n], gate))
	if math.IsNaN(all) {
		return q
	}
	open(n, all)
	return q
}

// closed gives all questions below a node that was not opened the q of that node.
func closed(tree []Question, below [][]int, node int, from float64, q []float64) {
	if !math.IsNaN(tree[node].P) {
		q[node] = max(from, tree[node].P)
	}
	for _, c := range below[node] {
		closed(tree, below, c, from, q)
	}
}

// family lists the p of a node's own question and of the nodes below it.
func family(own float64, below []int, gate []float64) (p []float64) {
	if !math.IsNaN(own) {
		p = append(p, own)
	}
	for _, c := range below {
		if !math.IsNaN(gate[c]) {
			p = append(p, gate[c])
		}
	}
	return p
}

// simes is the p of "none of these": the least of p(k) × n / k. NaN of none.
func simes(p []float64) float64 {
	if len(p) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(p))
	least := 1.0
	for k, x := range sorted {
		least = min(least, x*float64(len(p))/float64(k+1))
	}
	return least
}

// stepUp is Benjamini and Hochberg's correction, in the order given.
func stepUp(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	least := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		least = min(least, p[order[k]]*float64(len(p))/float64(k+1))
		out[order[k]] = least
	}
	return out
}
