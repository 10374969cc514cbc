// Package scaling shows how a program behaves on more ranks: POP's factors by size, and
// models of each call path that predict which dominates beyond the sizes that were run.
//
//	size.go      how many ranks a run had
//	words.go     the verdict in words
//	data.go      the twins
//	layout.go    the pictures: factors as lines and as a table, models
package scaling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "scaling",
	Title:   "Scaling",
	Paper:   "the POP methodology of the Barcelona Supercomputing Center; Extra-P (Calotoiu and others 2013)",
	Summary: "runs of several sizes: speedup, POP efficiencies, and scaling models of call paths",
	HowToRead: "On the left is the speedup over the smallest run, with the ideal as a line. On the right are POP's " +
		"factors, one row per factor and one column per size. Global efficiency is the product of parallel " +
		"efficiency (load balance × communication efficiency) and computation scalability (instructions × " +
		"instructions per cycle × frequency). 100 % is ideal; look at factors below 80 %. In strong scaling the " +
		"problem size is fixed and each rank gets less work; in weak scaling it grows with the ranks. The " +
		"instructions, or the useful time, of all ranks decide which of both it is. --picture models draws the time " +
		"of call paths against the size with a curve c0 + c · n^i · log2(n)^j (Extra-P). The curve is the one that " +
		"predicts each size best from the others. The steepest call path dominates at four times the largest size.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  1024,
	Options: view.Words(view.Use("picture=factors", "by=auto", "top"),
		"picture: speedup and factors, or models of call paths [factors models]",
		"by: whether the problem grew with the ranks: strong, weak, or auto (decided by the instructions) [auto "+
			"strong weak]"),
	Data:    []any{Data{}},
	Compute: compute,
}

type result struct {
	request *view.Request
	runs    []run // by size
	kind    scaling.Kind
	factors []scaling.Factor
	models  []scaling.PathModel
	unit    string
	text    string
	notes   []string
	colours *view.Colours
}

// A run is one size.
type run struct {
	name, source string
	scaling.Sized
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	prints, err := q.WholeRuns(ctx, "scaling", fingerprint.OfRun.Of)
	if err != nil {
		return nil, err
	}
	r := &result{request: q, runs: make([]run, len(prints))}
	for i, p := range prints {
		if err := q.OneUnit(prints, 0, i); err != nil {
			return nil, err
		}
		r.runs[i] = run{q.Runs[i].Name, q.Runs[i].Source, scaling.NewSized(p)}
	}
	if err := r.sizes(); err != nil {
		return nil, err
	}
	r.unit = r.runs[0].Print.Unit
	slices.SortStableFunc(r.runs, func(a, b run) int { return cmp.Compare(a.Sums.Size, b.Sums.Size) })
	sized, sums := make([]scaling.Sized, len(r.runs)), make([]scaling.Run, len(r.runs))
	for i := range r.runs {
		sized[i], sums[i] = r.runs[i].Sized, r.runs[i].Sums
	}
	r.kind = scaling.KindOf(sums)
	if by := q.Values.Text("by"); by != "auto" {
		r.kind = scaling.Kind(by)
	}
	r.factors = slices.DeleteFunc(scaling.Table(sums, r.kind), func(f scaling.Factor) bool {
		return f.Name == "Load balance" && r.runs[len(r.runs)-1].Summed ||
			!slices.ContainsFunc(f.Values, func(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) })
	})
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	r.models = scaling.FitPaths(sized)
	r.text = r.words()
	r.note()
	return r, ctx.Err()
}

func (r *result) note() {
	sizes := map[float64]int{}
	for i := range r.runs {
		sizes[r.runs[i].Sums.Size]++
	}
	if len(sizes) == 1 {
		r.notes = append(r.notes, "all runs have the same size; the view compare holds them against each other")
	}
	if len(sizes) < scaling.LeastSizes {
		r.notes = append(r.notes,
			fmt.Sprintf("models take %d sizes or more, and there are %d: with fewer any curve fits", scaling.LeastSizes,
				len(sizes)))
	}
	if math.IsNaN(r.runs[0].Sums.Instructions) {
		r.notes = append(r.notes,
			"the source counts no instructions and cycles, so computation scalability is not split")
	}
	switch {
	case r.runs[len(r.runs)-1].Summed:
		r.notes = append(r.notes, "the profiles are sums over ranks: load balance cannot be told from them")
	case !r.runs[0].Print.Timed:
		r.notes = append(r.notes,
			"a profile has no clock: the length of a run is the largest time of a location")
	}
	r.notes = append(r.notes, r.request.WholeNotes("shown")...)
}

// Notes implements view.Result.
func (r *result) Notes() []string { return append([]string{}, r.notes...) }
