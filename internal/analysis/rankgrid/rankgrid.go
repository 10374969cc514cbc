// Package rankgrid finds the grid that ranks are laid out on from their traffic.
//
// A grid of sides d1 × … × dk, the first fastest, puts each pair of ranks into a class:
// one step on an axis, the step round its edge, further along its line; diagonal; rest.
// It explains as many bits of where traffic goes as its classes tell more than all pairs
// alike.
package rankgrid

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// Enough is the share of the traffic's structure that a grid must explain.
	Enough = 0.5
	// leastStructure is how many bits the traffic must differ from one that goes alike to all.
	leastStructure = 0.5
	mostSides      = 4
)

// A Grid is the result of Find. Dims is nil if traffic goes alike to all.
type Grid struct {
	Dims      []int
	Periodic  []bool  // by axis; sides of 2 do not tell
	Structure float64 // bits
	Explained float64 // share of them
	First     int     // rank at the grid's begin: 1 where rank 0 is a master
	Ranks     int     // on the grid
}

// Fits reports whether a grid of several sides explains enough.
func (g *Grid) Fits() bool { return g != nil && len(g.Dims) > 1 && g.Explained >= Enough }

// Place is where a rank lies, counted from First.
func Place(rank int, dims []int) []int {
	out := make([]int, len(dims))
	for k, d := range dims {
		out[k] = rank % d
		rank /= d
	}
	return out
}

type pair struct{ a, b int }

// Find returns the grid of n ranks, also with the first or the last rank left out where
// all do not fit; nil if there is too little traffic to tell.
func Find(n int, cells []trace.RankTraffic) *Grid {
	pairs := map[pair]float64{}
	for _, c := range cells {
		if c.From != c.To && c.Weight > 0 {
			pairs[pair{min(c.From, c.To), max(c.From, c.To)}] += c.Weight
		}
	}
	all := find(n, sorted(pairs))
	if all != nil && (all.Dims == nil || all.Fits()) {
		return all
	}
	whole := total(sorted(pairs))
	for _, first := range []int{1, 0} {
		inner := map[pair]float64{}
		for p, w := range pairs {
			if p.a >= first && p.b < n-1+first {
				inner[pair{p.a - first, p.b - first}] = w
			}
		}
		list := sorted(inner)
		if total(list) < 0.5*whole {
			continue
		}
		if g := find(n-1, list); g.Fits() {
			g.First = first
			return g
		}
	}
	return all
}

// A flow is the traffic of a pair, in both directions.
type flow struct {
	pair
	weight float64
}

func sorted(pairs map[pair]float64) []flow {
	out := make([]flow, 0, len(pairs))
	for p, w := range pairs {
		out = append(out, flow{p, w})
	}
	slices.SortFunc(out, func(x, y flow) int { return cmp.Or(x.a-y.a, x.b-y.b) })
	return out
}

func total(flows []flow) (sum float64) {
	for _, f := range flows {
		sum += f.weight
	}
	return sum
}

// find tries every grid of n ranks.
func find(n int, flows []flow) *Grid {
	if n < 4 || len(flows) < 3 {
		return nil
	}
	g := &Grid{Structure: structure(n, flows), Ranks: n}
	if g.Structure < leastStructure {
		return g
	}
	strides := map[int]bool{}
	for _, f := range flows {
		strides[f.b-f.a] = true
	}
	best := math.Inf(-1)
	var have map[class]float64
	for _, dims := range candidates(n) {
		if len(dims) > 1 && !occurs(dims, strides) {
			continue
		}
		bits, price, traffic := explain(n, flows, dims)
		if math.IsInf(best, -1) || bits-price > best+0.01*g.Structure {
			best, have = bits-price, traffic
			g.Dims, g.Explained = dims, bits/g.Structure
		}
	}
	count := counts(g.Dims)
	for k, d := range g.Dims {
		near := have[class{near, k}] / max(count[class{near, k}], 1)
		wrap := have[class{round, k}] / max(count[class{round, k}], 1)
		g.Periodic = append(g.Periodic, d >= 3 && wrap > 0 && wrap >= 0.5*near)
	}
	return g
}

// occurs reports whether a step on every axis is a difference of ranks with traffic.
func occurs(dims []int, strides map[int]bool) bool {
	step := 1
	for _, d := range dims {
		if !strides[step] {
			return false
		}
		step *= d
	}
	return true
}

// candidates lists the ordered ways to write n as a product: few sides first, then even
// ones.
func candidates(n int) [][]int {
	out := factorings(n, mostSides)
	slices.SortFunc(out, func(a, b []int) int {
		return cmp.Or(len(a)-len(b), slices.Max(a)-slices.Min(a)-(slices.Max(b)-slices.Min(b)), slices.Compare(a, b))
	})
	return out
}

func factorings(n, most int) (out [][]int) {
	if n >= 2 {
		out = append(out, []int{n})
	}
	if most == 1 {
		return out
	}
	for d := 2; d <= n/2; d++ {
		if n%d == 0 {
			for _, rest := range factorings(n/d, most-1) {
				out = append(out, append([]int{d}, rest...))
			}
		}
	}
	return out
}

// structure is how many bits traffic is from evenly spread over all pairs.
func structure(n int, flows []flow) float64 {
	all, h := total(flows), 0.0
	for _, f := range flows {
		h -= f.weight / all * math.Log2(f.weight/all)
	}
	return math.Log2(float64(n)*float64(n-1)/2) - h
}

// A class of pairs; the axis is 0 for diagonal and rest.
type class struct {
	sort sort
	axis int
}

type sort uint8

const (
	near     sort = iota // one step
	round                // the step round the edge
	line                 // further along the line
	diagonal             // one step on several axes
	rest
)

// counts returns the number of pairs of places of each class.
func counts(dims []int) map[class]float64 {
	n := 1
	for _, d := range dims {
		n *= d
	}
	out := map[class]float64{}
	reach, steps, sum := 1, 0, 0
	for k, d := range dims {
		a, b := (d-1)*n/d, 0
		if reach *= 4; d >= 3 {
			b, reach = n/d, reach/4*3*d
		}
		c := n/d*(d*(d-1)/2) - a - b
		out[class{near, k}], out[class{round, k}], out[class{line, k}] = float64(a), float64(b), float64(c)
		steps, sum = steps+a+b, sum+a+b+c
	}
	diag := (reach-n)/2 - steps
	out[class{diagonal, 0}], out[class{rest, 0}] = float64(diag), float64(n*(n-1)/2-sum-diag)
	return out
}

func classOf(a, b int, dims []int) class {
	axes, axis, beside, apart := 0, 0, true, 0
	for k, d := range dims {
		x := a%d - b%d
		a, b = a/d, b/d
		if x == 0 {
			continue
		}
		if x < 0 {
			x = -x
		}
		axes, axis, apart = axes+1, k, x
		beside = beside && min(x, d-x) == 1
	}
	switch {
	case axes == 1 && apart == 1:
		return class{near, axis}
	case axes == 1 && beside:
		return class{round, axis}
	case axes == 1:
		return class{line, axis}
	case beside:
		return class{diagonal, 0}
	}
	return class{rest, 0}
}

// explain returns the bits that the classes of a grid explain, the price of having so
// many classes, and the traffic of each.
func explain(n int, flows []flow, dims []int) (bits, price float64, have map[class]float64) {
	have = map[class]float64{}
	for _, f := range flows {
		have[classOf(f.a, f.b, dims)] += f.weight
	}
	count, all, pairs := counts(dims), total(flows), float64(n)*float64(n-1)/2
	used := 0
	for k := range dims {
		for sort := near; sort <= rest; sort++ { // in order, so that the sum is always the same
			c := class{sort, k}
			if v := have[c]; v > 0 {
				bits += v / all * math.Log2(v/all/(count[c]/pairs))
			}
			if count[c] > 0 {
				used++
			}
		}
	}
	m := float64(len(flows))
	return bits, float64(used-1) * math.Log2(max(m, 2)) / (2 * m), have
}
