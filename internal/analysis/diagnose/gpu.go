package diagnose

// Facts of the GPUs of a run, for the faults of GPU jobs.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A gpuCase holds the facts of the GPUs of a run for its rules.
type gpuCase struct {
	*diagnosis
	devices   *runfacts.Devices
	job       *step.Job
	verdict   step.Verdict
	whole     trace.Time // of all GPUs in steps
	of        string     // "of the steps", or of the GPU's time if there are none
	said      []finding.Evidence
	longTold  *hostCall // in long gaps: it is reported, and not among the other losses
	someRanks bool      // some ranks are looked at
}

// say keeps a number that a sentence has as evidence of it, and writes it. From is the query that gives it again.
func (g *gpuCase) say(name string, v float64, unit, from string) string {
	e := finding.Evidence{Name: name, Value: v, Unit: unit, From: from}
	g.said = append(g.said, e)
	return Format(e)
}

// gpuTime asks for the sum of some parts of the time of GPUs in steps; "" of a run of which some ranks are looked at.
func (g *gpuCase) gpuTime(parts ...string) string {
	if g.someRanks {
		return ""
	}
	for i := range parts {
		parts[i] = quoted(parts[i])
	}
	return fmt.Sprintf("(select total(in_steps) from gpu_time(%d, %d) where part in (%s))", g.window.Begin,
		g.window.End,
		strings.Join(parts, ", "))
}

// ratio asks for one sum as a part of another.
func ratio(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return "select " + a + " / " + b
}

// steps asks for something of the steps.
func (g *gpuCase) stepQuery(what, where string) string {
	if g.someRanks {
		return ""
	}
	return fmt.Sprintf("select %s from steps(%d, %d)%s", what, g.window.Begin, g.window.End, where)
}

// Format writes the value of evidence for people.
func Format(e finding.Evidence) string {
	if e.Unit == "share" {
		return words.FormatShare(e.Value)
	}
	return words.FormatIn(e.Value, e.Unit)
}

// findGPULosses finds the time lost by GPUs in steps, by cause. It finds nothing in a run without GPUs.
func findGPULosses(c *diagnosis) error {
	if c.spans || len(c.processors) > 0 {
		return nil
	}
	if c.profile || c.length <= 0 {
		return nil
	}
	d, part, err := sampleDevices(c)
	if err != nil || len(d.GPUs) == 0 {
		return err
	}
	job, err := jobOf(c, d, part)
	if err != nil {
		return err
	}
	g := &gpuCase{diagnosis: c, devices: d, job: job, verdict: job.Verdict(), of: "of the step time",
		someRanks: part != ""}
	if g.verdict.Bound == step.NoGPU {
		return nil
	}
	if part != "" {
		c.notes = append(c.notes, part)
	} else if c.accounts.result == nil && c.alike.what == "GPUs" && !c.untimed {
		if c.charged, err = gpuBudget(c, d, job); err != nil {
			return err
		}
	}
	for i := range job.Steps {
		for _, t := range job.Steps[i].GPUs {
			g.whole += t.Span
		}
	}
	if len(job.Steps) == 0 {
		g.of = "of the GPU time"
		for i := range job.GPUs {
			g.whole += job.GPUs[i].Span
		}
	}
	if err := g.slowSteps(); err != nil {
		return err
	}
	g.losses()
	if err := g.slowKernels(); err != nil {
		return err
	}
	return g.memory()
}

// sampleDevices finds the GPUs. In a run with very many intervals it looks at some ranks, evenly spread, and returns a
// note that says so.
func sampleDevices(c *diagnosis) (d *runfacts.Devices, note string, err error) {
	d = runfacts.FindDevices(c.tree, c.window.Locations)
	if c.keptJob() != nil {
		return d, "", nil
	}
	w := c.window
	w.Locations = d.Rows
	n, err := c.store.Count(w)
	if err != nil || n <= phase.MostScanned || len(d.Units) < 2 {
		return d, "", err
	}
	every := int((n + phase.MostScanned - 1) / phase.MostScanned)
	var some []trace.LocationID
	for u := 0; u < len(d.Units); u += every {
		some = append(some, d.Units[u])
	}
	return runfacts.FindDevices(c.tree, some),
		fmt.Sprintf("steps and idle GPUs are those of %d of %s, evenly spread: the run has more than %d M intervals",
			len(some), words.Count(len(d.Units), "rank"), phase.MostScanned>>20),
		nil
}

// keptJob is the job of the whole run where it is kept; nil: it is not.
func (c *diagnosis) keptJob() *step.Job {
	if !c.window.Whole(c.store) || !runfacts.IsLargeJob(c.store) {
		return nil
	}
	job, _ := step.JobOfRun.Found(c.question.Run)
	return job
}

// jobOf takes the steps apart: those of a whole run are the ones that the view of steps has.
func jobOf(c *diagnosis, d *runfacts.Devices, part string) (*step.Job, error) {
	if job := c.keptJob(); part == "" && job != nil {
		return job, nil
	}
	return step.AnalyseBriefly(d.In(c.ctx, c.store, c.window))
}
