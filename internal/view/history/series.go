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

// A series is one number of each run, in order.
type series struct {
	callpath, name string
	role           trace.Role
	values         []float64
	changes        []change.Point
	// mean, low and high are of the usual values since the last change; NaN if there are too few
	// runs.
	mean, low, high float64
	outside         []int
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

// measure gathers the length and the call paths, and finds their changes.
func (r *result) measure(ctx context.Context) error {
	prints := make([]*fingerprint.Print, len(r.runs))
	for i := range r.runs {
		prints[i] = r.runs[i].print
	}
	r.stepped, _ = fingerprint.BySteps(prints)
	length := series{callpath: "run", name: "length of the run"}
	if r.stepped {
		length.callpath, length.name = "step", "length of a step"
	}
	for i := range r.runs {
		p := r.runs[i].print
		v := p.Length
		if r.stepped {
			v = 0
			for k := range p.Steps {
				v += p.Steps[k].Total / float64(len(p.Steps))
			}
		}
		length.values = append(length.values, v)
	}
	paths := r.paths()
	most := slices.Max(length.values)
	paths = slices.DeleteFunc(paths, func(s series) bool { return slices.Max(s.values) < leastShare*most })
	slices.SortStableFunc(paths, func(a, b series) int {
		return cmp.Or(cmp.Compare(b.varies(), a.varies()), cmp.Compare(a.callpath, b.callpath))
	})
	paths = paths[:min(len(paths), mostSeries)]
	r.series = append([]series{length}, paths...)
	worth := r.request.Values.Number("min-change") / 100
	for i := range r.series {
		s := &r.series[i]
		o := change.Options{Window: change.Defaults.Window, P: level, Magnitude: worth}
		if i > 0 {
			o.P = level / float64(len(paths))
		}
		o.Drawn = int(math.Ceil(1/o.P)) * 2
		s.changes = change.Points(s.values, o)
		s.usual()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	// Changed series come first.
	slices.SortStableFunc(r.series[1:], func(a, b series) int {
		return cmp.Compare(min(len(b.changes), 1), min(len(a.changes), 1))
	})
	return nil
}

func (s *series) varies() float64 { return slices.Max(s.values) - slices.Min(s.values) }

// usual finds the usual values since the last change: the mean, and three standard
// deviations, these from the differences of neighbours, so that a drift does not widen
// them.
func (s *series) usual() {
	from := 0
	if n := len(s.changes); n > 0 {
		from = s.changes[n-1].Index
	}
	s.mean, s.low, s.high = math.NaN(), math.NaN(), math.NaN()
	last := s.values[from:]
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
	s.mean = sum / float64(len(last))
	const perRange = 2.659574 // 3 / 1.128: the mean difference of two normal values is 1.128 standard deviations
	far := perRange * moving / float64(len(last)-1)
	s.low, s.high = s.mean-far, s.mean+far
	for i, v := range last {
		if v < s.low || v > s.high {
			s.outside = append(s.outside, from+i)
		}
	}
}

// paths are the exclusive times of call paths, a location, or a step.
func (r *result) paths() []series {
	trees, sides := make([][]compare.Path, len(r.runs)), make([]int, len(r.runs))
	for i := range r.runs {
		trees[i] = r.runs[i].print.Tree()
		if i > 0 {
			sides[i] = 1
		}
	}
	tree := compare.Match(trees, sides, nil)
	out := make([]series, len(tree.Nodes))
	for n := range out {
		out[n] = series{callpath: tree.CallPath(int32(n)), name: tree.Nodes[n].Name, role: tree.Nodes[n].Role,
			values: make([]float64, len(r.runs))}
	}
	for i := range r.runs {
		p := r.runs[i].print
		per := float64(max(p.Locations, 1))
		if r.stepped {
			per = p.StepParts()
		}
		for j := range p.Paths {
			out[tree.Place[i][j]].values[i] += p.Paths[j].Exclusive / per
		}
	}
	return out
}
