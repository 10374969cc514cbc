// Package calltree shows which calls the time went through: the call trees of all
// selected locations merged into one, as an icicle or as a table, from callers to
// what they call or from regions to their callers.
//
// Of a trace it is built from the intervals of any window, of a profile from its
// call paths. Times are clipped to the window, calls count where they begin.
package calltree

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "calltree",
	Title:   "Call tree",
	Summary: "the call trees of all selected locations as one, top-down or bottom-up",
	HowToRead: "Each box is a call path, below the box of its caller; its width is the time spent in it and in what it calls, on all selected locations together. " +
		"Where nothing lies below a part of a box, that part is its own time. Boxes side by side are sorted, the widest first. " +
		"Bottom-up turns the tree round: the first row holds the regions by their own time, and below each its callers. " +
		"The table shows the same with numbers, and how the time differs between locations. Choose a box to select its region.",
	Needs:   view.Needs{Intervals: true, Profile: true},
	Options: view.Use("metric", "direction", "form", "depth", "root", "top"),
	Compute: compute,
}

type result struct {
	request  *view.Request
	regions  []trace.Region
	metric   view.MetricChoice
	bottomUp bool
	tree     *tree
	total    float64 // of the roots
	delta    []*float64
	notes    []string
	drawn    drawing
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	if s.Info().Intervals > 0 && q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "no time is selected")
	}
	metric, err := view.ChooseMetric(s, q.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	r := &result{request: q, regions: s.Regions(), metric: metric, bottomUp: q.Values.Text("direction") == "bottom-up"}
	t, err := build(ctx, s, q.Window(), metric.ID)
	if err != nil {
		return nil, err
	}
	r.notes = append(r.notes, t.notes...)
	if len(t.nodes) == 0 {
		if s.Info().Intervals == 0 && s.Info().Profile > 0 {
			return nil, view.Empty("the view `profile` shows its regions", "the profile has no call paths in the selection")
		}
		return nil, view.Empty("choose other locations or a longer time", "no call in the selection")
	}
	if r.bottomUp {
		t = t.turned()
	}
	t = t.restricted(q.Selection.Regions)
	t.sort(r.regions)
	if t, err = r.below(t, q.Values.Text("root")); err != nil {
		return nil, err
	}
	if len(t.nodes) == 0 {
		return nil, view.Empty("choose other regions", "none of the selected regions is called in the selection")
	}
	r.tree = t
	for i := range t.nodes {
		if t.nodes[i].parent < 0 {
			r.total += t.nodes[i].inclusive
		}
	}
	if t.whole > 0 {
		r.total = t.whole
	}
	r.delta = make([]*float64, len(t.nodes))
	return r, r.compare(ctx)
}

// below gives the part of the tree at and below a node.
func (r *result) below(t *tree, text string) (*tree, error) {
	if text == "" {
		return t, nil
	}
	id, err := strconv.Atoi(text)
	if err != nil || id < 0 || id >= len(t.nodes) {
		return nil, fmt.Errorf("--root %q: want the id of a node, below %d", text, len(t.nodes))
	}
	last := id
	for last+1 < len(t.nodes) && t.nodes[last+1].depth > t.nodes[id].depth {
		last++
	}
	out := &tree{locations: t.locations, whole: t.whole}
	for i := id; i <= last; i++ {
		n := t.nodes[i]
		n.depth -= t.nodes[id].depth
		n.parent -= int32(id)
		if i == id {
			n.parent = -1
		}
		out.nodes = append(out.nodes, n)
	}
	r.notes = append(r.notes, "only what lies below "+r.regions[t.nodes[id].region].Name+" is shown")
	return out, nil
}

// compare gives the difference to a second run: paths are matched by their names.
func (r *result) compare(ctx context.Context) error {
	if len(r.request.Runs) < 2 {
		return nil
	}
	other := r.request.Runs[1].Store
	metric, err := view.ChooseMetric(other, r.request.Values.Text("metric"))
	if err != nil {
		return err
	}
	w := r.request.Window()
	w.Begin, w.End, w.Locations = 0, other.Info().End, nil
	t, err := build(ctx, other, w, metric.ID)
	if err != nil {
		return err
	}
	if r.bottomUp {
		t = t.turned()
	}
	t.sort(other.Regions())
	theirs := map[string]float64{}
	for i, key := range t.keys(other.Regions()) {
		theirs[key] = t.nodes[i].inclusive
	}
	for i, key := range r.tree.keys(r.regions) {
		d := theirs[key] - r.tree.nodes[i].inclusive
		r.delta[i] = &d
	}
	r.notes = append(r.notes, fmt.Sprintf("delta is the whole of run %s less this one", r.request.Runs[1].Name))
	return nil
}

// keys names every node by the names from the root.
func (t *tree) keys(regions []trace.Region) []string {
	out := make([]string, len(t.nodes))
	for i, n := range t.nodes {
		out[i] = regions[n.region].Name
		if n.parent >= 0 {
			out[i] = out[n.parent] + "\x00" + out[i]
		}
	}
	return out
}

// label of a node: its region, after dots where the path was cut.
func (r *result) label(n *node) string {
	if n.cut {
		return "… " + r.regions[n.region].Name
	}
	return r.regions[n.region].Name
}

// path of a node, with its callers.
func (r *result) path(i int) string {
	var names []string
	for k := int32(i); k >= 0; k = r.tree.nodes[k].parent {
		names = append(names, r.regions[r.tree.nodes[k].region].Name)
	}
	if !r.bottomUp {
		slices.Reverse(names)
	}
	return strings.Join(names, " → ")
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
