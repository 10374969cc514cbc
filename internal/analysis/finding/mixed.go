package finding

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
)

// A Mixed is a node of the hierarchy whose children differ in a value, while the nodes below each child are
// alike or distinguished on their own.
type Mixed struct {
	Node int32
	// Odd are the children that stand out from the others; where none does, all
	// children that differ, and Spread is set.
	Odd    []int32
	Spread bool
	// Loss is the information lost by drawing the children as one, in bits per unit
	// of value: the node's loss without that of its children (package entropy).
	Loss float64
	// Lost is the value too much or too little, Leaves how many leaves have it.
	Lost   float64
	Leaves int
	// Mean of a leaf below the odd children, Median of a leaf below the others;
	// Low and High are the extremes of the children.
	Mean, Median, Low, High float64
}

// leastLoss is the loss from which children differ: a relative deviation of 12 %.
const leastLoss = 0.01

// mostOdd is the part of the children beyond which they are spread rather than odd.
const mostOdd = 0.35

// FindMixed finds the nodes of a tree whose children differ in value, deepest
// first: children that hold a node found before are left out further up, so that one
// odd process does not make its machine, its cluster and its site odd. value[i] is
// that of leaf i; least says which loss is worth reporting. O(nodes log children).
func FindMixed(t *entropy.Tree, value []float64, least func(m *Mixed) bool) []Mixed {
	n := t.Len()
	sum, leaves := make([]float64, n), make([]int, n)
	told := make([]bool, n) // it or something below it is in the list
	var out []Mixed
	for i := n - 1; i >= 0; i-- {
		if t.Leaf(i) {
			sum[i], leaves[i] = value[i], 1
		} else if m, ok := mixed(t, i, sum, leaves, told); ok && least(&m) {
			out = append(out, m)
			told[i] = true
		}
		if p := t.Parent[i]; p >= 0 {
			sum[p] += sum[i]
			leaves[p] += leaves[i]
			told[p] = told[p] || told[i]
		}
	}
	slices.Reverse(out)
	return out
}

// mixed compares the children of a node that are not told of yet.
func mixed(t *entropy.Tree, node int, sum []float64, leaves []int, told []bool) (Mixed, bool) {
	var children []int32
	var means []float64
	total, count := 0.0, 0
	for c := node + 1; c <= int(t.Last[node]); c = int(t.Last[c]) + 1 {
		if !told[c] {
			children = append(children, int32(c))
			means = append(means, sum[c]/float64(leaves[c]))
			total += sum[c]
			count += leaves[c]
		}
	}
	m := Mixed{Node: int32(node)}
	if len(children) < 3 || total <= 0 {
		return m, false
	}
	mean := total / float64(count)
	for k, c := range children {
		if means[k] > 0 {
			m.Loss += sum[c] * math.Log2(means[k]/mean) / total
		}
	}
	if m.Loss < leastLoss {
		return m, false
	}
	m.Low, m.High = slices.Min(means), slices.Max(means)
	if m.Median = orderstat.Median(means); m.Median == 0 {
		return m, false // only some do it at all: duties differ, they are no peers
	}
	peers := Peers(means)
	odd, out := 0.0, make([]bool, len(children))
	for k, c := range children {
		if out[k] = peers[k].StandsOut(); out[k] {
			m.Odd = append(m.Odd, c)
			m.Lost += math.Abs(means[k]-m.Median) * float64(leaves[c])
			m.Leaves += leaves[c]
			odd += sum[c]
		}
	}
	if len(m.Odd) > 0 && Apart(means, out) && float64(len(m.Odd)) <= mostOdd*float64(len(children)) {
		m.Mean = odd / float64(m.Leaves)
		return m, true
	}
	m.Odd, m.Spread, m.Leaves, m.Lost, m.Mean = children, true, count, 0, mean
	for k, c := range children {
		m.Lost += math.Abs(means[k]-mean) * float64(leaves[c]) / 2
	}
	return m, true
}
