// Package calltree shows which calls the time went through: the call trees of all
// selected locations merged into one, as an icicle or as a table, from callers to
// callees or from regions to their callers.
//
// For a trace it is built from the intervals of any window, for a profile from its call
// paths. Times are clipped to the window, calls count where they begin.
package calltree

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "calltree",
	Title: "Call tree",
	Summary: "the call trees of the selected locations merged into one: top-down, bottom-up, or callers and callees " +
		"of one region",
	HowToRead: "Each box is a call path, below the box of its caller. Its width is its inclusive time, summed over " +
		"the selected locations. A part without a box below it is the exclusive time. The widest boxes come first. " +
		"Bottom-up reverses the tree: the first row has the regions by exclusive time, with their callers below. A " +
		"sandwich has one region in the middle, its callees below and its callers above. The table has the same " +
		"numbers, and how the time differs between locations or single calls. Click a box, or set --root, to show " +
		"the tree below it in full width; click the topmost box to go back. Ctrl and a click selects its region. " +
		"The graph shows each region once, in 3D, below its callers: the colour of a node is its exclusive time, " +
		"and the colour of a line the time that passes through it. Compared with other locations or a second run, " +
		"red boxes take longer here and blue ones longer there; the width is the mean of both.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("metric", "over=locations", "against", "shift", "direction", "form", "depth", "only",
		"root",
		"find", "top", "camera=25,30,1"),
		"direction: from callers to callees, from regions to their callers, or callers above and callees below one "+
			"region [top-down bottom-up sandwich]",
		"root: show the tree below this call path in full width: names from the top joined by ' → ' or ' > ', the "+
			"end of a path, or the id of a node; for a sandwich, its region"),
	Report:  view.Report{AllRegions: true},
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

type result struct {
	request     *view.Request
	metric      runfacts.MetricChoice
	counted     bool // calls are
	colours     *view.Colours
	camera      scene.Camera // of the graph
	tree        *pathtree.Tree
	zoom        zoom
	callers     int // of a sandwich the first node above its root; 0: it is none
	total       float64
	base        view.Base // of shares
	sides       sides
	notes       []string
	regionsOnce *pathtree.Graph // see graphOf
	shared      map[string]bool // names that several regions of the tree have; nil: not looked for yet
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	metric, err := runfacts.ChooseMetric(s, q.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	counted, err := store.CountsCalls(ctx, s)
	if err != nil {
		return nil, err
	}
	colours, err := q.Colours(ctx)
	if err != nil {
		return nil, err
	}
	camera, err := scene.ParseCamera(q.Values.Text("camera"))
	if err != nil {
		return nil, err
	}
	if err := refuse(q); err != nil {
		return nil, err
	}
	here, err := chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	w := q.Window()
	w.Locations = here.locations
	t, err := pathtree.Build(ctx, s, w, metric, measure(q))
	if err != nil {
		return nil, err
	}
	if len(t.Nodes) == 0 {
		return nil, nothing(q, metric)
	}
	notes, base := gapNotes(t), shareBase(q, metric, w, t)
	if len(q.Runs) > 1 {
		if t, err = t.Matchable(ctx); err != nil {
			return nil, err
		}
	}
	if bottomUp(q) {
		if t, err = t.BottomUp(ctx); err != nil {
			return nil, err
		}
	}
	compared, note, err := compareWith(ctx, q, t, metric, here)
	if err != nil {
		return nil, err
	}
	notes = append(notes, note...)
	weight := func(n *pathtree.Node) float64 { return compared.weight(n, bothSides) }
	callers, part := 0, zoom{}
	if q.Values.Text("direction") == "sandwich" {
		t, callers, err = sandwich(ctx, q, t, metric, weight)
	} else if t, err = t.To(ctx, q.Selection.Regions); err == nil {
		if err = t.Sort(ctx, weight); err == nil {
			t, part, err = below(t, q.Values.Text("root"))
		}
	}
	if err != nil {
		return nil, err
	}
	if len(t.Nodes) == 0 {
		return nil, view.Empty("choose other regions", "none of the selected regions is called in the selection")
	}
	if part.on {
		notes = append(notes, "only what lies below "+t.Name(&t.Nodes[0])+" is shown")
	}
	if t.Join != trace.JoinSum {
		notes = append(notes,
			fmt.Sprintf("values of %s do not add up: a box has the %s over its locations, and boxes below one may "+
				"together be wider than it; they are then drawn to fit", metric.Name, joins[t.Join]))
	}
	return &result{request: q, metric: metric, counted: counted, colours: colours, camera: camera, tree: t, zoom: part,
		callers: callers, total: t.Total(), base: base, sides: compared, notes: notes}, nil
}

// refuse returns an error for options that exclude each other.
func refuse(q *view.Request) error {
	form, against := q.Values.Text("form"), q.Values.Text("against")
	compares := against != "" || len(q.Runs) > 1
	switch isSandwich := q.Values.Text("direction") == "sandwich"; {
	case form == "graph" && (bottomUp(q) || compares):
		return fmt.Errorf("--form graph shows who calls whom in one run, top-down, and compares nothing")
	case isSandwich && (form == "graph" || compares):
		return fmt.Errorf("--direction sandwich shows callers and callees of one region in one run, as boxes or as a " +
			"table, and compares nothing")
	case form == "beside" && !compares:
		return fmt.Errorf("--form beside needs something to compare with: --against LOCATIONS, or --run NAME=SOURCE")
	case against != "" && len(q.Runs) > 1:
		return fmt.Errorf("--against compares locations of one run; leave it out to compare with run %s",
			q.Runs[1].Name)
	case len(q.Runs) < 2 && against == "" && q.Values.Set("shift"):
		return fmt.Errorf("--shift moves a second run; name one with --run NAME=SOURCE")
	}
	return nil
}

// nothing is the error of a selection without calls.
func nothing(q *view.Request, metric runfacts.MetricChoice) error {
	if i := q.Store().Info(); !i.Timed() && i.Profile > 0 {
		return q.Advise("other locations",
			"another metric").Empty("no call path has a value of %s other than 0 in the selection", metric.Name)
	}
	return view.Empty("choose other locations or a longer time", "no call in the selection")
}

// gapNotes says what the source or the tree does not have.
func gapNotes(t *pathtree.Tree) (notes []string) {
	if t.Gaps.Unended {
		notes = append(notes,
			"calls without an end in the source are paths of their own, (no end), and last until the end of the trace")
	}
	if t.Gaps.Beside {
		notes = append(notes,
			"calls ran beside each other: those of one caller may add up to more than it took, and are then drawn to "+
				"fit into it")
	}
	if t.Gaps.Estimated > 0 {
		notes = append(notes,
			fmt.Sprintf("%s call paths, marked …, have no numbers of their own in the source and show the sum of "+
				"what they call; their time may be part of another path too",
				view.Thousands(int64(t.Gaps.Estimated))))
	}
	if t.Alone {
		notes = append(notes, "the profile has totals of regions and does not say who called whom: each region "+
			"stands alone, with its exclusive time")
	}
	if t.Gaps.NoValues {
		notes = append(notes, "there are too many locations and paths for quantiles over locations")
	}
	return notes
}

func bottomUp(q *view.Request) bool { return q.Values.Text("direction") == "bottom-up" }

// measure is the value that distributions over calls are of; Totals if none is asked
// for.
func measure(q *view.Request) callgraph.Measure {
	switch {
	case q.Values.Text("over") != "calls":
		return callgraph.Totals
	case bottomUp(q):
		return callgraph.Exclusive
	}
	return callgraph.Inclusive
}

// label of a node: its region, after dots where the path was cut.
func (r *result) label(n *pathtree.Node) string {
	if n.Cut {
		return "… " + r.tree.Name(n)
	}
	return r.tree.Name(n)
}

// joins are the ways of joining in words.
var joins = map[trace.Join]string{trace.JoinMin: "least", trace.JoinMax: "greatest", trace.JoinMean: "mean"}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
