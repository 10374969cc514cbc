package diagnose

// First facts from the store: rows, units, totals, and the time that was recorded.

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// facts holds the facts of the selection. A row is a location with intervals; a unit is the object
// compared: a rank if ranks have several locations, else a row.
type facts struct {
	question *Question
	store    store.Reader
	tree     *store.Tree
	regions  []trace.Region
	window   store.Window
	length   trace.Time // how much of the window was recorded
	span     trace.Time // from its begin to its end
	profile  bool       // there is no time, only totals
	unit     string     // of totals: "ns", or of a profile the unit of its metric
	spans    bool       // of services

	rows       []trace.LocationID
	processors []trace.LocationID // of rows, where goroutines are among them too
	rowOf      []int32            // by location, -1
	units      []trace.LocationID
	unitOf     []int32 // by location, -1
	names      []string
	class      []string  // of a row: the kind of its location
	table      *totals   // of the whole selection
	useful     []float64 // busy time of a row
	alike      alike
	peer       []bool // by row: units are compared by it, see peers
	pop        pop.Efficiency
	notes      []string
	skip       []bool  // by region: its calls have no end, and totals leave them out; nil for none
	partial    bool    // waits are those of a sample of the run
	sampled    float64 // the part of the run that the sample is

	src         *phase.Source
	phases      *phase.Phases
	cells       *phase.Table    // of rows and phases, once count was asked
	pairWindows []pairWindow    // where collectives and messages are looked for
	waits       *waiting.Result // who waited in them, once pairs was asked
	accounts    *accounts
	links       int64 // messages looked at
	early       int64 // of them, received before they were sent
	worst       trace.Time
	// each receives every wait once per cause, where rows are asked for.
	each func(w *budget.Wait, actor, region int32, direct bool, t trace.Time)
	// changes are replayed in place of explaining waits, where they are asked for.
	changes []*budget.Change
	held    *budget.Budget // of a run that was read in one step: it can be replayed
}

func gather(ctx context.Context, q *Question) (*facts, error) {
	f, err := gatherWork(ctx, q)
	switch {
	case err != nil || f.profile:
		return f, err
	// no one is compared, and a million goroutines would take long to cut into phases
	case f.spans, len(f.processors) > 0:
		return f, f.checkPhase()
	}
	return f, f.gatherWaits(ctx)
}

// gatherWork gathers rows, totals and efficiencies.
func gatherWork(ctx context.Context, q *Question) (*facts, error) {
	s := q.Run.Store
	f := &facts{question: q, store: s, tree: s.Locations(), regions: s.Regions(), window: q.window(),
		span: q.Selection.End - q.Selection.Begin, profile: !s.Info().Timed(), unit: metricWord(s),
		spans: runfacts.HasSpans(s)}
	if err := f.chooseUnits(ctx); err != nil {
		return nil, err
	}
	var err error
	if f.table, err = f.totals(ctx, f.window); err != nil {
		return nil, err
	}
	if f.profile {
		f.length = f.table.longest(len(f.rows))
		f.span = f.length
	}
	f.processors = runfacts.Processors(f.tree, f.rows)
	return f, f.efficiency(ctx)
}

// metricWord returns the unit of totals for a sentence: the counted things, "samples", if it has no other.
func metricWord(r store.Reader) string {
	name, unit := runfacts.MainMetric(r)
	if unit == "" || unit == "count" {
		return name
	}
	return unit
}

// recorded finds how much of the window was recorded. One of its rows has records for so long.
func (f *facts) recorded(ctx context.Context, row trace.Time) error {
	if !runfacts.MayHaveWindows(f.store, row) {
		f.length = f.span
		return nil
	}
	parts, err := runfacts.Recorded(ctx, f.store, f.window.Begin, f.window.End)
	for _, p := range parts {
		f.length += p[1] - p[0]
	}
	if f.length < f.span && err == nil {
		f.notes = append(f.notes,
			fmt.Sprintf("records cover %s of %s, in %s far apart: shares and efficiencies are of the recorded time",
				words.FormatTime(f.length), words.FormatTime(f.span), words.Count(len(parts), "window")))
	}
	return err
}

// checkPhase refuses a --phase that cannot be read where none is needed.
func (f *facts) checkPhase() error {
	text := f.question.Phase
	how, err := phase.ParseHow(text)
	if err != nil || how.Auto || how.Slices > 0 {
		return err
	}
	if _, err = f.question.Match(text); err != nil {
		return fmt.Errorf("--phase: %w", err)
	}
	return nil
}

// chooseUnits lists rows and units.
func (f *facts) chooseUnits(ctx context.Context) error {
	var err error
	if f.rows, err = runfacts.ChosenHolders(ctx, f.store, f.question.Selection.Locations); err != nil {
		return err
	}
	units, of, err := runfacts.Units(f.tree, f.rows, "auto")
	if err != nil {
		return err
	}
	f.units = units
	f.rowOf, f.unitOf = make([]int32, f.tree.Len()), make([]int32, f.tree.Len())
	for i := range f.rowOf {
		f.rowOf[i], f.unitOf[i] = -1, -1
	}
	f.class = make([]string, len(f.rows))
	for i, id := range f.rows {
		f.rowOf[id], f.unitOf[id] = int32(i), of[i]
		f.class[i] = string(f.tree.Kind[id])
	}
	f.names = runfacts.UnitNames(f.tree, units)
	return ctx.Err()
}

// amount writes a total in its unit.
func (f *facts) amount(v float64) string { return words.FormatIn(v, f.unit) }

// totals are times by row and region.
type totals struct {
	begin, end trace.Time
	row        []int32
	region     []trace.RegionID
	exclusive  []float64
	inclusive  []float64
	calls      []float64
}

// longest is the largest sum of a row: how long a profile took, at least.
func (t *totals) longest(rows int) trace.Time {
	sums := make([]float64, rows)
	for i, row := range t.row {
		sums[row] += t.exclusive[i]
	}
	most := 1.0
	for _, x := range sums {
		most = max(most, x)
	}
	return trace.Time(most)
}

// metric returns the metric of totals.
func (f *facts) metric() trace.MetricID { return runfacts.DefaultMetric(f.store.Metrics()) }

// skipped reports whether totals leave a region out.
func (f *facts) skipped(r trace.RegionID) bool {
	return f.skip != nil && f.skip[r] || runfacts.Sampled(&f.regions[r])
}

// totals asks for the times in a window: from prefix sums, no scan.
func (f *facts) totals(ctx context.Context, w store.Window) (*totals, error) {
	t := &totals{begin: w.Begin, end: w.End}
	metric := f.metric()
	var only []bool
	if f.question.Selection.Regions != nil {
		only = make([]bool, len(f.regions))
		for _, id := range f.question.Selection.Regions {
			only[id] = true
		}
	}
	skip, _, err := runfacts.LeaveOpen(ctx, f.store, w)
	if err != nil {
		return nil, err
	}
	f.skip = skip
	err = runfacts.Totals(ctx, f.store, w, metric, func(list []runfacts.Total) {
		for _, x := range list {
			if row := f.rowOf[x.Location]; row >= 0 && !f.skipped(x.Region) &&
				(only == nil || only[x.Region]) {
				t.row = append(t.row, row)
				t.region = append(t.region, x.Region)
				t.exclusive = append(t.exclusive, x.Exclusive)
				t.inclusive = append(t.inclusive, x.Inclusive)
				t.calls = append(t.calls, x.Calls)
			}
		}
	})
	return t, err
}

// source is the run as package phase asks it.
func (f *facts) source(ctx context.Context) (*phase.Source, error) {
	of := make([]int32, len(f.rows))
	for i, id := range f.rows {
		of[i] = f.unitOf[id]
	}
	s, err := phase.NewSource(ctx, f.store, f.window, f.rows, len(f.units), of)
	if err != nil {
		return nil, err
	}
	t := f.table
	s.Uses = slices.Grow(s.Uses, len(t.row))
	for i := range t.row {
		s.Uses = append(s.Uses,
			phase.Use{Unit: f.unitOf[f.rows[t.row[i]]], Region: t.region[i], Calls: int64(t.calls[i]),
				Inclusive: trace.Time(t.inclusive[i])})
	}
	return s, nil
}

// roles returns the time per role of each row, its lanes' union.
func (f *facts) roles(ctx context.Context, begin, end trace.Time,
	add func(trace.LocationID, *[trace.RoleCount]trace.Time)) error {
	times, err := store.RoleTimes(ctx, f.store, f.rows, []trace.Time{begin, end})
	if err != nil {
		return err
	}
	for i, id := range f.rows {
		add(id, (*[trace.RoleCount]trace.Time)(times[i*trace.RoleCount:]))
	}
	return nil
}
