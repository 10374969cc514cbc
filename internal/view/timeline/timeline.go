// Package timeline shows who was in what, and when: a row a location, time to
// the right, links as arrows.
//
// The picture is made for its pixels. Where a location has more intervals than
// fit, time is cut into bins of 2^level ns, aligned to the start of the trace so
// that panning moves the same bins, and a bin shows the region with the most
// innermost time in it. That winner is exact: the store's digests (analysis/share)
// say who it is or that they cannot tell, and then the rows of that bin are read.
//
//	rows.go, optimal.go, spread.go, label.go   which rows: the tree of locations, pruned, folded to fit
//	plan.go      how high, how wide, which level; pin.go rows that stay at the top
//	fetch.go     digests or rows → spans, by walk.go and cells.go; depth.go levels of nesting
//	sums.go      bins of some regions alone, from the store's sums
//	scan.go      bins that digests do not decide: lanescan.go one lane, shared.go several
//	groups.go    groups of locations as stacked shares of roles
//	links.go, marks.go, critical.go             links; instants and counters; the critical path
//	queue.go     a counter that is not in the store: work launched and not begun
//	layout.go    rows → places; draw.go, arrows.go, colour.go → scene
//	beside.go    two runs, one above the other
//	item.go      what a mark shows, in words; data.go, whole.go the twins
package timeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "timeline",
	Title:   "Timeline",
	Summary: "who was in what, when: rows of locations, links as arrows, depth on demand",
	HowToRead: "Each row is a location, time runs to the right, and a colour is the region the location was in: the " +
		"innermost one that was open. " +
		"Where intervals are too short to see, a cell stands for many and has the colour of the region with the most " +
		"time in it; its height is the part of the time in which anything was open. " +
		"A row of a group shows, from the bottom up, which share of its members was in each role; where there are " +
		"more locations than pixels, groups whose members spend the run alike are folded first. Rows that look " +
		"unlike their neighbours are where to look first. " +
		"Zoom in until cells become intervals. With --critical a red line along rows is the critical path of the " +
		"steps of a GPU job, or of the slowest request: what it waited for at each instant. " +
		"Two runs are drawn one above the other on one time scale, laid over each other where a phase begins; lines " +
		"between them join the beginnings of the same phase.",
	Needs:  view.Needs{Intervals: true, Instants: true},
	Runs:   2,
	OfTime: true,
	Options: view.Words(view.Use("show", "depth", "colour", "links", "critical", "expand", "collapse", "group", "p",
		"arrange", "pin", "scroll", "labels", "counters", "counters-of", "axis-to", "at-phase", "palette", "all"),
		"group: rows that are drawn as one: tree (as groups are open or closed), or optimal: where little is lost by it",
		"counters: counters drawn as lines below the rows; of GPUs also \"launch queue\": work that is launched and "+
			"has not begun"),
	Report:  view.Report{Place: 1, Height: 420, AllLocations: true},
	Data:    []any{data{}, PairData{}},
	Compute: standard.compute,
}

// fewRows is how many rows a bin may have on average before its digest is
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
	colour   string
	palette  string
	links    string
	expand   []string
	collapse []string
	pin      []string
	counters []string
	countOf  []string // locations whose counters they are
	scroll   int
	labels   int // pixels of those of rows; 0: what they need
	all      bool
	critical bool
}

var shows = map[string]show{"dominant": dominant, "max": longest, "min": shortest, "last": last, "average": average,
	"random": random, "random-not-zero": randomOpen}

func parseOptions(v view.Values) (options, error) {
	o := options{
		show: shows[v.Text("show")], depth: v.Integer("depth"), colour: v.Text("colour"), palette: v.Text("palette"),
		links:  v.Text("links"),
		expand: v.Patterns("expand"), collapse: v.Patterns("collapse"), pin: v.Patterns("pin"),
		counters: v.Patterns("counters"), countOf: v.Patterns("counters-of"),
		scroll: v.Integer("scroll"), labels: v.Integer("labels"), all: v.Switch("all"), critical: v.Switch("critical"),
	}
	if !slices.Contains([]string{"region", "role", "busy", "duration"}, o.colour) {
		return o, fmt.Errorf("--colour %q: want region, role, busy or duration", o.colour)
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

// A result is a computed timeline.
type result struct {
	view.Arranged
	reader    store.Reader
	cache     *derived.Cache
	regions   []trace.Region
	colours   *view.Colours
	selection trace.Selection
	opt       options
	rule      rule
	grid      grid
	axisEnd   trace.Time // of the time axis: that of the selection, or later
	size      scene.Size // that it was computed for
	reading   reading

	fit        int   // levels of nesting that fit; 0: not known yet
	arranged   []row // in place of the tree's; nil: the tree
	rows       []row // shown, from the top
	first      int   // number of the first one among all that scroll
	pinned     int   // how many at the top do not
	total      int
	leaves     []*strips // of leaf rows by index in rows; nil for groups
	groups     []*stack  // of folded rows by index in rows; nil for others
	fullShare  float64   // what the full height of such a row means
	series     []*series // counters
	links      linkSet
	critical   *critical // nil: not asked for, or none
	marks      []instant
	totals     []total  // for the legend, most time first
	all        []wholes // --all
	labelWidth float32
	durations  durationScale
	known      []scene.Colour // of regions, None: not looked up yet
	notes      []string
}

// A planner chooses the rows of a result, a fetcher reads what they show, a painter draws it.
type (
	planner struct{ *result }
	fetcher struct{ *result }
	painter struct{ *result }
)

func (how reading) compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if len(q.Runs) > 1 {
		return how.stack(ctx, q)
	}
	return how.one(ctx, q, 0)
}

// one makes the timeline of one run, whose axis goes on to a time at least.
func (how reading) one(ctx context.Context, q *view.Request, axisTo trace.Time) (view.Result, error) {
	o, err := parseOptions(q.Values)
	if err != nil {
		return nil, err
	}
	r := &result{reader: q.Store(), cache: q.Runs[0].Cache, regions: q.Store().Regions(), selection: q.Selection,
		opt: o, size: q.Size, reading: how}
	if r.size.Width <= 0 || r.size.Height <= 0 {
		r.size = scene.Size{Width: 1200, Height: 700}
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	plan, read := &planner{r}, &fetcher{r}
	r.rule = ruleOf(o, q.Selection.Regions, r.regions)
	r.axisEnd = max(q.Selection.End, axisTo)
	if text := q.Values.Text("axis-to"); text != "" {
		to, err := view.ParseTime(text, q.Store().Info().End)
		if err != nil {
			return nil, fmt.Errorf("--axis-to: %w", err)
		}
		r.axisEnd = max(r.axisEnd, to)
	}
	if q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time", "the time selected is empty")
	}
	if q.Selection.Regions != nil && len(q.Selection.Regions) == 0 {
		return nil, view.Empty("choose other regions", "no region is selected")
	}
	shows := r.reader.Locations().Shows // rows aside are seen, they only do not count
	if r.reader.Info().Intervals == 0 {
		if shows, err = read.withoutIntervals(ctx); err != nil {
			return nil, err
		}
	}
	f, err := newForest(r.reader.Locations(), shows, q.Selection.Locations, o.expand, o.collapse)
	if err != nil {
		return nil, err
	}
	if f.all() == 0 {
		return nil,
			view.Empty("choose other locations", "none of the selected locations holds intervals, instants or counters")
	}
	if group := q.Values.Text("group"); group == "optimal" {
		if err := plan.groupOptimal(ctx, q, f); err != nil {
			return nil, err
		}
	} else if group != "" && group != "tree" {
		return nil,
			fmt.Errorf("--group %q: want tree or optimal; --expand and --collapse open and close single groups", group)
	}
	if err := plan.arrangeGroups(ctx, q, f); err != nil {
		return nil, err
	}
	if err := plan.choose(ctx, f); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *forest) error{read.fetch, read.fetchGroups, read.fetchLinks,
		read.fetchInstants, read.fetchCounters, read.fetchTotals, read.fetchAll} {
		if err := step(ctx, f); err != nil {
			return nil, err
		}
	}
	if err := fetchCritical(ctx, r, f, q.Runs[0]); err != nil {
		return nil, err
	}
	if r.empty() {
		return nil, view.Empty("choose a longer time or other regions", "no interval in the selection [%s, %s)",
			view.FormatTime(q.Selection.Begin), view.FormatTime(q.Selection.End))
	}
	return r, nil
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

// empty reports whether there is nothing at all to draw.
func (r *result) empty() bool {
	for _, l := range r.leaves {
		if l != nil && l.any() {
			return false
		}
	}
	for _, g := range r.groups {
		if g != nil && g.any() {
			return false
		}
	}
	return len(r.marks) == 0 && len(r.series) == 0
}

func (r *result) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *result) Notes() []string { return r.notes }
