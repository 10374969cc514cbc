package scaling

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// beyond is how many times the largest size is foretold.
const beyond = 4

// A model is the exclusive time of a call path, a location, against size.
type model struct {
	callpath, name string
	role           trace.Role
	values         []float64 // of each run
	scaling.Model
	fitted    bool
	predicted float64
}

// mostError is the error past which nothing is foretold: no curve fits.
const mostError = 0.3

// leastShare is the part of a run's length that a call path must have in some run to be shown.
const leastShare = 0.001

// fit joins the call trees of all runs and fits a model to each path. Runs of one size
// are several values of it.
func (r *result) fit() {
	trees := make([][]compare.Path, len(r.runs))
	sides := make([]int, len(r.runs))
	for i := range r.runs {
		trees[i] = r.runs[i].print.Tree()
		if i > 0 {
			sides[i] = 1
		}
	}
	tree := compare.Match(trees, sides, nil)
	all := make([]model, len(tree.Nodes))
	for n := range all {
		all[n] = model{callpath: tree.CallPath(int32(n)), name: tree.Nodes[n].Name, role: tree.Nodes[n].Role,
			values: make([]float64, len(r.runs))}
	}
	sizes := make([]float64, len(r.runs))
	distinct := map[float64]bool{}
	for i := range r.runs {
		p := r.runs[i].print
		sizes[i] = r.runs[i].sums.Size
		distinct[sizes[i]] = true
		for j := range p.Paths {
			all[tree.Place[i][j]].values[i] += p.Paths[j].Exclusive / r.runs[i].per
		}
	}
	for n := range all {
		m := &all[n]
		large := false
		for i, v := range m.values {
			large = large || v >= leastShare*r.runs[i].sums.Runtime && v > 0
		}
		if !large {
			continue
		}
		if len(distinct) >= scaling.LeastSizes {
			if m.Model, m.fitted = scaling.Fit(sizes, m.values); m.fitted {
				m.predicted = max(m.At(beyond*sizes[len(sizes)-1]), 0)
				m.fitted = m.Error <= mostError
			}
		}
		r.models = append(r.models, *m)
	}
	slices.SortStableFunc(r.models, func(a, b model) int {
		return cmp.Or(cmp.Compare(b.at(), a.at()), cmp.Compare(a.callpath, b.callpath))
	})
}

// at is the predicted value, or the last measured one if no curve fits.
func (m *model) at() float64 {
	if m.fitted {
		return m.predicted
	}
	return m.values[len(m.values)-1]
}
