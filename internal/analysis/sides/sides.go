// Package sides compares two sides in every quantity that a source has: some locations of a run with others, a time
// range with the rest, or one run with another.
//
// The quantities are time by role, category, region and caller, messages by partner, counters, metrics of a profile and
// attributes of the locations. Each has a value for every rank (or location) of a side, so each is two samples; package
// contrast describes the tests and why they are used.
//
//	unit.go    from the locations of a side to the units that have a value each
//	gather.go  the values; message.go, metric.go and attribute.go those of other kinds than time
//	judge.go   which differences are clear, and their order
package sides

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// Kinds of quantities in the order in which equal ones are listed.
var Kinds = []string{"role", "category", "region", "caller", "calls", "messages", "partner", "counter", "metric",
	"attribute"}

// A Quantity is one number of each unit on both sides.
type Quantity struct {
	Kind, Name string
	Caller     string // of a caller, the region that calls
	Unit       string // ns, share, bytes, count or ""
	Role       trace.Role
	Regions    []trace.RegionID // selected by choosing it
	Values     [2][]float64     // by side, by unit
	Calls      [2]float64       // in all, where known
	Verdict    contrast.Judgement
	whole      float64
}

// A Side is one of the two: units, each with the locations it is made of, and the time ranges in which they are
// looked at. Store, Spans and Holders are given, the rest is found.
type Side struct {
	Store   store.Reader
	Tree    *store.Tree
	Spans   []Span
	Holders []trace.LocationID // ascending
	Units   []trace.LocationID // ascending
	Of      []int32            // unit of each holder
	Names   []string           // of units
	Label   string
	Counted bool // calls are
}

func (s *Side) length() trace.Time {
	var n trace.Time
	for _, x := range s.Spans {
		n += x.End - x.Begin
	}
	return n
}

// mostUnits is the number of units that a side may have; of more an even sample is taken.
const mostUnits = 20_000

// A Question is the compared sides and quantities.
type Question struct {
	Sides [2]Side
	Whole Side // all that a side of this run may hold
	// Auto finds the sides: units that stand out against the others.
	Auto bool
	// Given: b was named, and is compared whatever it holds.
	Given bool
	// RunNames are those of two runs; none: both sides are of one.
	RunNames   []string
	Regions    []trace.RegionID // of the first run; nil: all
	Kinds      map[string]bool
	Metric     runfacts.MetricChoice // of the first run
	MetricText string                // how it was asked for, for the second
	Group      string                // auto, ranks or locations
}

// A Result is the compared quantities, the surest and largest differences first.
type Result struct {
	Sides  [2]Side
	Rows   []*Quantity
	Paired bool // both sides are the same units at different times
	Notes  []string

	ask    *Question
	by     map[string]bool
	found  bool // a was chosen by us, because it is different
	shares bool // times are shares of windows of different lengths
}

// Compare answers a question.
func (q *Question) Compare(ctx context.Context) (*Result, error) {
	r := &Result{ask: q, Sides: q.Sides, by: q.Kinds}
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	for i := range r.Sides {
		var err error
		if r.Sides[i].Counted, err = store.CountsCalls(ctx, r.Sides[i].Store); err != nil {
			return nil, err
		}
	}
	g := newGatherer(r)
	if err := g.all(ctx); err != nil {
		return nil, err
	}
	r.judge(g)
	return r, ctx.Err()
}

// settle finds the units and names of both sides.
func (r *Result) settle(ctx context.Context) error {
	if r.sameRun() {
		if err := r.units(r.ask.Auto); err != nil {
			return err
		}
		if r.ask.Auto {
			return r.mostUnlike(ctx)
		}
		r.describeSides(r.ask.Whole)
		return nil
	}
	for i := range r.Sides {
		s := &r.Sides[i]
		var err error
		if s.Units, s.Of, err = runfacts.Units(s.Tree, s.Holders, r.ask.Group); err != nil {
			return err
		}
		r.thin(s)
		s.Names = runfacts.ShortNames(s.Tree, s.Units)
		s.Label = r.ask.RunNames[i]
	}
	if n := len(r.ask.RunNames); n > 2 {
		r.Notes = append(r.Notes,
			fmt.Sprintf("two runs are compared; %s of %d are left out", words.Count(n-2, "run"), n))
	}
	return nil
}

func (r *Result) sameRun() bool { return len(r.ask.RunNames) == 0 }

// Clear counts the differences that are neither chance nor small.
func (r *Result) Clear() int {
	n := 0
	for _, q := range r.Rows {
		if q.Verdict.Clear {
			n++
		}
	}
	return n
}

// note says something once.
func (r *Result) note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}
