// Package history finds the lasting changes of runs in order: of their length, and of their call paths. Values
// outside of the usual range since the last change are listed.
package history

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/change"
	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Series is one number of each run, in order.
type Series struct {
	CallPath, Name string
	Role           trace.Role
	Values         []float64
	Changes        []change.Point
	// Mean, Low and High are of the usual values since the last change; NaN if there are too few runs.
	Mean, Low, High float64
	Outside         []int // runs since the last change whose values are not usual
}

const (
	// leastShare is the part of the length that a call path must have in some run.
	leastShare = 0.005
	// mostSeries bounds how many call paths are looked at: those that vary most.
	mostSeries = 40
	// level is the share of wrong changes that is accepted, over all call paths.
	level = 0.05
	// leastUsual is the number of runs from which usual values are known.
	leastUsual = 5
)

// OfRuns returns the length of the runs, given in order by their prints, and their call paths, those that changed
// first. Changes by less than least, a share, are left out.
func OfRuns(ctx context.Context, runs []*fingerprint.Print, least float64) ([]Series, error) {
	stepped, _ := fingerprint.BySteps(runs)
	length := lengthOf(runs, stepped)
	most := slices.Max(length.Values)
	paths := slices.DeleteFunc(pathsOf(runs, stepped), func(s Series) bool {
		return slices.Max(s.Values) < leastShare*most
	})
	slices.SortStableFunc(paths, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.varies(), a.varies()), cmp.Compare(a.CallPath, b.CallPath))
	})
	paths = paths[:min(len(paths), mostSeries)]
	all := append([]Series{length}, paths...)
	for i := range all {
		s := &all[i]
		o := change.Options{Window: change.Defaults.Window, P: level, Magnitude: least}
		if i > 0 {
			o.P = level / float64(len(paths))
		}
		o.Drawn = int(math.Ceil(1/o.P)) * 2
		s.Changes = change.Points(s.Values, o)
		s.findUsual()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all[1:], func(a, b Series) int {
		return cmp.Compare(min(len(b.Changes), 1), min(len(a.Changes), 1))
	})
	return all, nil
}

// lengthOf returns the lengths of runs, or the mean lengths of their steps.
func lengthOf(runs []*fingerprint.Print, stepped bool) Series {
	length := Series{CallPath: "run", Name: "length of the run"}
	if stepped {
		length.CallPath, length.Name = "step", "length of a step"
	}
	for _, p := range runs {
		v := p.Length
		if stepped {
			v = 0
			for k := range p.Steps {
				v += p.Steps[k].Total / float64(len(p.Steps))
			}
		}
		length.Values = append(length.Values, v)
	}
	return length
}

func (s *Series) varies() float64 { return slices.Max(s.Values) - slices.Min(s.Values) }

// findUsual finds the usual values since the last change: the mean, and three standard
// deviations, these from the differences of neighbours, so that a drift does not widen
// them.
func (s *Series) findUsual() {
	from := 0
	if n := len(s.Changes); n > 0 {
		from = s.Changes[n-1].Index
	}
	s.Mean, s.Low, s.High = math.NaN(), math.NaN(), math.NaN()
	last := s.Values[from:]
	if len(last) < leastUsual {
		return
	}
	sum, moving := 0.0, 0.0
	for i, v := range last {
		sum += v
		if i > 0 {
			moving += math.Abs(v - last[i-1])
		}
	}
	s.Mean = sum / float64(len(last))
	const perRange = 2.659574 // 3 / 1.128: the mean difference of two normal values is 1.128 standard deviations
	far := perRange * moving / float64(len(last)-1)
	s.Low, s.High = s.Mean-far, s.Mean+far
	for i, v := range last {
		if v < s.Low || v > s.High {
			s.Outside = append(s.Outside, from+i)
		}
	}
}

// pathsOf returns the exclusive times of call paths, a location, or a step.
func pathsOf(runs []*fingerprint.Print, stepped bool) []Series {
	trees, sides := make([][]compare.Path, len(runs)), make([]int, len(runs))
	for i, p := range runs {
		trees[i] = p.Tree()
		if i > 0 {
			sides[i] = 1
		}
	}
	tree := compare.Match(trees, sides, nil)
	out := make([]Series, len(tree.Nodes))
	for n := range out {
		out[n] = Series{CallPath: tree.CallPath(int32(n)), Name: tree.Nodes[n].Name, Role: tree.Nodes[n].Role,
			Values: make([]float64, len(runs))}
	}
	for i, p := range runs {
		per := float64(max(p.Locations, 1))
		if stepped {
			per = p.StepParts()
		}
		for j := range p.Paths {
			out[tree.Place[i][j]].Values[i] += p.Paths[j].Exclusive / per
		}
	}
	return out
}
