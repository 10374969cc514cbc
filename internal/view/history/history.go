// Package history shows runs in order: the nights of a benchmark, the commits of a
// program. It marks lasting changes of the length or of a call path, and values outside
// of the usual range since then.
//
//	series.go    values of each run, and where they change
//	words.go     the verdict in words
//	data.go      the twins
//	layout.go    a chart of the length, and of call paths below it
package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "history",
	Title:   "History",
	Paper:   "E-divisive (Matteson, James 2014); Hunter (Fleming and others 2023); control charts after Shewhart",
	Summary: "runs in order: where they change for good, and which are out of the ordinary",
	HowToRead: "Each dot is a run, from the first to the last; the line is the mean since the last change, a mark " +
		"where it changes for good. The band holds what is usual since the last change (three standard deviations, " +
		"from the differences of neighbours); runs outside of it are drawn large. " +
		"Below are the call paths that changed, then those that vary most. A change is looked for where what comes " +
		"before and after differs most, and kept where values dealt anew differ as much too seldom to be chance, " +
		"counted for all lines together. " +
		"--order KEY puts runs in the order of a key, such as a date or a number of builds; else it is the order in " +
		"which they were given. The two runs around a change are compared by the view compare.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  256,
	Options: view.Words(view.Use("order", "min-change", "top"),
		"order: a key that runs have, by whose value they are ordered; none: as given"),
	Data:    []any{Data{}},
	Compute: compute,
}

// leastRuns is how many runs a history has at least.
const leastRuns = 2

type result struct {
	request *view.Request
	runs    []run // in order
	stepped bool
	unit    string
	series  []series // the length first
	text    string
	notes   []string
}

type run struct {
	name, source, key string
	print             *fingerprint.Print
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q}
	if len(q.Runs) < leastRuns {
		return nil,
			view.Empty("give more with --run NAME=SOURCE, or a directory of runs",
				"a history takes two runs or more, and there is one")
	}
	if s := &q.Selection; s.Locations != nil && len(s.Locations) == 0 || q.Store().Info().Timed() && s.Begin >= s.End {
		return nil, view.Empty("choose nothing to see whole runs", "nothing is selected")
	}
	for i := range q.Runs {
		p, err := fingerprint.OfRank(ctx, &q.Runs[i])
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", q.Runs[i].Name, err)
		}
		if i > 0 && p.Unit != r.runs[0].print.Unit {
			return nil,
				fmt.Errorf("run %s is in %q and run %s in %q: they cannot be compared", r.runs[0].name,
					r.runs[0].print.Unit, q.Runs[i].Name, p.Unit)
		}
		r.runs = append(r.runs, run{name: q.Runs[i].Name, source: q.Runs[i].Source, print: p})
	}
	r.unit = r.runs[0].print.Unit
	if err := r.order(q.Values.Text("order")); err != nil {
		return nil, err
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	r.text = r.words()
	if l := &r.series[0]; len(l.changes) > 0 {
		r.notes = append(r.notes, r.command(&l.changes[len(l.changes)-1])+" tells what changed there")
	}
	if s := &q.Selection; s.Locations != nil || s.Begin > 0 || s.End < q.Store().Info().End {
		r.notes = append(r.notes, "whole runs are shown, whatever is selected")
	}
	return r, ctx.Err()
}

// order sorts runs by a key: as numbers where all are numbers, else as text.
func (r *result) order(key string) error {
	if key == "" {
		return nil
	}
	numbers := true
	for i := range r.runs {
		v, ok := r.request.Runs[i].Keys[key]
		if !ok {
			v, ok = r.runs[i].print.Properties[key]
		}
		if !ok && key == "name" {
			v, ok = r.runs[i].name, true
		}
		if !ok {
			return fmt.Errorf("--order %q: run %s has no such key; give one with --key %s=/REGEXP/", key,
				r.runs[i].name, key)
		}
		r.runs[i].key = v
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			numbers = false
		}
	}
	slices.SortStableFunc(r.runs, func(a, b run) int {
		if numbers {
			x, _ := strconv.ParseFloat(a.key, 64)
			y, _ := strconv.ParseFloat(b.key, 64)
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.key, b.key)
	})
	return nil
}

// Notes implements view.Result.
func (r *result) Notes() []string { return append([]string{}, r.notes...) }
