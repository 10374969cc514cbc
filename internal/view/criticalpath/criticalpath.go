// Package criticalpath shows the parts of the time of requests, or of the steps of a GPU job: the critical
// path of one, and of all of them by call path.
//
//	data.go     the twins of requests
//	steps.go    steps of a GPU job: from the run to rows; steps_data.go their twins and picture
//	layout.go   common parts of both pictures
package criticalpath

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "criticalpath",
	Title: "Critical path",
	Paper: "Zhang, Ramanathan, Raj, Parwal, Sherwood, Chabbi: CRISP: Critical Path Analysis of Large-Scale " +
		"Microservice Architectures",
	Summary: "the critical path of requests or GPU steps, and the largest possible gain from a faster operation",
	HowToRead: "On top is the critical path of one request, coloured by service: the operation that it waited for " +
		"at each time. Below is one row per call path, the most time on the critical paths first. The bar is the " +
		"mean over the requests with this call path on their critical path, and the marks are p50, p95 and p99. The " +
		"shares of all time and of requests are next to it. Making an operation off the path faster gains nothing. " +
		"For one on the path its share is the largest possible gain. Calls are clipped to their callers. Siblings " +
		"that overlap by at most 1 % of their caller count as consecutive, because clocks of machines differ. For " +
		"GPU jobs the view shows the path of each step. It leads from the end of the step back through kernels, " +
		"their streams, the calls that launched them and the calling threads, and from a collective to the rank " +
		"that arrived last.",
	Needs: view.Needs{Intervals: true, Spans: true, Devices: true},
	Options: view.Words(view.Use("by=callpath", "request", "top"),
		"by: what a row is: a call path, an operation of a service with any caller, or a service; for GPU jobs a "+
			"service is the kind of activity [callpath operation service]"),
	Data:    []any{Data{}, StepData{}},
	Compute: view.InTime(compute),
}

type result struct {
	request  *view.Request
	tree     *store.Tree
	forest   *request.Forest
	kept     *requests.Overview // where the forest is its outline
	chosen   []int32
	critical *request.Critical
	rows     []Row
	shown    int32 // the request whose path is drawn
	path     []criticalpath.Section
	services map[trace.LocationID]trace.Time // on the path
	colours  *view.Colours
	notes    []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if !runfacts.HasSpans(q.Store()) {
		return computeSteps(ctx, q)
	}
	r := &result{request: q, tree: q.Store().Locations()}
	var err error
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	r.makeRows()
	r.showSlowest()
	r.note()
	return r, ctx.Err()
}

// gather finds the critical paths of the requests that are chosen.
func (r *result) gather(ctx context.Context) error {
	q := r.request
	words := q.Values.Patterns("request")
	if len(words) == 0 && q.Selection.Regions == nil {
		if r.kept = requests.FindOverviewIn(&q.Runs[0], q.Window()); r.kept != nil {
			r.forest, r.critical = r.kept.Forest(), r.kept.Critical
			r.chosen = r.forest.Within(0, math.MaxInt64, nil)
			return nil
		}
	}
	chosen, err := requests.Choose(ctx, &q.Runs[0], q.Window(), words)
	if err != nil {
		return err
	}
	if r.forest, r.chosen = chosen.Forest, chosen.List; len(r.chosen) == 0 {
		return view.Empty("choose a longer time, more locations or other requests",
			"no request begins in the selection")
	}
	r.critical = r.forest.CriticalPaths(r.chosen)
	return nil
}

// showSlowest takes the slowest request as the one whose path is drawn.
func (r *result) showSlowest() {
	r.shown = r.forest.Slowest(r.chosen)
	r.forest.Walk(r.forest.Walker(), &r.forest.Requests[r.shown],
		func(s criticalpath.Section) { r.path = append(r.path, s) })
	slices.Reverse(r.path)
}

func (r *result) note() {
	say := func(format string, args ...any) { r.notes = append(r.notes, fmt.Sprintf(format, args...)) }
	if len(r.rows) > 0 {
		x := &r.rows[0]
		say("most of the critical path: %s, %s of the time of %s; to make it free would save that at most", x.label(),
			view.FormatShare(x.Share), view.Count(len(r.chosen), "request"))
	}
	if n := len(r.chosen); n > 1 {
		say("the path on top is that of the slowest request, %s", r.forest.Requests[r.shown].ID)
	}
	c := r.critical
	if c.Moved > 0 {
		say("moved before the call that follows, by %[2]s at most, since clocks disagree: %[1]s with an overlap of "+
			"at most a hundredth of the caller", view.Count(int(c.Moved), "call"), view.FormatTime(c.MostMoved))
	}
	if c.Clipped > 0 {
		say("clipped to the caller: %s", view.Count(int(c.Clipped), "call"))
	}
	if c.Outside > 0 {
		say("left out, since wholly outside of the caller: %s", view.Count(int(c.Outside), "call"))
	}
	if c.Rootless > 0 {
		say("between calls whose root is not in the source: %s", view.FormatTime(c.Rootless))
	}
	if f := r.forest; f.Several > 0 {
		say("with more than one root, of which the first counts: %s", view.Count(f.Several, "request"))
	}
	if n := r.colours.ServiceNote(); n != "" {
		say("%s", n)
	}
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
