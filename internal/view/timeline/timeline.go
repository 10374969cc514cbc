// Package timeline shows the region of each location over time: one row per location,
// time to the right, links as arrows.
//
// The picture is made for its pixels. If a location has more intervals than fit, time is
// cut into bins of 2^level ns, aligned to the start of the trace so that panning moves
// the same bins, and a bin shows the region with the most innermost time in it. That
// winner is exact: the store's digests (analysis/share) name it or report that they
// cannot, and then the rows of that bin are read.
//
// A request passes four stages. Each returns a value that the later ones only read:
//
//	input     the run, the window and the checked options: timeline.go
//	plan      which rows are drawn, how many levels, how wide a bin: plan.go; rows.go is the tree of locations,
//	          pruned; optimal.go, spread.go, functions.go and gpus.go fold it to fit; arrange.go and pin.go
//	          order rows; label.go names them
//	content   the content of rows: read.go reads digests or rows into spans, by walk.go and cells.go;
//	          depth.go reads levels of nesting; sums.go, scan.go, lanescan.go and shared.go decide the bins that
//	          digests do not; groups.go, links.go, dense.go, marks.go, queue.go, critical.go and whole.go read the rest
//	result    all three: layout.go places rows, draw.go, arrows.go and colour.go make the scene,
//	          item.go describes items, data.go makes the twins, notes.go the notes
//
// beside.go draws two runs, one above the other.
package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:    "timeline",
	Title:   "Timeline",
	Summary: "region of each location over time, with messages and other links as arrows",
	HowToRead: "Each row is a location, and time runs to the right. The colour is the innermost open region. If " +
		"intervals are too short to see, a cell stands for many: its colour is the region with the most time, and " +
		"its height the share of time with an open interval. A row of a group shows the share of its members in " +
		"each role, from the bottom up. If there are more locations than pixels, groups of similar members are " +
		"folded first. Look first at rows that differ from their neighbours. Zoom in until cells become intervals. " +
		"With --critical, a red line along rows is the critical path of the steps of a GPU job, or of the slowest " +
		"request. Two runs are drawn one above the other on one time scale, aligned at the begin of a phase; lines " +
		"join the begins of the same phases.",
	Needs:  view.Needs{Intervals: true, Instants: true},
	Runs:   2,
	OfTime: true,
	Options: withAutoDepth(view.Words(view.Use("show", "depth", "colour", "links", "critical", "only", "expand",
		"collapse", "group", "p",
		"arrange", "pin", "scroll", "labels", "counters", "counters-of", "axis-to", "at-phase", "palette", "all"),
		"group: rows that are merged: tree (as groups are open or closed), or optimal (where little is lost)",
		"counters: counters drawn as lines below the rows; for GPUs also \"launch queue\": work that is launched "+
			"and has not begun",
		"depth: number of nesting levels; 0: only the innermost, in one row; auto: as many as have room in the height "+
			"of rows")),
	Report:  view.Report{Place: 1, Height: 420, AllLocations: true},
	Data:    []any{data{}, PairData{}},
	Compute: standard.compute,
}

// withAutoDepth lets the height of rows choose the levels.
func withAutoDepth(options []view.Option) []view.Option {
	i := slices.IndexFunc(options, func(o view.Option) bool { return o.Name == "depth" })
	options[i].Word = "auto"
	return options
}

// fewRows is the number of rows that a bin may have on average before its digest is
// cheaper than its rows.
const fewRows = 24

// A reading says when rows are read instead of digests, and up to how many links are
// read instead of their sums. The numbers are the same.
type reading struct {
	rowsPerBin int
	links      int64
}

var standard = reading{rowsPerBin: fewRows, links: fewLinks}

// options are the checked values of the request.
type options struct {
	show     show
	depth    int
	fits     bool // levels are those that have room
	colour   string
	palette  string
	links    string
	expand   []string
	collapse []string
	pin      []string
	counters []string
	countOf  []string // locations whose counters they are
	scroll   int
	labels   int // pixels of those of rows; 0: as many as they need
	all      bool
	critical bool
}

var shows = map[string]show{"dominant": dominant, "max": longest, "min": shortest, "last": last, "average": average,
	"random": random, "random-not-zero": randomOpen}

func parseOptions(v view.Values) (options, error) {
	o := options{
		show: shows[v.Text("show")], depth: v.Integer("depth"),
		fits: v.Text("depth") == "auto", colour: v.Text("colour"), palette: v.Text("palette"),
		links:  v.Text("links"),
		expand: v.Patterns("expand"), collapse: v.Patterns("collapse"), pin: v.Patterns("pin"),
		counters: v.Patterns("counters"), countOf: v.Patterns("counters-of"),
		scroll: v.Integer("scroll"), labels: v.Integer("labels"), all: v.Switch("all"), critical: v.Switch("critical"),
	}
	if known := []string{"region", "role", "busy", "duration"}; !slices.Contains(known, o.colour) {
		return o, words.NotOneOf("--colour", o.colour, known...)
	}
	if o.depth < 0 || o.depth > 1<<15 {
		return o, fmt.Errorf("--depth %d: want 0 for the innermost interval alone, or a number of levels", o.depth)
	}
	if o.scroll < 0 {
		return o, fmt.Errorf("--scroll %d: want 0 or more", o.scroll)
	}
	if o.labels < 0 {
		return o, fmt.Errorf("--labels %d: want pixels, or 0 for what labels need", o.labels)
	}
	return o, nil
}

// An input is the checked request for one run.
type input struct {
	run       view.Run
	reader    store.Reader
	regions   []trace.Region
	selection trace.Selection
	axisEnd   trace.Time // of the time axis: that of the selection, or later
	size      scene.Size // that it is computed for
	opt       options
	rule      rule
	reading   reading
}

// A result is a computed timeline.
type result struct {
	*input
	*plan
	*content
	labelWidth float32
	inks       *inks
	notes      []string
}

func (how reading) compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if len(q.Runs) > 1 {
		return how.stack(ctx, q)
	}
	r, err := how.one(ctx, q, 0)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// one makes the timeline of one run, whose axis goes on to a time at least.
func (how reading) one(ctx context.Context, q *view.Request, axisTo trace.Time) (*result, error) {
	in, err := newInput(q, how, axisTo)
	if err != nil {
		return nil, err
	}
	colours, err := q.Colours(ctx)
	if err != nil {
		return nil, err
	}
	plan, err := arrange(ctx, q, in)
	if err != nil {
		return nil, err
	}
	content, err := read(ctx, in, plan)
	if err != nil {
		return nil, err
	}
	if content.empty() {
		// Rows that were chosen for a panel stay, where other rows have the selected regions.
		if q.Selection.Regions != nil && q.Values.Set("only") {
			plan.notes.add("none of the selected regions is on these rows")
			return &result{input: in, plan: plan, content: content, labelWidth: plan.labelWidth,
				inks: newInks(in, content, colours), notes: plan.notes}, nil
		}
		return nil, view.Empty("choose a longer time or other regions", "no interval in the selection [%s, %s)",
			view.FormatTime(q.Selection.Begin), view.FormatTime(q.Selection.End))
	}
	return &result{input: in, plan: plan, content: content, labelWidth: plan.labelWidth,
		inks:  newInks(in, content, colours),
		notes: slices.Concat(plan.notes, contentNotes(in, content))}, nil
}

// newInput checks the request.
func newInput(q *view.Request, how reading, axisTo trace.Time) (*input, error) {
	o, err := parseOptions(q.Values)
	if err != nil {
		return nil, err
	}
	reader := q.Store()
	in := &input{run: q.Runs[0], reader: reader, regions: reader.Regions(), selection: q.Selection, opt: o,
		size: q.Size, reading: how, rule: ruleOf(o, q.Selection.Regions, reader.Regions()),
		axisEnd: max(q.Selection.End, axisTo)}
	if in.size.Width <= 0 || in.size.Height <= 0 {
		in.size = scene.Size{Width: 1200, Height: 700}
	}
	if reader.Info().Intervals == 0 && len(o.counters) == 0 && len(reader.Counters()) > 0 {
		in.opt.counters = []string{"*"} // there is nothing else to draw
	}
	if text := q.Values.Text("axis-to"); text != "" {
		to, err := view.ParseTime(text, reader.Info().End)
		if err != nil {
			return nil, fmt.Errorf("--axis-to: %w", err)
		}
		in.axisEnd = max(in.axisEnd, to)
	}
	if q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "the time selected is empty")
	}
	if q.Selection.Regions != nil && len(q.Selection.Regions) == 0 {
		return nil, view.Empty("choose other regions", "no region is selected")
	}
	return in, nil
}

// lanes counts the lanes of a location; a row of instants has none and takes one.
func (in *input) lanes(id trace.LocationID) int {
	lanes := in.reader.Lanes()
	return max(int(lanes[id+1]-lanes[id]), 1)
}

// length is how long the time axis is.
func (in *input) length() trace.Time { return in.axisEnd - in.selection.Begin }

// window asks for locations, in any order.
func (in *input) window(ids []trace.LocationID) store.Window {
	if !slices.IsSorted(ids) { // rows may be arranged, a query ascends
		ids = slices.Sorted(slices.Values(ids))
	}
	return store.Window{Begin: in.selection.Begin, End: in.selection.End, Locations: ids}
}

func ruleOf(o options, selected []trace.RegionID, regions []trace.Region) rule {
	r := rule{show: o.show, labels: regions, durations: o.colour == "duration"}
	switch o.colour {
	case "role":
		r.key = byRole
	case "busy":
		r.key = byBusy
	}
	if selected != nil {
		r.keep, r.kept = make([]bool, len(regions)), len(selected)
		for _, id := range selected {
			r.keep[id] = true
		}
	}
	return r
}

// Notes implements view.Result.
func (r *result) Notes() []string { return r.notes }
