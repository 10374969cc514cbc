// Package compare shows runs against runs: the changes from A to B, how sure they are, and
// the limits of the data.
//
// Runs are the values of the two samples; analysis/runchange compares them.
//
//	sides.go       which runs are A and which are B
//	words.go       the verdict in words
//	data.go        the twins
//	layout*.go     the pictures: changes, tree, runs, steps, ranks
package compare

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/runchange"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "compare",
	Title:   "Compare",
	Paper:   "benchstat for the table; Hodges, Lehmann 1963; Moses 1965; Bogomolov and others 2021",
	Summary: "changes between two sets of runs, with confidence intervals",
	HowToRead: "The sentence states the change from A to B and its certainty. Each line is a part of the run, the " +
		"largest difference first. The open dot is A and the full dot is B. Both are medians over runs, per " +
		"location, or per step for GPU jobs. The difference with its 95 % confidence interval is on the right: red " +
		"is longer in B, blue is shorter, grey is not certain. A run counts as one value, whatever its number of " +
		"ranks and steps. One run per side shows a difference, but not whether the next runs would repeat it. " +
		"--picture tree draws the call tree with the widths of both sides, runs the times of each run relative to " +
		"the median of A, steps the steps of each run, and ranks the useful time of each rank.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  1024,
	Options: view.Words(view.Use("a", "b", "by", "min-change", "match", "picture=changes", "verdict", "top"),
		"a: runs of side A, by pattern of their names; default: the first run",
		"b: runs of side B, by pattern of their names; default: all others",
		"by: a key of the runs, such as commit: side A has the value of the first run, side B the others",
		"picture: changes with their confidence intervals, the call tree in both widths, times of each run, steps "+
			"of each run, or ranks of A and B [changes tree runs steps ranks]"),
	Data:    []any{Data{}},
	Compute: compute,
}

type result struct {
	*runchange.Change
	request *view.Request
	names   []string
	keys    []map[string]string
	side    []int // of each run
	unit    string

	text    string
	notes   []string
	regions map[string][]trace.RegionID // of the first run, by canonical name
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	prints, err := q.WholeRuns(ctx, "comparing", fingerprint.OfRank)
	if err != nil {
		return nil, err
	}
	r := &result{request: q, Change: &runchange.Change{Prints: prints, Worth: q.Values.Number("min-change") / 100}}
	for i := range q.Runs {
		r.names, r.keys = append(r.names, q.Runs[i].Name), append(r.keys, q.Runs[i].Keys)
	}
	if err := r.choose(); err != nil {
		return nil, err
	}
	r.unit = prints[r.Runs[0][0]].Unit
	if err := q.OneUnit(prints, slices.Concat(r.Runs[0], r.Runs[1])...); err != nil {
		return nil, err
	}
	if err := r.Compare(q.Values.Patterns("match")); err != nil {
		return nil, err
	}
	r.text = r.words()
	r.note()
	return r, ctx.Err()
}

func (r *result) note() {
	if r.Stepped && !r.Parted {
		r.notes = append(r.notes,
			fmt.Sprintf("the runs have different numbers of steps (%s), so that times are those of a step: what runs "+
				"once, "+
				"such as its start, is divided among them", strings.TrimSpace(r.Prints[0].StepsBy)))
	}
	if d := r.sizes(); d != "" {
		r.notes = append(r.notes, d)
	}
	if slices.ContainsFunc(r.Prints, func(p *fingerprint.Print) bool { return p.Summed }) {
		r.notes = append(r.notes,
			"the profiles are sums over ranks, and times are shares per rank: their balance is unknown")
	}
	if names := r.uneven(); len(names) > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s: single steps make the mean differ by more than the usual step, which the interval is of",
				strings.Join(names, ", ")))
	}
	share := r.Matched()
	if alike := share[compare.ByLike] + share[compare.ByPlain]; alike > 0.005 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of the time is in regions whose names differ and that were taken for the same; --match "+
				"OLD=NEW says otherwise", view.FormatShare(alike)))
	}
	if one := share[compare.OneSided]; one > 0.005 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of the time is in call paths that one side alone has", view.FormatShare(one)))
	}
	beside := slices.ContainsFunc(r.Prints, func(p *fingerprint.Print) bool { return p.Beside })
	if beside {
		r.notes = append(r.notes, "calls ran beside each other, so times of call paths add up to more than the run")
	}
	r.notes = append(r.notes, r.request.WholeNotes("compared")...)
	if folded := slices.ContainsFunc(r.Prints, func(p *fingerprint.Print) bool { return p.Folded > 0 }); folded {
		r.notes = append(r.notes, "call paths with little time are joined below their caller")
	}
}

// uneven are the parts whose means differ by more than the interval over steps says: bar and whisker would
// seem to contradict each other.
func (r *result) uneven() (names []string) {
	for _, q := range r.Rows {
		if s := q.Steps; q.Kind == "part" && s != nil && math.IsNaN(q.Estimate.Low) &&
			(q.Difference() < s.Low || q.Difference() > s.High) {
			names = append(names, q.Name)
		}
	}
	return names
}

// Notes implements view.Result.
func (r *result) Notes() []string { return append([]string{}, r.notes...) }
