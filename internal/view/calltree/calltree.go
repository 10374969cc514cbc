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
	regions     []trace.Region
	colours     *view.Colours
	metric      runfacts.MetricChoice
	counted     bool // calls are
	bottomUp    bool
	callers     int // of a sandwich the first node above its root; 0: it is none
	tree        *tree
	total       float64            // of the roots
	base        view.Base          // of shares
	here        []trace.LocationID // whose calls are shown; nil: all
	name        string             // of them, where it is not "here"
	against     *opposite          // nil: compared with nothing
	side        side               // that is drawn
	camera      scene.Camera       // of the graph
	notes       []string
	regionsOnce *graph // see joined
	zoom        zoom
	shared      map[string]bool // names that several regions of the tree have; nil: not looked for yet
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	metric, err := runfacts.ChooseMetric(s, q.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	r := &result{request: q, regions: s.Regions(), metric: metric, bottomUp: q.Values.Text("direction") == "bottom-up"}
	if r.counted, err = store.CountsCalls(ctx, s); err != nil {
		return nil, err
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if r.camera, err = scene.ParseCamera(q.Values.Text("camera")); err != nil {
		return nil, err
	}
	if q.Values.Text("form") == "graph" && (r.bottomUp || q.Values.Text("against") != "" || len(q.Runs) > 1) {
		return nil, fmt.Errorf("--form graph shows who calls whom in one run, top-down, and compares nothing")
	}
	sandwich := q.Values.Text("direction") == "sandwich"
	if sandwich && (q.Values.Text("form") == "graph" || q.Values.Text("against") != "" || len(q.Runs) > 1) {
		return nil,
			fmt.Errorf("--direction sandwich shows callers and callees of one region in one run, as boxes or as a " +
				"table, and compares nothing")
	}
	if r.here, err = r.chosen(ctx); err != nil {
		return nil, err
	}
	w := q.Window()
	w.Locations = r.here
	t, err := build(ctx, s, w, metric, r.measure())
	if err != nil {
		return nil, err
	}
	r.notes = append(r.notes, t.notes...)
	if len(t.nodes) == 0 {
		if !s.Info().Timed() && s.Info().Profile > 0 {
			return nil,
				q.Advise("other locations",
					"another metric").Empty("no call path has a value of %s other than 0 in the selection", metric.Name)
		}
		return nil, view.Empty("choose other locations or a longer time", "no call in the selection")
	}
	r.base = r.shareBase(w, t)
	if q.Values.Text("form") == "beside" && len(q.Runs) < 2 && q.Values.Text("against") == "" {
		return nil,
			fmt.Errorf("--form beside needs something to compare with: --against LOCATIONS, or --run NAME=SOURCE")
	}
	if len(q.Runs) > 1 {
		if t, r.regions, err = t.matchable(ctx, r.regions); err != nil {
			return nil, err
		}
	}
	if r.bottomUp {
		if t, err = t.turned(ctx); err != nil {
			return nil, err
		}
	}
	other, err := r.opposite(ctx, t, metric)
	if err != nil {
		return nil, err
	}
	if other != nil {
		if err := r.join(ctx, t, other); err != nil {
			return nil, err
		}
	}
	if sandwich {
		region, err := middle(r, t, q.Values.Text("root"))
		if err == nil {
			t, err = around(ctx, r, t, region)
		}
		if err != nil {
			return nil, err
		}
	} else {
		if t, err = t.restricted(ctx, q.Selection.Regions); err != nil {
			return nil, err
		}
		if err := t.sort(ctx, r.regions, r.weight); err != nil {
			return nil, err
		}
		if t, err = r.below(t, q.Values.Text("root")); err != nil {
			return nil, err
		}
	}
	if len(t.nodes) == 0 {
		return nil, view.Empty("choose other regions", "none of the selected regions is called in the selection")
	}
	r.tree = t
	r.total = t.total()
	if t.how != trace.JoinSum {
		r.notes = append(r.notes,
			fmt.Sprintf("values of %s do not add up: a box has the %s over its locations, and boxes below one may "+
				"together be wider than it; they are then drawn to fit", metric.Name, joins[t.how]))
	}
	return r, nil
}

// measure is the value that distributions over calls are of; Totals if none is asked
// for.
func (r *result) measure() callgraph.Measure {
	switch {
	case r.request.Values.Text("over") != "calls":
		return callgraph.Totals
	case r.bottomUp:
		return callgraph.Exclusive
	}
	return callgraph.Inclusive
}

// label of a node: its region, after dots where the path was cut.
func (r *result) label(n *node) string {
	if n.cut {
		return "… " + r.regions[n.region].Name
	}
	return r.regions[n.region].Name
}

// joins are the ways of joining in words.
var joins = map[trace.Join]string{trace.JoinMin: "least", trace.JoinMax: "greatest", trace.JoinMean: "mean"}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
