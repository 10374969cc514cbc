package fingerprint

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostSteps bounds how many steps are kept.
const mostSteps = 4096

// takeSteps takes the steps of a GPU job apart, as the view steps does; of any other run it takes what repeats in it.
// O(rows).
func (p *Print) takeSteps(ctx context.Context, run *view.Run) error {
	if !p.Timed {
		return nil
	}
	d := view.FindDevices(run.Store.Locations(), nil)
	if len(d.GPUs) == 0 {
		return p.takePhases(ctx, run)
	}
	p.GPU = true
	job, err := Job(ctx, run, d)
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
func (p *Print) takePhases(ctx context.Context, run *view.Run) error {
	found, err := Phases(ctx, run)
	if err != nil || found == nil || found.Step != 1 || len(found.List) < 2 || len(found.List) > mostSteps {
		return err
	}
	p.StepsBy = found.By
	for i, x := range found.List {
		sum, units := 0.0, 0.0
		for u := range found.Units {
			if s := found.Span(u, i); !s.Absent() {
				sum += float64(s.Length())
				units++
			}
		}
		p.Steps = append(p.Steps, Step{Name: x.Name, Total: sum / max(units, 1), Terms: make([]float64, step.Terms)})
	}
	return nil
}

// BySteps says whether runs are held against each other by their steps rather than whole: those of GPUs, which have
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

// StepParts is what times of all locations are divided by to be those of a step: steps of all ranks of a GPU job, of all
// locations of any other.
func (p *Print) StepParts() float64 {
	if p.GPU {
		return float64(len(p.Steps) * max(p.Ranks, 1))
	}
	return float64(len(p.Steps) * max(p.Locations, 1))
}

// JobOf is a window of a run as package step asks it, with the rows of its GPUs and their hosts.
func JobOf(ctx context.Context, r store.Reader, w store.Window, d *view.Devices) *step.Source {
	w.Locations = d.Rows
	return &step.Source{
		Regions: r.Regions(), Begin: w.Begin, End: w.End, Lanes: r.Lanes(),
		Unit: d.Unit, GPU: d.GPU, Units: len(d.Units), GPUs: len(d.GPUs), Owner: d.Owner,
		Recorded: func() ([][2]trace.Time, error) { return view.Recorded(ctx, r, w.Begin, w.End) },
		Scan:     func(add func(*trace.Columns) error) error { return r.Intervals(ctx, w, add) },
		Launches: func(add func(from, to step.Place, at trace.Time)) error {
			return view.LaunchLinks(ctx, r, w,
				func(from, to store.Row, at trace.Time) { add(step.Place(from), step.Place(to), at) })
		},
		Attribute: func(name string, add func(trace.LocationID, int, []int32, []trace.Value)) error {
			return view.AttributeNamed(ctx, r, w, name, func(c *store.AttributeColumns) error {
				add(c.Location, c.Lane, c.Row, c.Value)
				return nil
			})
		},
	}
}
