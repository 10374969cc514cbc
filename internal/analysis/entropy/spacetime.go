package entropy

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A SpaceTime is a tree whose leaves have values in equal slices of time. Its
// aggregates are a node over consecutive slices; |A| = leaves × slices.
//
// After the time and space × time programmes of Dosimont, Lamarche-Perrin and
// others. Gain and loss of every (node, first, last) are kept, so that a new p
// costs only the programme itself: O(nodes × slices³) time, O(nodes × slices²) memory.
type SpaceTime struct {
	Tree    *Tree
	Slices  int
	gain    [][]float64 // per node, at first*Slices+last
	loss    [][]float64
	sum     [][]float64 // per node and variable: prefix sums over time
	measure Gain
	places  float64 // that all leaves stand for
	columns sync.Pool
}

// A Part is one aggregate: a node over the slices First … Last.
type Part struct {
	Node, First, Last int32
	Gain, Loss        float64
}

// Cells are the values of leaves in slices. A leaf may stand for several places of the system that are not
// distinguished: then the number of them and the information of each count as if they were, so that totals do
// not change.
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
				log := math.Log2(count)
				var gx, lx, cancel float64
				for x := range values {
					v, f := sum[x][at+b+1]-sum[x][at+a], info[x][at+b+1]-info[x][at+a]
					whole, spread := xlog2(v), v*log
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
	st.sum, st.measure, st.places = sum, gain, leaves[0]
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
	unknown = int16(-3)
)

// stepsOfCell is the extra cost of a (first, last) of a node, in steps.
const stepsOfCell = 4

// Weights are the weights of one unit of gain and of loss.
type Weights struct{ Gain, Loss float64 }

// Weights of p on a scale.
func (st *SpaceTime) Weights(p float64, s Scale) Weights {
	w := Weights{p, 1 - p}
	if gain, loss := st.Whole(); s == Normalised && gain > 0 && loss > 0 {
		w.Gain, w.Loss = w.Gain/gain, w.Loss/loss
	}
	return w
}

// Axis is that of p on a scale.
func (st *SpaceTime) Axis(s Scale) Axis {
	gain, loss := st.Whole()
	return Axis{gain, loss, s}
}

// Best returns the best partition, and its quality. Among ties a cut in space comes
// first, then the earliest cut in time, the aggregate only where it is strictly better.
func (st *SpaceTime) Best(ctx context.Context, p Weights) (parts []Part, pic float64, err error) {
	choice, pic, _, err := st.solve(ctx, p, nil, &workspace{})
	if err != nil {
		return nil, 0, err
	}
	st.collect(choice, 0, 0, st.Slices-1, &parts)
	return parts, pic, nil
}

// solve fills the choices of all (node, first, last), and says how many steps it took. Choices in known are
// not searched for.
func (st *SpaceTime) solve(ctx context.Context, p Weights, known *bracket,
	w *workspace) (choice [][]int16, pic float64, steps int64, err error) {
	n, s := st.Tree.Len(), st.Slices
	value := w.values(n) // best of (node, first, last)
	choice = w.choices(n)
	var took atomic.Int64
	levels := st.levels()
	for d := len(levels) - 1; d >= 0; d-- { // the nodes of a level need only those below
		nodes := levels[d]
		err := parallel.For(ctx, len(nodes), func(k int) {
			i := int(nodes[k])
			if value[i] == nil {
				value[i] = make([]float64, s*s)
			}
			if choice[i] == nil {
				choice[i] = make([]int16, s*s)
			}
			st.addChildren(i, value)
			if !w.again {
				dropChildren(st.Tree, i, value)
			}
			took.Add(st.programme(i, p, known.of(st.Tree, i, s), value[i], choice[i]))
		})
		if err != nil {
			return nil, 0, 0, err
		}
	}
	return choice, value[0][s-1], took.Load(), nil
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

// chain reports whether a node has one child only.
func (t *Tree) chain(i int) bool { return !t.Leaf(i) && t.Last[i] == t.Last[i+1] }

// A workspace is the memory of runs of the programme; again: there is more than one.
type workspace struct {
	again bool
	value [][]float64
	free  [][][]int16
}

func (w *workspace) values(nodes int) [][]float64 {
	if w.value == nil {
		w.value = make([][]float64, nodes)
	}
	return w.value
}

func (w *workspace) choices(nodes int) [][]int16 {
	if k := len(w.free) - 1; k >= 0 {
		out := w.free[k]
		w.free = w.free[:k]
		return out
	}
	return make([][]int16, nodes)
}

// dropChildren frees the values that only the parent needed.
func dropChildren(t *Tree, i int, value [][]float64) {
	for k := i + 1; k <= int(t.Last[i]); k = int(t.Last[k]) + 1 {
		value[k] = nil
	}
}

// addChildren sums the best of a node's children, the last one first.
func (st *SpaceTime) addChildren(i int, value [][]float64) {
	var children []int
	for k := i + 1; k <= int(st.Tree.Last[i]); k = int(st.Tree.Last[k]) + 1 {
		children = append(children, k)
	}
	for k := len(children) - 1; k >= 0; k-- {
		from, to := value[children[k]], value[i]
		for first := range st.Slices {
			begin, end := first*st.Slices+first, (first+1)*st.Slices
			if k == len(children)-1 {
				copy(to[begin:end], from[begin:end])
				continue
			}
			row := to[begin:end]
			for at, v := range from[begin:end] {
				row[at] += v
			}
		}
	}
}

// programme fills best and choice of one node for all stretches, late and short ones first. For an inner node best
// comes in holding the sum over its children. Known choices are taken as they are. It returns the number of
// steps.
func (st *SpaceTime) programme(i int, p Weights, known []int16, best []float64, choice []int16) (steps int64) {
	s, gain, loss, inner := st.Slices, st.gain[i], st.loss[i], !st.Tree.Leaf(i)
	if st.Tree.chain(i) { // no better as one than its only child is
		for at := range choice {
			choice[at] = bySpace
		}
		return int64(s * s)
	}
	column := st.column() // best[first … last] by last and first, so that the innermost loop reads straight
	defer st.columns.Put(column)
	for a := s - 1; a >= 0; a-- {
		row, gain, loss, choice := best[a*s:][:s], gain[a*s:][:s], loss[a*s:][:s], choice[a*s:][:s]
		for b := a; b < s; b++ {
			if known != nil && known[a*s+b] != unknown {
				how := known[a*s+b]
				choice[b] = how
				switch how {
				case asOne:
					row[b] = p.Gain*gain[b] - p.Loss*loss[b]
				case bySpace:
				default:
					row[b] = row[how] + (*column)[b*s+int(how)+1]
				}
				(*column)[b*s+a] = row[b]
				continue
			}
			top, how := math.Inf(-1), asOne
			slack := 1e-12 * (math.Abs(p.Gain*gain[b]) + math.Abs(p.Loss*loss[b]))
			if inner {
				top, how = row[b], bySpace
			}
			limit, first := top+slack, row[a:b]
			steps += int64(len(first))
			rest := (*column)[b*s+a+1:][:len(first)]
			for c, x := range first {
				if v := x + rest[c]; v > limit {
					top, how, limit = v, int16(a+c), v+slack
				}
			}
			if own := p.Gain*gain[b] - p.Loss*loss[b]; own > limit || math.IsInf(top, -1) {
				top, how = own, asOne
			}
			row[b], choice[b] = top, how
			(*column)[b*s+a] = top
		}
	}
	return steps + int64(s*(s+1)/2)*stepsOfCell
}

// column returns memory for the values of a node by last and first slice.
func (st *SpaceTime) column() *[]float64 {
	if c, ok := st.columns.Get().(*[]float64); ok {
		return c
	}
	c := make([]float64, st.Slices*st.Slices+1)
	return &c
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
