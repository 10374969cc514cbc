package scaling

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Sized is a run of one size, with the times of its call paths.
type Sized struct {
	Sums   Run
	Summed bool // the source is a sum over ranks
	Print  *fingerprint.Print
	per    float64 // divisor of times of call paths: locations, or ranks of a sum over them
}

// NewSized returns the run of a fingerprint. Unknown values are NaN.
func NewSized(p *fingerprint.Print) Sized {
	s := Run{Size: float64(p.Size()), Runtime: p.Length, Instructions: known(p.Instructions), Cycles: known(p.Cycles)}
	for i := range p.Units {
		s.Useful = append(s.Useful, p.Units[i].Useful)
	}
	if len(s.Useful) == 0 {
		s.Useful = []float64{math.NaN()}
	}
	return Sized{Sums: s, Print: p, per: float64(max(p.Locations, 1))}
}

func known(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

// SetSize sets the number of ranks. A profile of one location that is of several ranks is their sum, and is divided
// evenly.
func (s *Sized) SetSize(size float64) {
	s.Sums.Size = size
	if s.Print.Size() > 1 || s.Print.Timed || size <= 1 {
		return
	}
	n := int(min(size, 1<<20))
	s.Sums.Useful = slices.Repeat([]float64{s.Sums.Useful[0] / float64(n)}, n)
	s.Sums.Runtime /= float64(n)
	s.per, s.Summed = float64(n), true
}

// Beyond is how many times the largest size is predicted.
const Beyond = 4

// A PathModel is the exclusive time of a call path per location against size.
type PathModel struct {
	CallPath, Name string
	Role           trace.Role
	Values         []float64 // of each run
	Model
	Fitted    bool
	Predicted float64 // at Beyond times the largest size
}

// mostError is the error past which nothing is predicted: no curve fits.
const mostError = 0.3

// leastShare is the part of a run's length that a call path must have in some run to be shown.
const leastShare = 0.001

// FitPaths joins the call trees of runs, by size, and fits a model to each path, the largest prediction first. Runs of
// one size are several values of it.
func FitPaths(runs []Sized) (out []PathModel) {
	trees := make([][]compare.Path, len(runs))
	sides := make([]int, len(runs))
	for i := range runs {
		trees[i] = runs[i].Print.Tree()
		if i > 0 {
			sides[i] = 1
		}
	}
	tree := compare.Match(trees, sides, nil)
	all := make([]PathModel, len(tree.Nodes))
	for n := range all {
		all[n] = PathModel{CallPath: tree.CallPath(int32(n)), Name: tree.Nodes[n].Name, Role: tree.Nodes[n].Role,
			Values: make([]float64, len(runs))}
	}
	sizes := make([]float64, len(runs))
	for i := range runs {
		p := runs[i].Print
		sizes[i] = runs[i].Sums.Size
		for j := range p.Paths {
			all[tree.Place[i][j]].Values[i] += p.Paths[j].Exclusive / runs[i].per
		}
	}
	for n := range all {
		m := &all[n]
		large := false
		for i, v := range m.Values {
			large = large || v >= leastShare*runs[i].Sums.Runtime && v > 0
		}
		if !large {
			continue
		}
		if distinct(sizes) >= LeastSizes {
			if m.Model, m.Fitted = Fit(sizes, m.Values); m.Fitted {
				m.Predicted = max(m.At(Beyond*sizes[len(sizes)-1]), 0)
				m.Fitted = m.Error <= mostError
			}
		}
		out = append(out, *m)
	}
	slices.SortStableFunc(out, func(a, b PathModel) int {
		return cmp.Or(cmp.Compare(b.Last(), a.Last()), cmp.Compare(a.CallPath, b.CallPath))
	})
	return out
}

// Last is the predicted value, or the last measured one if no curve fits.
func (m *PathModel) Last() float64 {
	if m.Fitted {
		return m.Predicted
	}
	return m.Values[len(m.Values)-1]
}
