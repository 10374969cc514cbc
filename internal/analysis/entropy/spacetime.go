package entropy

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A SpaceTime is a tree whose leaves have values in equal slices of time. Its
// aggregates are a node over consecutive slices; |A| = leaves × slices.
//
// After the time and space × time programmes of Dosimont, Lamarche-Perrin and
// others. Gain and loss of every (node, first, last) are kept, so that a new p
// costs only the programme itself: O(nodes × slices³) time, O(nodes × slices²) memory.
type SpaceTime struct {
	Tree   *Tree
	Slices int
	gain   [][]float64 // per node, at first*Slices+last
	loss   [][]float64
	sum    [][]float64 // per node and variable: prefix sums over time
}

// A Part is one aggregate: a node over the slices First … Last.
type Part struct {
	Node, First, Last int32
	Gain, Loss        float64
}

// Cells are the values of leaves in slices. A leaf may stand for several places of the
// system that are not told apart: then the number of them and the information of each
// count as if they were, so that what is read off the whole does not change.
type Cells struct {
	// Count of a leaf is how many places it stands for; nil: one each.
	Count []float64
	// Sum[x] and Info[x] hold Σ v and Σ v log2 v of variable x over the places of leaf i
	// in slice s, at i*slices+s; entries of inner nodes are not read.
	Sum, Info [][]float64
}

// XLog2 is v log2 v, and 0 at 0.
func XLog2(v float64) float64 { return xlog2(v) }

// NewCells prepares gain and loss of leaves that may stand for many.
func NewCells(ctx context.Context, t *Tree, slices int, cells *Cells, gain Gain) (*SpaceTime, error) {
	n, values := t.Len(), cells.Sum
	st := &SpaceTime{Tree: t, Slices: slices, gain: make([][]float64, n), loss: make([][]float64, n)}
	leaves := make([]float64, n)
	sum, info := make([][]float64, len(values)), make([][]float64, len(values)) // prefix sums, node-major
	for x := range values {
		sum[x], info[x] = make([]float64, n*(slices+1)), make([]float64, n*(slices+1))
	}
	for i := n - 1; i >= 0; i-- {
		if t.Leaf(i) {
			leaves[i] = 1
			if cells.Count != nil {
				leaves[i] = cells.Count[i]
			}
		}
		at := i * (slices + 1)
		for x := range values {
			s, f := sum[x][at:at+slices+1], info[x][at:at+slices+1]
			if t.Leaf(i) {
				for k := range slices {
					s[k+1], f[k+1] = s[k]+cells.Sum[x][i*slices+k], f[k]+cells.Info[x][i*slices+k]
				}
			}
			if p := t.Parent[i]; p >= 0 {
				up := int(p) * (slices + 1)
				for k := range s {
					sum[x][up+k] += s[k]
					info[x][up+k] += f[k]
				}
			}
		}
		if p := t.Parent[i]; p >= 0 {
			leaves[p] += leaves[i]
		}
	}
	err := parallel.For(ctx, n, func(i int) {
		g, l := make([]float64, slices*slices), make([]float64, slices*slices)
		at := i * (slices + 1)
		for a := range slices {
			for b := a; b < slices; b++ {
				if leaves[i] == 1 && a == b {
					continue
				}
				count := leaves[i] * float64(b-a+1)
				var gx, lx, cancel float64
				for x := range values {
					v, f := sum[x][at+b+1]-sum[x][at+a], info[x][at+b+1]-info[x][at+a]
					whole, spread := xlog2(v), v*math.Log2(count)
					if gain == GainValues {
						gx += count - 1
					} else {
						gx += whole - f
					}
					lx += f - whole + spread
					cancel += math.Abs(f) + math.Abs(whole) + spread
				}
				if math.Abs(lx) < 1e-12*cancel {
					lx = 0
				}
				if gain == GainEntropy && math.Abs(gx) < 1e-12*cancel {
					gx = 0
				}
				g[a*slices+b], l[a*slices+b] = gx, lx
			}
		}
		st.gain[i], st.loss[i] = g, l
	})
	st.sum = sum
	return st, err
}

// Sum is the value of variable x over node i and the slices first … last.
func (st *SpaceTime) Sum(x int, part Part) float64 {
	at := int(part.Node) * (st.Slices + 1)
	return st.sum[x][at+int(part.Last)+1] - st.sum[x][at+int(part.First)]
}

// Whole is gain and loss of the root over all slices.
func (st *SpaceTime) Whole() (gain, loss float64) {
	return st.gain[0][st.Slices-1], st.loss[0][st.Slices-1]
}

const (
	asOne   = int16(-1)
	bySpace = int16(-2)
)

// Weights are what a unit of gain and of loss count for.
type Weights struct{ Gain, Loss float64 }

// Weights of p on a scale.
func (st *SpaceTime) Weights(p float64, s Scale) Weights {
	w := Weights{p, 1 - p}
	if gain, loss := st.Whole(); s == Normalised && gain > 0 && loss > 0 {
		w.Gain, w.Loss = w.Gain/gain, w.Loss/loss
	}
	return w
}

// Best gives the best partition, and its quality. Among ties a cut in space comes
// first, then the earliest cut in time, the aggregate only where it is strictly better.
func (st *SpaceTime) Best(ctx context.Context, p Weights) (parts []Part, pic float64, err error) {
	n, s := st.Tree.Len(), st.Slices
	value := make([][]float64, n) // best of (node, first, last)
	choice := make([][]int16, n)
	levels := st.levels()
	for d := len(levels) - 1; d >= 0; d-- { // the nodes of a level need only those below
		nodes := levels[d]
		err := parallel.For(ctx, len(nodes), func(k int) {
			i := int(nodes[k])
			value[i], choice[i] = make([]float64, s*s), make([]int16, s*s)
			st.addChildren(i, value)
			st.programme(i, p, !st.Tree.Leaf(i), value[i], choice[i])
		})
		if err != nil {
			return nil, 0, err
		}
	}
	st.collect(choice, 0, 0, s-1, &parts)
	return parts, value[0][s-1], nil
}

// levels lists the nodes by their depth.
func (st *SpaceTime) levels() (out [][]int32) {
	depth := make([]int, st.Tree.Len())
	for i, p := range st.Tree.Parent {
		if p >= 0 {
			depth[i] = depth[p] + 1
		}
		for len(out) <= depth[i] {
			out = append(out, nil)
		}
		out[depth[i]] = append(out[depth[i]], int32(i))
	}
	return out
}

// addChildren sums the best of a node's children, the last one first, and lets
// them go.
func (st *SpaceTime) addChildren(i int, value [][]float64) {
	var children []int
	for k := i + 1; k <= int(st.Tree.Last[i]); k = int(st.Tree.Last[k]) + 1 {
		children = append(children, k)
	}
	for k := len(children) - 1; k >= 0; k-- {
		for at, v := range value[children[k]] {
			value[i][at] += v
		}
		value[children[k]] = nil
	}
}

// programme fills best and choice of one node for all stretches, short ones
// first. For an inner node best comes in holding the sum over its children.
func (st *SpaceTime) programme(i int, p Weights, inner bool, best []float64, choice []int16) {
	s, gain, loss := st.Slices, st.gain[i], st.loss[i]
	column := make([]float64, s) // best[c+1 … b] by c, so that the inner loop reads straight
	for b := range s {
		for a := b; a >= 0; a-- {
			at := a*s + b
			top, how := math.Inf(-1), asOne
			slack := 1e-12 * (math.Abs(p.Gain*gain[at]) + math.Abs(p.Loss*loss[at]))
			if inner {
				top, how = best[at], bySpace
			}
			row, limit := best[a*s+a:a*s+b], top+slack
			rest := column[a+1:][:len(row)] // nearly all of the time goes into this loop
			for c, x := range row {
				if v := x + rest[c]; v > limit {
					top, how, limit = v, int16(a+c), v+slack
				}
			}
			if own := p.Gain*gain[at] - p.Loss*loss[at]; own > limit || math.IsInf(top, -1) {
				top, how = own, asOne
			}
			best[at], choice[at] = top, how
			column[a] = top
		}
	}
}

func (st *SpaceTime) collect(choice [][]int16, i, a, b int, parts *[]Part) {
	at := a*st.Slices + b
	switch c := choice[i][at]; c {
	case asOne:
		*parts = append(*parts, Part{int32(i), int32(a), int32(b), st.gain[i][at], st.loss[i][at]})
	case bySpace:
		for k := i + 1; k <= int(st.Tree.Last[i]); k = int(st.Tree.Last[k]) + 1 {
			st.collect(choice, k, a, b, parts)
		}
	default:
		st.collect(choice, i, a, int(c), parts)
		st.collect(choice, i, int(c)+1, b, parts)
	}
}

// Root is the aggregate of everything.
func (st *SpaceTime) Root() Part {
	gain, loss := st.Whole()
	return Part{0, 0, int32(st.Slices - 1), gain, loss}
}
