package entropy

import (
	"math"
	"sort"
)

// A Cut is an aggregation: the nodes drawn as one, in preorder, with their total gain and loss.
type Cut struct {
	Parts      []int32
	Gain, Loss float64
}

// Best reads the best aggregation at some odds off the thresholds: the topmost
// nodes that are better as one, and leaves. Ties keep the parts. O(parts).
func (l *Labels) Best(thresholds []float64, odds float64) Cut {
	var c Cut
	l.cut(0, func(i int) bool { return Past(thresholds[i], odds) }, &c)
	return c
}

// Finest returns the best aggregation of the most parts that fits, and the odds up to which it is the best
// one. Nodes that lose nothing at all are one part in all aggregations. It returns false if none fits but
// the whole tree as one. If fits holds for a cut, it must hold for all coarser ones; it is called O(log n)
// times.
func (l *Labels) Finest(thresholds, significant []float64, fits func(Cut) bool) (best Cut, odds float64, ok bool) {
	k := sort.Search(len(significant), func(k int) bool { return fits(l.Best(thresholds, significant[k])) })
	if k == len(significant) {
		return Cut{}, 0, false
	}
	return l.Best(thresholds, significant[k]), significant[k], true
}

// Past reports whether odds are past a threshold, and not merely at it.
func Past(threshold, odds float64) bool {
	return odds > threshold*(1+tie) && !math.IsInf(threshold, 1)
}

// BestParts labels a tree and gives the parts of its best aggregation at p, in normalised units: the parts
// that the treemap draws, for views that group their rows by them.
func BestParts(t *Tree, values [][]float64, p float64) []int32 {
	l := Label(t, values, GainValues)
	if p >= 1 {
		return l.Level(0).Parts
	}
	thresholds, _ := l.Thresholds()
	return l.Best(thresholds, l.Odds(p, Normalised)).Parts
}

// Level is the aggregation at a fixed depth of the tree; shallower leaves stay.
func (l *Labels) Level(depth int) Cut {
	var c Cut
	at := make([]int32, l.Tree.Len())
	l.cut(0, func(i int) bool {
		if p := l.Tree.Parent[i]; p >= 0 {
			at[i] = at[p] + 1
		}
		return int(at[i]) >= depth
	}, &c)
	return c
}

func (l *Labels) cut(root int, whole func(i int) bool, c *Cut) {
	t := l.Tree
	for i := root; i <= int(t.Last[root]); {
		if t.Leaf(i) || whole(i) {
			c.Parts = append(c.Parts, int32(i))
			c.Gain += l.Gain[i]
			c.Loss += l.Loss[i]
			i = int(t.Last[i]) + 1
		} else {
			i++
		}
	}
}

// Count is log10 of the number of cuts of the tree: N(leaf) = 1, N(T) = 1 + Π N(children).
func (t *Tree) Count() float64 {
	n := t.Len()
	product := make([]float64, n) // log10 of the product over the children
	var log float64
	for i := n - 1; i >= 0; i-- {
		if t.Leaf(i) {
			log = 0
		} else if log = product[i]; log < 15 {
			log = math.Log10(1 + math.Pow(10, log))
		}
		if p := t.Parent[i]; p >= 0 {
			product[p] += log
		}
	}
	return log
}
