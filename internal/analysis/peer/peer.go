// Package peer finds GPUs on which the same kernels take longer than on the others.
//
// Kernels are alike where name and grid are the same. Only those count that a GPU runs about as often as the others do:
// where the work is spread otherwise a longer time says nothing. O(kernels × GPUs).
package peer

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Kind is kernels that do the same: a name, and how many blocks it is launched with.
type Kind struct {
	Region trace.RegionID
	Grid   string
}

// A Sum is a number of calls and their total time.
type Sum struct {
	Count int64
	Time  trace.Time
}

const (
	// Slow is how much longer the kernels of a GPU must take, all together, or one kernel alone.
	Slow       = 1.10
	SlowKernel = 1.30
	// least is the part of a GPU's time that one kernel must lose to be reported.
	least = 0.03
	// fewest is how often a GPU must run a kernel.
	fewest = 4
	// often is by how much counts may differ for kernels to be compared.
	often = 0.1
)

// A Slower is a GPU that is slower than its peers.
type Slower struct {
	GPU      int
	Ratio    float64 // all its kernels together against the same on the others
	Time     trace.Time
	Expected trace.Time // if each took the time that it takes on the others, in the middle
	Kernels  []Kernel   // those that lose most, first
}

// Lost returns the time above that of its peers.
func (s *Slower) Lost() trace.Time { return s.Time - s.Expected }

// A Kernel is one kind of kernels of a slow GPU.
type Kernel struct {
	Kind
	Mean, Others float64 // of a call, ns: here, and in the middle of the others
	Lost         trace.Time
}

// Find compares GPUs; by holds for each GPU the time of each kind of kernels. At least three GPUs are needed to tell
// which one differs. If more than a third are slow, it reports none.
func Find(by []map[Kind]Sum) []Slower {
	if len(by) < 3 {
		return nil
	}
	kinds := map[Kind][]float64{} // means of the GPUs that have it
	counts := map[Kind][]float64{}
	for _, one := range by {
		for k, s := range one {
			if s.Count >= fewest {
				kinds[k] = append(kinds[k], float64(s.Time)/float64(s.Count))
				counts[k] = append(counts[k], float64(s.Count))
			}
		}
	}
	for k := range kinds {
		slices.Sort(kinds[k])
		slices.Sort(counts[k])
	}
	var out []Slower
	for g, one := range by {
		if s, ok := compare(g, one, kinds, counts, len(by)); ok {
			out = append(out, s)
		}
	}
	if 3*len(out) > len(by) {
		return nil
	}
	slices.SortStableFunc(out, func(a, b Slower) int { return cmp.Compare(b.Lost(), a.Lost()) })
	return out
}

func compare(g int, one map[Kind]Sum, kinds, counts map[Kind][]float64, gpus int) (Slower, bool) {
	s := Slower{GPU: g}
	expected, whole := 0.0, trace.Time(0)
	for k, x := range one {
		whole += x.Time
		list := kinds[k]
		if x.Count < fewest || len(list) < 3 || 2*len(list) < gpus {
			continue
		}
		if n := counts[k][len(list)/2]; float64(x.Count) > n*(1+often) || float64(x.Count) < n*(1-often) {
			continue
		}
		mean := float64(x.Time) / float64(x.Count)
		others := list[(len(list)-1)/2]
		expected += others * float64(x.Count)
		s.Time += x.Time
		if mean >= SlowKernel*others {
			s.Kernels = append(s.Kernels, Kernel{k, mean, others, trace.Time((mean - others) * float64(x.Count))})
		}
	}
	if expected <= 0 || 2*s.Time < whole { // most of its time cannot be compared
		return s, false
	}
	s.Expected = trace.Time(expected)
	s.Ratio = float64(s.Time) / expected
	slices.SortFunc(s.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Grid, b.Grid))
	})
	lost := trace.Time(0)
	for _, k := range s.Kernels {
		lost += k.Lost
	}
	return s, s.Ratio >= Slow || float64(lost) >= least*float64(whole)
}
