// Package entropy finds the aggregation of a hierarchy that shows most for the detail it hides.
//
// After Lamarche-Perrin, Schnorr, Vincent, Demazeau: "Evaluating Trace
// Aggregation Through Entropy Measures for Optimal Performance Visualization of
// Large Distributed Systems". For an aggregate A of n leaves with values v of a
// variable, V their sum, and 0 log 0 = 0:
//
//	loss(A)   = Σ v log2(v n / V)          ≥ 0: bits lost by reading V as spread evenly
//	values    = n - 1                      gain as values that need not be shown
//	entropy   = V log2 V - Σ v log2 v      gain as information that need not be read
//	pIC(A)    = p gain(A) - (1-p) loss(A)
//
// summed over the variables and over the parts of a cut through the tree. p is
// the user's: 0 keeps all detail, 1 shows one value.
//
// Gain and loss are superadditive, so a node's own line in p minus the best of
// its parts only grows: one number a node, its threshold p*, says when it is
// drawn as one. All thresholds come from one pass over the tree, see Thresholds.
package entropy

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A Tree is a hierarchy in preorder; node 0 is the root. The subtree of i is
// i … Last[i], and a leaf has Last[i] == i.
type Tree struct {
	Parent []int32 // -1 at the root
	Last   []int32
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.Parent) }

// Leaf reports whether i has no children.
func (t *Tree) Leaf(i int) bool { return int(t.Last[i]) == i }

// A Gain is the measure of the saving of an aggregation.
type Gain uint8

const (
	GainValues Gain = iota
	GainEntropy
)

// Labels hold gain and loss of every node, in bits (or values).
type Labels struct {
	Tree    *Tree
	Measure Gain
	Gain    []float64
	Loss    []float64
	Leaves  []int32
	// Sum[x][i] is the value of variable x over the leaves below i.
	Sum   [][]float64
	noise []float64 // of each node: how much of its loss may be rounding
}

// guard is the share of the cancelling terms below which a difference is
// rounding noise: without it homogeneous groups would be split at random.
const guard = 1e-13

// Label computes gain and loss of every node in one pass from the leaves up:
// O(nodes × variables), logarithms on all cores. values[x][i] is the value of
// variable x at leaf i, not negative; entries of inner nodes are not read.
func Label(t *Tree, values [][]float64, gain Gain) *Labels {
	n := t.Len()
	l := &Labels{Tree: t, Measure: gain, Gain: make([]float64, n), Loss: make([]float64, n), Leaves: make([]int32, n),
		Sum: make([][]float64, len(values))}
	for i := n - 1; i >= 0; i-- {
		if t.Leaf(i) {
			l.Leaves[i] = 1
		}
		if p := t.Parent[i]; p >= 0 {
			l.Leaves[p] += l.Leaves[i]
		}
	}
	cancel := make([]float64, n) // size of the terms whose difference the loss is
	for first := 0; first < len(values); first += atOnce {
		some := values[first:min(first+atOnce, len(values))]
		infos := make([][]float64, len(some))
		_ = parallel.For(context.Background(), len(some), func(x int) {
			l.Sum[first+x], infos[x] = l.sums(some[x])
		})
		_ = parallel.Ranges(context.Background(), n, 1<<12, func(from, to int) {
			for i := from; i < to; i++ {
				if t.Leaf(i) {
					continue
				}
				for x, info := range infos {
					cancel[i] += l.add(i, l.Sum[first+x][i], info[i])
				}
			}
		})
	}
	l.noise = cancel
	for i := range n {
		cancel[i] *= guard
		if math.Abs(l.Loss[i]) < cancel[i] {
			l.Loss[i] = 0
		}
		if gain == GainEntropy && math.Abs(l.Gain[i]) < cancel[i] {
			l.Gain[i] = 0
		}
	}
	return l
}

// atOnce is the number of variables that are added up at once: each takes two numbers a node.
const atOnce = 16

// add adds a variable to the gain and the loss of an inner node, by Σ v and Σ v log2 v below it, and returns the size
// of the terms whose difference the loss is.
func (l *Labels) add(i int, sum, info float64) float64 {
	count := float64(l.Leaves[i])
	whole, spread := xlog2(sum), sum*math.Log2(count)
	if l.Measure == GainValues {
		l.Gain[i] += count - 1
	} else {
		l.Gain[i] += whole - info
	}
	l.Loss[i] += info - whole + spread
	return math.Abs(info) + math.Abs(whole) + spread
}

// sums returns Σ v and Σ v log2 v below every node. Adding level by level keeps
// the rounding of a million terms small.
func (l *Labels) sums(v []float64) (sum, info []float64) {
	t, n := l.Tree, l.Tree.Len()
	sum, info = make([]float64, n), make([]float64, n)
	parallel.Ranges(context.Background(), n, 1<<12, func(from, to int) {
		for i := from; i < to; i++ {
			if t.Leaf(i) {
				sum[i], info[i] = v[i], xlog2(v[i])
			}
		}
	})
	for i := n - 1; i > 0; i-- {
		p := t.Parent[i]
		sum[p] += sum[i]
		info[p] += info[i]
	}
	return sum, info
}

func xlog2(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return v * math.Log2(v)
}

// PIC is the quality of node i drawn as one.
func (l *Labels) PIC(i int, p float64) float64 { return p*l.Gain[i] - (1-p)*l.Loss[i] }
