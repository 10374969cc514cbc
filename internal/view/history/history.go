// Package history shows runs in order: the nights of a benchmark, the commits of a
// program. It marks lasting changes of the length or of a call path, and values outside
// of the usual range since then; analysis/history finds them.
//
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
	"github.com/parallax-hpc/parallax/internal/analysis/history"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "history",
	Title:   "History",
	Paper:   "E-divisive (Matteson, James 2014); Hunter (Fleming and others 2023); control charts after Shewhart",
	Summary: "runs in order: lasting changes (change points) and outliers",
	HowToRead: "Each dot is a run, from the first to the last. The line is the mean since the last change point, " +
		"and marks show the change points. The band is the usual range since the last change: three standard " +
		"deviations, estimated from the differences of neighbouring runs. Runs outside it have large dots. Below " +
		"are the call paths that changed, then those that vary most. A change point is where the values before and " +
		"after differ most. It is kept if random permutations of the values rarely differ as much, corrected for " +
		"all lines together. --order KEY sorts runs by a key, such as a date or a build number; the default is the " +
		"order of the command line. The view compare shows the two runs around a change.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  1024,
	Options: view.Words(view.Use("order", "min-change", "top"),
		"order: a key of the runs by whose value they are sorted; default: as given"),
	Data:    []any{Data{}},
	Compute: compute,
}

type result struct {
	request *view.Request
	runs    []run // in order
	unit    string
	series  []history.Series // the length first
	text    string
	notes   []string
}

type run struct {
	name, source, key string
	print             *fingerprint.Print
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	prints, err := q.WholeRuns(ctx, "a history", fingerprint.OfRank)
	if err != nil {
		return nil, err
	}
	r := &result{request: q, runs: make([]run, len(prints))}
	for i, p := range prints {
		if err := q.OneUnit(prints, 0, i); err != nil {
			return nil, err
		}
		r.runs[i] = run{name: q.Runs[i].Name, source: q.Runs[i].Source, print: p}
	}
	r.unit = r.runs[0].print.Unit
	if err := r.order(q.Values.Text("order")); err != nil {
		return nil, err
	}
	for i := range r.runs {
		prints[i] = r.runs[i].print
	}
	if r.series, err = history.OfRuns(ctx, prints, q.Values.Number("min-change")/100); err != nil {
		return nil, err
	}
	r.text = r.words()
	if l := &r.series[0]; len(l.Changes) > 0 {
		r.notes = append(r.notes, r.command(&l.Changes[len(l.Changes)-1])+" tells what changed there")
	}
	r.notes = append(r.notes, q.WholeNotes("shown")...)
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
			v, ok = r.runs[i].print.Property(key)
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
