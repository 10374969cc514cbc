// Package findings says what a run loses time by, before anybody looks: ranked
// sentences, each with its numbers and with the view that proves it.
//
//	facts.go      what the store tells, a handful of queries, bounded on large runs
//	waits.go      phases, collectives and messages
//	accounts*.go  where the time went, by who made whom wait; causes.go the budget of it
//	rules.go      the list of rules: which runs each is put to, in order
//	court.go      holds a run against its rules; docket.go what they found
//	rule_*.go     what is worth saying: rules of one sort of trouble, each a function
//	audit*.go     the rule that sorts the causes of waiting into faults
//	scheduler.go  what processors and goroutines did; handed.go who woke whom
//	explain.go    what some units do more of than the others
//	names.go      units and phases in words
//	layout*.go    the picture: a bar a finding, or causes and those who wait
//
// The decisions are those of package finding; what is said here is tied to the
// words of the run.
package findings

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/trace"
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
	unit    string // of what is lost
	list    []finding.Finding
	shown   int
	pop     pop.Efficiency
	over    string // what pop is over, in words
	what    string // the same without the number
	phases  string

	phaseCount int
	notes      []string

	causes      []Cause
	unexplained trace.Time
	accounts    Accounts
	ledger      ledger
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, shown: shownFirst}
	if n := q.Values.Integer("top"); n > 0 {
		r.shown = n
	}
	f, err := gather(ctx, q)
	if err != nil {
		return nil, err
	}
	c := newCourt(ctx, f)
	if err := c.judge(); err != nil {
		return nil, err
	}
	r.list = c.ranked(f)
	r.causes, r.unexplained, r.accounts = causesOf(c)
	r.ledger = ledgerOf(c)
	r.ledger.untold = c.profile
	r.unit, r.pop, r.over, r.what, r.notes = f.unit, f.pop, f.alike.words(), f.alike.what, f.notes
	if f.phases != nil {
		r.phases, r.phaseCount = f.phases.By, len(f.phases.List)
	}
	if _, note, err := view.LeaveOpen(ctx, q.Store(), q.Window()); err != nil {
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
