package diagnose

// Accounts of the GPUs of a job: computation, communication, and waiting by its cause on the host.

import (
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// gpuBudget is the budget of the GPUs of a job: their time is computation and copies, communication that
// takes its time, and waiting. The rules for late GPUs charge waits for them; idle time is charged to the
// host's activity instead of launching work.
func gpuBudget(c *diagnosis, d *runfacts.Devices, job *step.Job) (*chargedBudget, error) {
	waits, err := c.pairs(c.ctx)
	if err != nil {
		return nil, err
	}
	s := &chargedBudget{columns: c.units}
	var exchange trace.Time
	steps := make([]trace.Time, len(d.Units)) // their length by unit: GPUs that have no work in a step idle
	for i := range job.Steps {
		steps[job.Steps[i].Unit] += job.Steps[i].End - job.Steps[i].Begin
	}
	for i := range job.GPUs {
		g := &job.GPUs[i]
		s.Time = trace.AddUp(s.Time, c.length)
		s.Work += g.Computation + g.ExposedCopy
		exchange += g.ExposedCommunication + g.Causes[step.ByExchange]
		// before the first work and after the last: no idleness
		s.Rest += max(c.length-max(g.Span, steps[d.Owner[i]]), 0)
	}
	var charged, skew trace.Time
	for _, x := range c.charges {
		charged += x.Time
	}
	if waits != nil {
		for i := range waits.Meetings {
			skew += trace.Time(float64(waits.Meetings[i].Waited) * c.scale())
		}
	}
	s.Transfer = max(exchange-max(charged, skew), 0)
	s.Waiting = max(s.Time-s.Work-s.Transfer-s.Rest, 0)
	s.Rest = s.Time - s.Work - s.Transfer - s.Waiting
	s.take(c.charges)
	// Late ranks may be charged with more than is in communication, as where hosts exchange data and
	// GPUs idle: then that much less of the idle time is anybody else's.
	part := 1.0
	if idle := s.Time - s.Work - exchange - s.Rest; charged > exchange && idle > 0 {
		part = max(1-float64(charged-exchange)/float64(idle), 0)
	}
	for _, cause := range []step.Cause{step.ByLoader, step.ByAllocation, step.BySleep, step.ByOperators, step.ByPython,
		step.ByAnnotation, step.ByCall, step.ByQueue, step.BetweenWorks, step.BySynchronization} {
		for i := range job.GPUs {
			at, t := d.Units[d.Owner[i]], trace.Time(part*float64(job.GPUs[i].Causes[cause]))
			victims := map[int32]trace.Time{}
			if u := s.column(c.tree, at); u >= 0 {
				victims[u] = t
			}
			if !cause.Host() {
				at = d.GPUs[i]
			}
			s.charge(idleKinds[cause], at, cause.Words(), t, victims)
		}
	}
	return s, nil
}

// idleKinds are the kinds of findings that report idle time by its cause.
var idleKinds = [step.Causes]finding.Kind{
	step.ByLoader: finding.InputBound, step.ByAllocation: finding.LaunchBound, step.BySleep: finding.GPUIdle,
	step.ByOperators: finding.LaunchBound, step.ByPython: finding.LaunchBound, step.ByAnnotation: finding.LaunchBound,
	step.ByCall: finding.LaunchBound, step.ByQueue: finding.GPUIdle, step.BetweenWorks: finding.GPUIdle,
	step.BySynchronization: finding.SynchronizationBound,
}
