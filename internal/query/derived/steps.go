package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// gpuTime is the time of each GPU.
var gpuTime = table.NewFunction("gpu_time",
	"The time of each GPU, from its first work to its last and in steps alone. Span is computation, exposed "+
		"communication, exposed copies and idle time; idle time is the sum of its causes, which begin with `idle: `.",
	windowArguments,
	[]table.Column{
		{Name: "location", Kind: table.Integer, Help: "the GPU"},
		{Name: "rank", Kind: table.Integer, Null: true, Help: "of the location"},
		{Name: "part", Kind: table.Text, Help: "span, computation, exposed communication, exposed copy, idle, " +
			"communication, overlapped (communication under computation), drained (idle since the host waited for " +
			"the GPU), launched and short (works, those shorter than their launch; counts), idle: CAUSE"},
		{Name: "time", Kind: table.Integer, Unit: "ns", Help: "from the first work to the last"},
		{Name: "in_steps", Kind: table.Integer, Unit: "ns", Help: "in steps; as time in a run without steps"},
	}, gpuTimeRows)

// steps is the anatomy of each step.
var steps = table.NewFunction("steps",
	"The time of each step of each rank of a GPU job, by part; the parts of a step add up to its length.",
	windowArguments,
	[]table.Column{
		{Name: "location", Kind: table.Integer, Help: "of the rank"},
		{Name: "rank", Kind: table.Integer, Null: true, Help: "of the location"},
		{Name: "step", Kind: table.Text, Help: "its name"},
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "of the step"},
		{Name: "end", Kind: table.Integer, Unit: "ns", Help: "of the step"},
		{Name: "part", Kind: table.Text, Help: "kernel, memcpy, memset, communication, runtime, loader, cpu, other"},
		{Name: "time", Kind: table.Integer, Unit: "ns", Help: "of the part"},
	}, stepRows)

// jobOf takes the steps of a window apart; nil for a run without GPUs.
func jobOf(ctx context.Context, r *table.Run, f *table.Filter) (*runfacts.Devices, *step.Job, error) {
	d := runfacts.FindDevices(r.Store.Locations(), nil)
	if len(d.GPUs) == 0 {
		return d, nil, nil
	}
	end := int64(r.Store.Info().End)
	w := store.Window{Begin: trace.Time(bound(f, "from_time", 0)), End: trace.Time(min(bound(f, "to_time", end), end))}
	job, err := step.AnalyseBriefly(d.In(ctx, r.Store, w))
	return d, job, err
}

func rankOf(r *table.Run, id trace.LocationID) any {
	if n := r.Store.Locations().Rank[id]; n != trace.NoRank {
		return int64(n)
	}
	return nil
}

func gpuTimeRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	d, job, err := jobOf(ctx, r, f)
	if err != nil || job == nil {
		return err
	}
	inSteps := make([]step.Time, len(job.GPUs))
	for i := range job.Steps {
		s, k := &job.Steps[i], 0
		for g := range job.GPUs {
			if int(d.Owner[g]) == s.Unit && k < len(s.GPUs) {
				inSteps[g].Add(s.GPUs[k])
				k++
			}
		}
	}
	for g := range job.GPUs {
		x := &job.GPUs[g]
		steps, causes := &inSteps[g], &x.InSteps
		if len(job.Steps) == 0 {
			steps, causes = &x.Time, &x.Causes
		}
		put := func(part string, all, in trace.Time) {
			if err == nil {
				err = add(int64(d.GPUs[g]), rankOf(r, d.GPUs[g]), part, int64(all), int64(in))
			}
		}
		put("span", x.Span, steps.Span)
		put("computation", x.Computation, steps.Computation)
		put("exposed communication", x.ExposedCommunication, steps.ExposedCommunication)
		put("exposed copy", x.ExposedCopy, steps.ExposedCopy)
		put("idle", x.Idle, steps.Idle)
		put("communication", x.Communication, steps.Communication)
		put("overlapped", x.Overlapped, steps.Overlapped)
		put("drained", x.Drained, x.Drained)
		put("launched", trace.Time(x.Launch.Count), trace.Time(x.Launch.Count))
		put("short", trace.Time(x.Launch.Short), trace.Time(x.Launch.Short))
		for c := range step.Cause(step.Causes) {
			if x.Causes[c] > 0 || causes[c] > 0 {
				put("idle: "+c.Words(), x.Causes[c], causes[c])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func stepRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	d, job, err := jobOf(ctx, r, f)
	if err != nil || job == nil {
		return err
	}
	for i := range job.Steps {
		s := &job.Steps[i]
		at := d.Units[s.Unit]
		for t := range step.Term(step.Terms) {
			err := add(int64(at), rankOf(r, at), s.Name, int64(s.Begin), int64(s.End), t.String(), int64(s.Terms[t]))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
