// Package scaling says how a program behaves as it grows: POP's factors over runs of several sizes, and
// models of time against size that predict larger sizes.
//
// The factors are those of the POP methodology as BSC's tools compute them
// (https://pop-coe.eu/node/69). Each is relative to the smallest run. Models have
// Extra-P's normal form c0 + Σ ck · n^i · log2(n)^j (Calotoiu and others: Using automated
// performance modeling to find scalability bugs in complex codes, 2013).
package scaling

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/pop"
)

// A Run is one run of a size. Values that the source does not have are NaN.
type Run struct {
	Size    float64   // ranks
	Runtime float64   // ns
	Useful  []float64 // of each rank, ns
	// Instructions and Cycles of all ranks in useful time.
	Instructions, Cycles float64
}

// A Factor is one row of the table, a value a run; NaN where it is not known.
type Factor struct {
	Name   string
	Level  int  // in the tree of factors
	Share  bool // 1 is ideal; else a plain number
	Values []float64
}

// A Kind states whether the problem grew with the machine.
type Kind string

const (
	Strong Kind = "strong" // the same problem on more ranks
	Weak   Kind = "weak"   // a problem that grows with them
)

// KindOf distinguishes them by how the instructions of all ranks grow, or the useful time
// where they are not known: in strong scaling they stay, in weak scaling they grow with
// the ranks. Runs are in order of size; one size alone is strong.
func KindOf(runs []Run) Kind {
	first, last := &runs[0], &runs[len(runs)-1]
	a, b := first.Instructions, last.Instructions
	if !(a > 0 && b > 0) {
		a, b = total(first.Useful), total(last.Useful)
	}
	if last.Size > first.Size && a > 0 && math.Log(b/a)/math.Log(last.Size/first.Size) > 0.5 {
		return Weak
	}
	return Strong
}

// Table computes the factors of runs in order of size.
func Table(runs []Run, kind Kind) []Factor {
	out := []Factor{
		{Name: "Global efficiency", Share: true},
		{Name: "Parallel efficiency", Level: 1, Share: true},
		{Name: "Load balance", Level: 2, Share: true},
		{Name: "Communication efficiency", Level: 2, Share: true},
		{Name: "Computation scalability", Level: 1, Share: true},
		{Name: "IPC scalability", Level: 2, Share: true},
		{Name: "Instruction scalability", Level: 2, Share: true},
		{Name: "Frequency scalability", Level: 2, Share: true},
		{Name: "Speedup"},
		{Name: "Average IPC"},
		{Name: "Average frequency (GHz)"},
	}
	if len(runs) == 0 {
		return out
	}
	first := &runs[0]
	for i := range runs {
		r := &runs[i]
		e := pop.Of(r.Useful, r.Runtime)
		grown := 1.0 // how much more work there is
		if kind == Weak {
			grown = r.Size / first.Size
		}
		useful := grown * total(first.Useful) / total(r.Useful)
		ipc, ipc0 := r.Instructions/r.Cycles, first.Instructions/first.Cycles
		frequency, frequency0 := r.Cycles/total(r.Useful), first.Cycles/total(first.Useful)
		for k, v := range []float64{
			e.Parallel * useful, e.Parallel, e.LoadBalance, e.Communication, useful,
			ipc / ipc0, grown * first.Instructions / r.Instructions, frequency / frequency0,
			grown * first.Runtime / r.Runtime, ipc, frequency,
		} {
			out[k].Values = append(out[k].Values, v)
		}
	}
	return out
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}
