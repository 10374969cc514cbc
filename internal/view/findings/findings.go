// Package findings draws and lists what a run loses time by, without being asked: ranked sentences, each with its
// numbers and with the view that proves it. Package diagnose finds them.
//
//	findings.go       the view
//	data.go           the JSON output and the table
//	layout.go         a card a finding
//	layout_causes.go  causes, and those who wait for them
package findings

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "findings",
	Title: "Findings",
	Paper: "POP's efficiencies (Wagner, Mohr, Giménez, Labarta); wait states (Wolf, Mohr; Böhme et al.); moments, " +
		"entropy and groups as in their views",
	Summary: "problems of the run in sentences, largest time loss first",
	HowToRead: "Each line is one finding: a sentence, and a bar for the lost time, summed over locations. Clock " +
		"skew comes first, because times on different locations cannot be compared then. A finding is high if the " +
		"affected locations lose at least 5 % of their time, and medium from 2 %. Several signs of one cause are " +
		"one finding. Load balance is the mean busy time divided by the maximum, over rows with the same work: " +
		"ranks of a job, threads of a team, GPUs. Communication efficiency is the maximum divided by the length of " +
		"the run (POP). For requests of services, findings name losses on the critical path: slow operations, and " +
		"repeated, serial and failed calls. For Go programs they name waits for a processor, time in garbage " +
		"collection, and goroutines that block while processors idle. An empty list means that no rule found a " +
		"problem. Click a finding to select its locations and time, and to open the view that shows it. --picture " +
		"causes has one line per location and region that made others wait, one column per waiting location, and " +
		"the waiting time as colour. Below it, bars show for each machine the waiting that each location caused " +
		"(up) and had (down).",
	Needs:   view.Needs{Intervals: true, Profile: true, Moments: true},
	Options: view.Use("phase=auto", "top", "picture"),
	Report:  view.Report{AllLocations: true, Findings: true},
	Data:    []any{Data{}},
	Compute: compute,
}

// shownFirst is the number of findings that are shown unless --top says otherwise.
const shownFirst = 10

type result struct {
	request *view.Request
	found   *diagnose.Result
	list    []finding.Finding
	shown   int
	notes   []string
	causes  causeTable
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, shown: shownFirst}
	if n := q.Values.Integer("top"); n > 0 {
		r.shown = n
	}
	question, err := view.Question(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.found, err = diagnose.Run(ctx, question); err != nil {
		return nil, err
	}
	r.list, r.causes, r.notes = r.found.Findings, causeTable(r.found.Waits), r.found.Notes
	for i := range r.list {
		f := &r.list[i]
		f.Show, f.Link = f.Command(q.Runs[0].Source, q.Store().Info().End), f.Page(q.Store().Info().End)
	}
	if _, note, err := runfacts.LeaveOpen(ctx, q.Store(), q.Window()); err != nil {
		return nil, err
	} else if note != "" {
		r.notes = append(r.notes, note)
	}
	if len(r.list) > r.shown {
		r.notes = append(r.notes,
			fmt.Sprintf("%s; the first %d are shown", view.Count(len(r.list), "finding"), r.shown))
	}
	return r, nil
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
