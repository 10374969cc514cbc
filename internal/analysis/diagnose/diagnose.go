// Package diagnose finds the causes of time lost in a run: ranked findings, each with its numbers and the view that
// shows it. It works in four stages, which hold for ranks, threads, GPUs, goroutines and services alike:
//
//	waits     who waited, from when to when, in which region, and for whom
//	          waits_read.go, waits_links.go and waits_polling.go (calls, collectives, messages), waits_threads.go
//	          (locks, pools), waits_wakes.go (goroutines); waits.go where waits are not followed one by one
//	accounts  the waits summed: waiting = explained + unexplained, by cause
//	          accounts*.go, causes.go, causetable.go
//	faults    causes and loads that belong together, one file a kind: straggler.go, latesender.go, serial.go …
//	          faults.go lists them
//	claims    a fault in words, with its numbers: claims*.go, names.go, reasons.go, queries.go, next.go
//
// facts.go reads the first facts from the store: rows, units, totals; efficiency.go POP's efficiencies over
// them. list.go and symptoms.go order the findings, and gain.go replays the run without their causes. answer.go
// summarises the first. Files named *rows.go yield rows for SQL. Each file begins with its subject.
package diagnose

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Question is the subject of a diagnosis: a part of a run that holds some time and some location.
type Question struct {
	Run       *derived.Run
	Selection trace.Selection
	// Phase is the way to cut the run into phases: "auto", "slices:N", or a pattern of regions that Match
	// reads.
	Phase string
	Match func(pattern string) ([]trace.RegionID, error)
}

func (q *Question) window() store.Window {
	return store.Window{Begin: q.Selection.Begin, End: q.Selection.End, Locations: q.Selection.Locations}
}

// A Result holds the findings and the budget of waiting.
type Result struct {
	Findings []finding.Finding // most time lost first
	Unit     string            // of the loss
	POP      pop.Efficiency
	Over     string // the rows of POP: "16 ranks"
	What     string // the same without the number
	Notes    []string

	Phases     string // the region or rule that cut the run
	PhaseCount int

	Hot   []finding.Proof // regions with most exclusive time
	HotOf float64         // that of all regions

	Causes      []Cause // of all waiting, most first
	Unexplained trace.Time
	Accounts    Accounts
	Waits       CauseTable
}

// Run diagnoses a run. The findings of a result are the caller's.
func Run(ctx context.Context, q *Question) (*Result, error) {
	if !q.kept() {
		return q.answer(ctx)
	}
	return q.once(ctx)
}

// answer diagnoses a run from its records.
func (q *Question) answer(ctx context.Context) (*Result, error) {
	if onlyMoments(q.Run.Store) {
		return q.answerMoments(ctx)
	}
	f, err := gather(ctx, q)
	if err != nil {
		return nil, err
	}
	c := newDiagnosis(ctx, f)
	if err := c.findFaults(); err != nil {
		return nil, err
	}
	if err := c.predictGains(); err != nil {
		return nil, err
	}
	c.claimAll()
	r := &Result{Findings: c.ranked(f), Unit: f.unit, POP: f.pop, Over: f.alike.words(), What: f.alike.what,
		Notes: f.notes}
	r.Hot, r.HotOf = f.hottest()
	r.Causes, r.Unexplained, r.Accounts = causesOf(c)
	r.Accounts.Unexplained = r.Unexplained
	r.Accounts.Told = r.Accounts.Waiting - r.Unexplained
	r.Waits = causeTableOf(c)
	r.Waits.Untold = f.profile
	if f.phases != nil {
		r.Phases, r.PhaseCount = f.phases.By, len(f.phases.List)
	}
	return r, nil
}

// A diagnosis asks for the faults in order. Each adds findings and says which units are to blame; a later finding
// about units that are blamed already is the same problem seen from another side, and is dropped.
type diagnosis struct {
	*facts
	*findingList
	ctx      context.Context
	budget   *finding.Budget // of runs whose waits are not followed one by one
	waited   trace.Time      // all that is in the budget at first
	whole    []trace.Time    // the budget at first
	untimed  bool            // clocks disagree: times across units mean nothing
	tooLong  bool            // to be replayed
	compared bool            // units have the same to do
	charged  *chargedBudget  // the budget of runs whose waits are not traced, if it is known
	removals []removal       // causes to take away in a replay
	late     func(*LateRow)  // receives waits at collectives, where they are asked for
	ended    ending          // waiting after the last work of the run, which a finding reports
	round    trace.RegionID  // phases are from one call of it to the next; NoRegion: they are another
}

func newDiagnosis(ctx context.Context, f *facts) *diagnosis {
	c := &diagnosis{facts: f, findingList: newFindingList(f), ctx: ctx, round: trace.NoRegion}
	c.compared = !f.spans && len(f.processors) == 0 && c.peers() && f.countsWork()
	return c
}

// findFaults makes the accounts and asks for all faults.
func (c *diagnosis) findFaults() error {
	if err := findSuspicious(c); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	if c.summed() {
		if err := c.fillBudget(); err != nil {
			return err
		}
	}
	for _, f := range faults {
		if err := f.find(c); err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// followed reports whether the waits of units that are compared are followed one by one.
func (c *diagnosis) followed() bool { return c.compared && !c.profile && c.accounts.result != nil }

// summed reports whether waits of units that are compared are only summed.
func (c *diagnosis) summed() bool { return c.compared && !c.profile && c.accounts.result == nil }

// peers reports whether units may be compared. Ranks of a job may. Goroutines and tasks come and go, and
// each has its own job; processors run whatever a scheduler gives them, and if there is little to do the
// first do it all. Threads and streams of one process are peers only if most of them run the region that
// takes the most time.
func (c *diagnosis) peers() bool {
	if len(c.units) < 2 {
		return false
	}
	own, ranks := 0, map[int32]bool{} // own: with a job of its own
	for _, id := range c.units {
		switch c.tree.Kind[id] {
		case trace.KindGoroutine, trace.KindProcessor, "task", "fiber", "coroutine":
			own++
		}
		if r := c.tree.Rank[id]; r >= 0 {
			ranks[r] = true
		}
	}
	return 2*own <= len(c.units) && (len(ranks) == len(c.units) || c.shareWork())
}

// shareWork reports whether three quarters of the units use the region with most
// busy time.
func (c *diagnosis) shareWork() bool {
	uses := map[int32]bool{}
	for row, u := range c.users() {
		if u {
			uses[c.unitOf[c.rows[row]]] = true
		}
	}
	return 4*len(uses) >= 3*len(c.units)
}

// unfelt lowers the level of differences between units if all waits are known: they cost no time beyond the
// reported waits.
func (c *diagnosis) unfelt(l finding.Level) finding.Level {
	if c.accounts.result != nil && c.accounts.pairs+int(c.accounts.result.Waits) > 0 {
		return finding.Low
	}
	return l
}
