// Package findings draws and lists what a run loses time by, before anybody looks: ranked sentences, each with its
// numbers and with the view that proves it. What is found is the work of package diagnose.
//
//	findings.go       the view
//	data.go           the JSON twin and the table
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
	Summary: "the answers in words: what the run loses time by, most first",
	HowToRead: "Each line is one finding: a sentence, and a bar of the time lost by it, added up over locations. " +
		"Clocks that disagree come first, since times across locations mean little then. " +
		"Findings are high where those who are hit lose at least 5 % of their time by it, medium from 2 %. Several " +
		"signs of one cause are one finding. Load balance is the mean over the maximum of the busy time of rows that " +
		"have the same to do (ranks of a job, threads of a team, GPUs), " +
		"communication efficiency the maximum over the length of the run (POP). Of requests of services it says what " +
		"their critical path loses by: slow operations, repeated, serial and failed calls. Of traces with processors " +
		"and goroutines it says where goroutines wait for a processor, what garbage collection takes, and who is " +
		"blocked while processors idle. An empty list means that nothing stands out. Choosing a finding selects what " +
		"it is about, and opens the view that shows it. " +
		"With --picture causes a line is a location and region that made others wait, a column a location that " +
		"waited, and colour how long; below is what each location made others wait (up) and waited itself (down), " +
		"machine by machine.",
	Needs:   view.Needs{Intervals: true, Profile: true},
	Options: view.Use("phase=auto", "top", "picture"),
	Report:  view.Report{AllLocations: true, Findings: true},
	Data:    []any{Data{}},
	Compute: compute,
}

// shownFirst is how many findings are shown unless --top says otherwise.
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
