// Package steps shows where each step of a GPU job goes: its parts as stacked bars, the GPU's
// activity meanwhile, and why it had nothing to do.
//
//	words.go        the verdict in words
//	lines.go        kinds of bars: a step, a rank, or each step of each rank
//	layout.go       the picture of steps; layout_idle.go of idle time
//	data.go         the twins
package steps

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "steps",
	Title:   "Steps",
	Paper:   "the overview of PyTorch's TensorBoard profiler; TraceLens, HTA and xprof for the time of GPUs",
	Summary: "GPU jobs: the parts of each step, the activity of the GPU, and the causes of its idle time",
	HowToRead: "On the left is one bar per step: kernels, copies, communication, calls of the GPU's library, data " +
		"loading and other work of the host. Overlapping time counts for the first in this list, so the parts add " +
		"up to the step. A step begins when the previous one is over, and ends with the last GPU work that it " +
		"launched. The first bar is the mean of all steps. On the right is the activity of the GPU in that time, " +
		"over all its streams: computation, exposed communication and copies, and idle time. The sentence above " +
		"names the bottleneck and its threshold. --picture idle has one bar per GPU, with its idle time by cause: " +
		"the activity of the thread that launched the next work. The longest gaps are below.",
	Needs: view.Needs{Intervals: true},
	Options: view.Words(view.Use("by=auto", "picture=steps", "arrange"),
		"by: what a bar is: each step of each rank, steps (the mean over ranks), ranks (the mean over steps), or "+
			"auto (as fine as space allows) [auto all steps ranks]",
		"picture: steps with the activity of GPUs, or causes of idle GPUs [steps idle]"),
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

// mostGaps is how many gaps of all GPUs together are drawn.
const mostGaps = 20

type result struct {
	view.Arranged
	request *view.Request
	tree    *store.Tree
	devices *runfacts.Devices
	names   []string // of units
	gpus    []string
	job     *step.Job
	verdict Verdict
	peaks   []runfacts.MemoryPeak
	gaps    []step.GapOfGPU // the longest
	notes   []string
	held    [3][]line // as in barKinds
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, tree: q.Store().Locations()}
	r.devices = runfacts.FindDevices(r.tree, q.Selection.Locations)
	if len(r.devices.Units) == 0 {
		return nil, view.Empty("choose other locations", "no location with intervals in the selection")
	}
	var err error
	if r.job, err = r.takeApart(ctx); err != nil {
		return nil, err
	}
	if len(r.job.Steps) == 0 && !r.job.Worked() {
		return nil,
			view.Empty("open a trace of a GPU job, or choose more of it",
				"no work of a GPU and no steps (ProfilerStep#n, train 3, iteration 7) in the selection")
	}
	if r.idle() && !r.job.Worked() {
		return nil,
			view.Empty("show the steps, or choose more of the run",
				"no work of a GPU in the selection, so nothing to say of its idle time")
	}
	r.names, r.gpus = runfacts.UnitNames(r.tree, r.devices.Units), runfacts.ShortNames(r.tree, r.devices.GPUs)
	r.verdict = r.judge()
	if r.peaks, err = runfacts.MemoryPeaks(ctx, q.Store(), q.Window(), r.devices.GPUs); err != nil {
		return nil, err
	}
	r.gaps = r.job.LongestGaps(mostGaps)
	r.note()
	if r.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil {
		return nil, err
	}
	r.notes = r.Arrangement().AddNote(r.notes)
	return r, ctx.Err()
}

// takeApart makes the job; that of the whole run is kept, so that other options and sizes cost nothing.
func (r *result) takeApart(ctx context.Context) (*step.Job, error) {
	q := r.request
	if w := q.Window(); !w.Whole(q.Store()) {
		return step.Analyse(r.devices.In(ctx, q.Store(), w))
	}
	return step.JobOfRun.Of(ctx, &q.Runs[0])
}

func (r *result) note() {
	if len(r.job.Steps) == 0 {
		r.notes = append(r.notes,
			"no steps were found (ProfilerStep#n, train 3, iteration 7, a range that repeats): the GPU's time is of "+
				"the whole selection")
	} else {
		r.notes = append(r.notes, "steps: "+r.job.By)
	}
	if count, time := r.job.Unlinked(); count > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("the launch of %s of GPU work (%s) is not in the file: it counts, but extends no step",
				view.Count(count, "piece"), view.FormatDuration(float64(time))))
	}
	if r.job.Odd > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of GPU work end before they begin and count as empty", view.Count(int(r.job.Odd), "piece")))
	}
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
