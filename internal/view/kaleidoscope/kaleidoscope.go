// Package kaleidoscope draws the whole invocation tree as one radial picture: a
// program's signature. Flame graphs merge calls; this shows every call, painted by
// location, region or time.
//
//	forest.go    the calls of a window, read by package invocation
//	order.go     the order of sectors
//	detail.go    the calls drawn at any scale; merged.go sectors that stand for several calls, mix.go their colours
//	arrange.go   the paper's way: which levels are drawn, and where calls lie; choose.go which calls are drawn
//	paint.go     the meaning of colours; group.go colours of many locations
//	draw.go      places, zoom, growth; family.go shapes and bands; label.go names
//	close.go     the sectors of calls in a closer look; ring_name.go names in them
//	within.go    the callers around the middle of a zoomed picture
//	pick.go      the call under the cursor
//	path.go      call paths of a run, or of two; sunburst.go, sunburst_draw.go, sunburst_data.go their picture
//
// After Tick, Park: Kaleidescope Visualization of Fine-Grain Parallel Programs.
package kaleidoscope

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "kaleidoscope",
	Title:   "Kaleidoscope",
	Paper:   "Tick, Park: Kaleidescope Visualization of Fine-Grain Parallel Programs",
	Summary: "the whole invocation tree as one radial picture, coloured by location, region or time",
	HowToRead: "The root is in the middle. A call is on the ring of its depth, and its callees share its sector by " +
		"weight. A call with its callees is one filled shape in the call's colour, with an outer band in the " +
		"colours of the callees. Coloured by location, even colours mean an even load. Coloured by time, calls of " +
		"one colour run at the same time. Calls with the same time colour run in parallel if their location colours " +
		"differ, and in sequence if they are equal. Coloured by both, the hue is the location and the lightness the " +
		"time, with early calls light. Calls narrower than a pixel share a sector with their neighbours, which has " +
		"the mix of their colours. Zooming in opens it, down to single calls; every call keeps its angle. In the " +
		"page, a double click opens a subtree or a sector, and Play draws the tree in the order of time.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("tree", "ring", "paint", "order=auto", "root", "zoom", "until", "light", "all",
		"palette=spectrum", "paper"),
		"order: order of sectors: rank (roots by process, callees by begin), time (all by begin), size (largest "+
			"first), name (by region), or family (by begin, with the callees of a condensed call together); auto: "+
			"rank if roots belong to ranks or there is one per location, else time; of call paths size "+
			"[auto rank time size name family]"),
	Data:    []any{Data{}, PairData{}, PathData{}},
	Compute: compute,
}

type result struct {
	request *view.Request
	colours *view.Colours
	forest  *forest
	*arrangement
	detail *detail // nil: the paper's arrangement, or all of the tree
	looked scene.Size
	sight  invocation.Sight
	light  *light
	paint  string
	root   int32 // of the subtree that is shown; -1: the whole tree
	until  trace.Time
	zoom   zoom
	paper  bool // families alone, as the paper draws them
	failed error
	brush  *painter
	cuts   []int32 // of lanes of joined calls: the first that had not begun, of a tree that still grows
	drawing
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if showsPaths(q) {
		r, err := sunburstOf(ctx, q)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	if len(q.Runs) > 1 {
		return besides(ctx, q)
	}
	r, err := signature(ctx, q)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// signature computes the picture of the first run.
func signature(ctx context.Context, q *view.Request) (*result, error) {
	r := &result{request: q, paper: q.Values.Switch("paper")}
	if q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "no time is selected")
	}
	var err error
	if r.zoom, err = parseZoom(q.Values.Text("zoom")); err != nil {
		return nil, err
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	w := q.Window()
	if q.Values.Switch("light") {
		w = store.Window{End: q.Store().Info().End}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.forest, err = forestOf(ctx, q.Runs[0], w, r.way()); err != nil {
		return nil, err
	}
	if r.paint = q.Values.Text("paint"); r.paint == "auto" {
		r.paint = r.forest.firstPaint()
	}
	if n := r.forest.calls.Len(); n == 0 || n == 1 && r.forest.calls.Virtual {
		return nil, view.Empty("choose other locations or a longer time", "no call begins in the selection")
	}
	if err := r.parseUntil(); err != nil {
		return nil, err
	}
	if r.until < r.forest.end && r.forest.calls.Joined() {
		if r.cuts, err = r.forest.calls.Begun(ctx, r.until); err != nil {
			return nil, err
		}
	}
	p, err := r.plan()
	if err != nil {
		return nil, err
	}
	r.root = p.root
	r.light = newLight(q, q.Values.Switch("light"))
	if !r.paper && !p.all {
		key := fmt.Sprint("kaleidoscope detail ", r.forest.calls.Joined(), r.forest.calls.OfRows(), keyOf(w), p.key())
		r.detail, err = derived.Keep(q.Runs[0].Cache, key, (*detail).sizeBytes,
			func() (*detail, error) { return p.detail(r.forest), nil })
		if err == nil && r.root >= 0 && q.Values.Text("paint") == "auto" {
			r.paint = r.paintOf(0, int32(r.detail.outline.Len()))
		}
		if err == nil {
			err = r.zoomToCall()
		}
		if err == nil {
			err = r.look(ctx, q.Size)
		}
		return r, cmp.Or(err, r.Failed())
	}
	if err := r.zoomToCall(); err != nil {
		return nil, err
	}
	r.arrangement,
		err = derived.Keep(q.Runs[0].Cache, "kaleidoscope arrangement "+keyOf(w)+p.key(), (*arrangement).sizeBytes,
		func() (*arrangement, error) { return p.arrange(r.forest), nil })
	return r, err
}

// way is the one in which calls are read: where sectors may come by rank, and no number of a call is given, and the
// tree is shown as it was in the end, nothing needs the order of the run, and little else needs all calls.
func (r *result) way() way {
	v := r.request.Values
	if order := v.Text("order"); order != "auto" && order != byRank || r.paper || v.Switch("all") {
		return inTime
	}
	return inStore
}

func (r *result) plan() (*plan, error) {
	v := r.request.Values
	p := &plan{root: -1, order: v.Text("order"), locations: r.request.Store().Locations(), ring: v.Integer("ring"),
		width: min(r.request.Size.Width, r.request.Size.Height), all: v.Switch("all")}
	if root := v.Text("root"); isRow(root) {
		node, err := r.rowNamed("root", root)
		if err != nil {
			return nil, err
		}
		p.root = node
	} else if root != "" {
		id, err := strconv.Atoi(root)
		if err != nil || id < 0 || id >= r.forest.calls.Len() {
			return nil, fmt.Errorf("--root %q: want the id of a node, 0 to %d", root, r.forest.calls.Len()-1)
		}
		if p.root, err = r.forest.calls.FindNumbered(int32(id)); err != nil {
			return nil, err
		}
	}
	switch {
	case p.order != "auto":
	case r.paper:
		p.order = byTime
	default:
		p.order = chosenOrder(r.forest, p.locations)
	}
	return p, nil
}

// parseUntil reads how far the tree has grown: a time from the run's begin, or a
// share of the time in which calls begin, so that each percent adds something.
func (r *result) parseUntil() error {
	text, begin, end := r.request.Values.Text("until"), r.forest.begin, r.forest.end
	r.until = end
	if text == "" {
		return nil
	}
	t, err := view.ParseTime(text, end-begin)
	if err != nil {
		return fmt.Errorf("--until: %w", err)
	}
	if text[len(text)-1] == '%' {
		t += begin
	}
	r.until = t
	return nil
}

// Notes lists the calls not drawn, and the gaps of the data.
func (r *result) Notes() []string {
	var out []string
	if n := r.forest.calls.Late; n > 0 {
		out = append(out,
			plural(n, "call begins before the one that made it: clocks disagree",
				"calls begin before those that made them: clocks disagree"))
	}
	if n := r.forest.calls.Cut; n > 0 {
		out = append(out,
			plural(n, "call would be its own ancestor and hangs on the root",
				"calls would be their own ancestors and hang on the root"))
	}
	out = append(append(out, r.arrangement.notes...), r.detailNotes()...)
	if r.until < r.forest.end {
		out = append(out, "as it was at "+view.FormatTime(r.until))
	}
	if r.light.on {
		out = append(out,
			fmt.Sprintf("%s of the calls drawn are selected, the others dimmed", view.Thousands(int64(r.lit))))
	}
	crowded := r.crowded
	if r.zoom != (zoom{factor: 1}) {
		crowded = r.left
	}
	if crowded > 0 {
		out = append(out, plural(crowded, "call lies where another is drawn", "calls lie where others are drawn"))
	}
	if limit := r.timeLimit(); limit != "" {
		out = append(out, limit)
	}
	if r.brush != nil && r.brush.shared != "" {
		out = append(out, r.brush.shared)
	}
	if r.isBeyond() {
		out = append(out, "the tree does not reach this far out: no call is here")
	}
	return out
}

// isBeyond reports whether the picture is zoomed to a place without calls.
func (r *result) isBeyond() bool {
	return r.zoom != (zoom{factor: 1}) && r.detail != nil && len(r.items) == 0
}
