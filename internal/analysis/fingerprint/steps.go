package fingerprint

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/derived"
)

// mostSteps bounds how many steps are kept.
const mostSteps = 4096

// takeSteps takes the steps of a GPU job apart, as the view steps does; in any other run it takes the repeated
// regions. O(rows).
func (p *Print) takeSteps(ctx context.Context, run *derived.Run) error {
	if !p.Timed {
		return nil
	}
	if !runfacts.HasGPU(run.Store.Locations()) {
		return p.takePhases(ctx, run)
	}
	p.GPU = true
	job, err := step.JobOfRun.Of(ctx, run)
	if err != nil || len(job.Steps) == 0 {
		return err
	}
	p.StepsBy = job.By
	index := map[string]int{}
	ranks := []float64{}
	for i := range job.Steps {
		x := &job.Steps[i]
		at, ok := index[x.Name]
		if !ok {
			if len(p.Steps) == mostSteps {
				continue
			}
			at = len(p.Steps)
			index[x.Name] = at
			p.Steps = append(p.Steps, Step{Name: x.Name, Terms: make([]float64, step.Terms)})
			ranks = append(ranks, 0)
		}
		s := &p.Steps[at]
		ranks[at]++
		s.Total += float64(x.Total())
		for k, t := range x.Terms {
			s.Terms[k] += float64(t)
		}
	}
	for i := range p.Steps {
		p.Steps[i].Total /= ranks[i]
		for k := range p.Steps[i].Terms {
			p.Steps[i].Terms[k] /= ranks[i]
		}
	}
	return nil
}

// takePhases takes the steps or iterations of a run without GPUs: their lengths, which have no parts.
func (p *Print) takePhases(ctx context.Context, run *derived.Run) error {
	found, err := phase.OfRun(ctx, run.Store)
	if err != nil || found == nil || found.Step != 1 || len(found.List) < 2 || len(found.List) > mostSteps {
		return err
	}
	var steps []Step
	for i, x := range found.List {
		sum, units := 0.0, 0.0
		for u := range found.Units {
			if s := found.Span(u, i); !s.Absent() {
				sum += float64(s.Length())
				units++
			}
		}
		steps = append(steps, Step{Name: x.Name, Total: sum / max(units, 1), Terms: make([]float64, step.Terms)})
	}
	if similar(steps) {
		p.Steps, p.StepsBy = steps, found.By
	}
	return nil
}

// similar reports whether the usual one is at least half of the mean: iterations are, pieces of computation between
// messages, most of them tiny, are not.
func similar(steps []Step) bool {
	lengths := make([]float64, len(steps))
	sum := 0.0
	for i := range steps {
		lengths[i] = steps[i].Total
		sum += steps[i].Total
	}
	return orderstat.Median(lengths) >= sum/float64(len(steps))/2
}

// BySteps reports whether runs are held against each other by their steps rather than whole: those of GPUs, which have
// parts, and those of other programs where runs have different numbers of them.
func BySteps(runs []*Print) (steps, parts bool) {
	steps, parts = true, true
	differ := false
	for _, p := range runs {
		steps, parts = steps && len(p.Steps) > 0, parts && p.GPU
		differ = differ || len(p.Steps) != len(runs[0].Steps)
	}
	steps = steps && (parts || differ)
	return steps, steps && parts
}

// StepParts is the divisor that turns times of all locations into those of a step: steps of all ranks of a GPU job,
// of all locations of any other.
func (p *Print) StepParts() float64 {
	if p.GPU {
		return float64(len(p.Steps) * max(p.Ranks, 1))
	}
	return float64(len(p.Steps) * max(p.Locations, 1))
}
