// Package phases shows busy and waiting units in each phase of a run: a heat map of
// locations by phases, and for each phase the unit that delayed the others.
//
//	gather.go     units, phases and waits, as package phase and waiting find them
//	verdict.go    who held the others up, phase by phase, as package delay finds it
//	layout.go     the picture
//	data.go       the twins
package phases

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/delay"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "phases",
	Title:   "Phases",
	Paper:   "wait states after Wolf, Mohr and Böhme, Geimer, Wolf, Arnold",
	Summary: "busy and waiting time of locations by phase, and the cause of the waiting",
	HowToRead: "Each row is a rank (or location), each column a phase: a training step, an iteration, or a time " +
		"slice. Colours show the busy time of the row in the phase, its waiting time, or the duration of the phase. " +
		"The bars above add up the waiting of all rows in each phase: for the last rank at collectives and for late " +
		"messages. The name under a bar, and the mark in its column, is the rank that delayed the others. The bars " +
		"do not include the transfer time of the data. Click a cell to select its phase and row in all views.",
	Needs: view.Needs{Intervals: true, Rows: true},
	Options: view.Words(view.Use("phase=auto", "metric=busy", "group=auto", "arrange", "busy", "idle", "palette"),
		"group: merge the locations of a rank, or show each; auto: ranks if they have several locations [auto "+
			"ranks locations]"),
	Report:  view.Report{Place: 4, Height: 360, AllLocations: true},
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

type result struct {
	view.Arranged
	request *view.Request
	tree    *store.Tree
	metric  string
	units   []trace.LocationID
	names   []string
	order   []int32 // of the units: that of each row, from the top
	row     []int32 // of each unit
	phases  *phase.Phases
	// By unit and phase: sums over the locations of a unit.
	busy, waiting []trace.Time
	loads         []*finding.Load // by class of locations that most units have
	waits         *waiting.Result
	delays        *delay.Result
	verdicts      []Verdict
	notes         []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, tree: q.Store().Locations(), metric: q.Values.Text("metric")}
	switch r.metric {
	case "busy", "waiting", "duration":
	default:
		return nil, words.NotOneOf("--metric", r.metric, "busy", "waiting", "duration")
	}
	g, err := newGatherer(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := r.gather(ctx, g); err != nil {
		return nil, err
	}
	r.judge()
	return r, r.arrange(ctx)
}

// arrange orders the rows.
func (r *result) arrange(ctx context.Context) (err error) {
	r.Arranged, err = r.request.Arrange(ctx, grouping.Order)
	r.notes = r.Arrangement().AddNote(r.notes)
	r.order = r.Arrangement().Places(r.units)
	r.row = make([]int32, len(r.order))
	for k, u := range r.order {
		r.row[u] = int32(k)
	}
	return err
}

// drawnIDs returns the units as they are drawn.
func (r *result) drawnIDs() []trace.LocationID {
	ids := make([]trace.LocationID, len(r.order))
	for k, u := range r.order {
		ids[k] = r.units[u]
	}
	return ids
}

// at is the place of a unit and phase in the tables.
func (r *result) at(unit, phase int) int { return unit*len(r.phases.List) + phase }

// value is the value that colours stand for; false if the unit has no part in the phase.
func (r *result) value(unit, k int) (trace.Time, bool) {
	s := r.phases.Span(unit, k)
	if s.Absent() {
		return 0, false
	}
	switch r.metric {
	case "waiting":
		return r.waiting[r.at(unit, k)], true
	case "duration":
		return s.Length(), true
	}
	return r.busy[r.at(unit, k)], true
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
