// Package boxprofile shows the distribution of calls as box plots, a box per
// region and location side by side, with the number of calls next to them.
//
// After Brendel. A box is the quantiles 2, 25, 50, 75 and 98 % of the calls that
// begin in the window, at full duration. Past mostLanes locations those that
// behave alike are drawn as one, with the spread of their members' medians, or, where
// all behave alike, those of a machine or of a run of ranks.
package boxprofile

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/callsums"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:  "boxprofile",
	Title: "Box profile",
	Paper: "Brendel: Evaluating Visualisation Methods to Scalably Display Structural and Runtime Differences in " +
		"Parallel Programs",
	Summary: "box plots of call durations, one box per region and location, with the number of calls",
	HowToRead: "Each region has a band with one box per location, in the order of the colours in the first column. " +
		"The box covers the middle half of the calls, and the line in it is the median. The whiskers reach from 2 % " +
		"to 98 % of the calls. A thin box has few calls, and a single call is a line. A hollow colour means that " +
		"the location does not call the region. A hatched box shows calls that began before the window, with their " +
		"time inside it; by exclusive time, with the time in which they are innermost. If durations have several " +
		"modes, such as short and long calls, the outline of their distribution is behind the box. A small triangle " +
		"at an edge means that the box continues beyond the axis. The bars count calls. The region in which " +
		"locations differ most comes first: the measure is the time that would have to move to make all equal. For " +
		"two runs, each band has one box per run over all locations. In the page the wheel zooms the axis, a click " +
		"on a name keeps a region on top, and a click with Ctrl hides it.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("metric", "over", "order=differs", "arrange", "group=auto", "colour=auto", "top",
		"violin", "value-scale=log", "min", "max", "caller", "path", "hide", "keep", "collapse", "by=regions",
		"similarity",
		"k", "rows"),
		"by: one row per region or per category [regions categories]",
		"colour: one colour per location or per group; auto: groups for more than twelve locations [auto location "+
			"groups]",
		"value-scale: scale of the axis [linear log]",
		"collapse: regions that share one row, such as category:MPI",
		"group: merge the locations of a rank, or show each; auto: ranks if they have several locations [auto "+
			"ranks locations]"),
	Report:  view.Report{Place: 8, Height: 380, AllRegions: true},
	Data:    []any{Data{}},
	Compute: compute,
}

const (
	// mostLanes is the number of locations that are drawn one by one unless more are asked for.
	mostLanes = 96
	// mostHues is how many locations have a hue of their own; more have a ramp.
	mostHues = 12
	// mostCompared is the number of locations that are compared each with each: a dozen groups are found in a sample,
	// and those far from all of it are in it too.
	mostCompared = 256
)

type result struct {
	view.Arranged
	request   *view.Request
	metric    string // exclusive, inclusive, calls, or a metric of a profile
	unit      string // of the values: "ns", "bytes" or "count"
	over      string
	tree      *store.Tree
	nodes     []callgraph.Node
	match     *callgraph.Matcher
	holders   []trace.LocationID // that hold calls
	unitOf    []int32            // of each holder: its place in locations
	locations []trace.LocationID // that are compared: holders, or ranks for all of theirs
	names     []string           // of locations
	rows      []callgraph.Row
	sums      *callsums.Table // of rows
	late      *view.LateRows  // in place of rows, where these are so many that they stay in the store
	regions   []region        // in the order asked for
	overlap   int64
	// cuts are the calls that began before the window, by location, and where those are not drawn one by one by group.
	cuts, groupCuts   []callgraph.Cut
	cutAt, groupCutAt map[cutKey]*callgraph.Cut

	groups        *grouping.Groups // nil if there are too few to group
	numbers       []int            // of the groups, where they are those of the arrangement
	blocks        *runfacts.Blocks // in place of groups, where all are one group
	colours       string           // location or groups
	regionColours *view.Colours
	groupRows     []callgraph.Row // by group, where locations are not drawn one by one
	notes         []string
	stretch       string
	low, high     float64 // of the axis as asked for; NaN
	most          float64 // value of any box
	shown         int     // regions asked for; 0: as many as fit
	hasProfile    bool
	pair          bool // locations are two runs
}

// A region is one band of the picture.
type region struct {
	*callsums.Sum
	place  callsums.Place
	groups []int32 // indices into result.groupRows
	spread []span  // of each group: the members' medians
}

type span struct{ low, high float64 }

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if len(q.Runs) > 1 {
		return besides(ctx, q)
	}
	r, options, err := prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := r.sum(); err != nil {
		return nil, err
	}
	if err := r.gather(ctx, options); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.rows) == 0 && r.hasProfile {
		return nil,
			q.Advise("other regions",
				"another metric").Empty("no region has a value of %s other than 0 in the selection", r.metric)
	}
	if len(r.rows)+r.late.Len()+len(r.cuts) == 0 {
		return nil, q.NoCall()
	}
	r.cutNote()
	return r, r.rank(ctx)
}

// prepare decides which locations and calls are read.
func prepare(ctx context.Context, q *view.Request) (*result, callgraph.Options, error) {
	var options callgraph.Options
	r := &result{request: q, notes: view.RowNotes(q.Store()),
		metric: q.Values.Text("metric"), over: q.Values.Text("over"),
		stretch: q.Values.Text("value-scale"), shown: q.Values.Integer("top"),
		unit: runfacts.ColumnUnit(view.MainMetric(q.Store()).Unit)}
	s := q.Store()
	r.tree = s.Locations()
	r.hasProfile = !s.Info().Timed()
	roster, notes, err := q.Roster(ctx, "shows")
	if err != nil {
		return nil, options, err
	}
	r.holders, r.unitOf, r.locations, r.names = roster.Holders, roster.UnitOf, roster.Units, roster.Names
	r.notes = append(r.notes, notes...)
	if r.regionColours, err = q.Colours(ctx); err != nil {
		return nil, options, err
	}
	if err := r.check(); err != nil {
		return nil, options, err
	}
	calls, note, err := q.Calls(ctx, r.metric, r.over)
	if note != "" {
		r.notes = append(r.notes, note)
	}
	r.nodes, r.match, options = calls.Nodes, calls.Match, calls.Options
	options.Profile, options.Shapes = true, q.Values.Text("violin") != "none"
	return r, options, err
}

// check decides the meaning of a point of a box.
func (r *result) check() error {
	v := r.request.Values
	r.colours = v.Text("colour")
	switch {
	case r.metric == "calls":
		r.unit = "count"
		fallthrough
	case r.hasProfile:
		if v.Set("over") && r.over == "calls" {
			return fmt.Errorf("--over calls: want calls with times of their own; use --over locations")
		}
		r.over = "locations"
	case r.metric != "exclusive" && r.metric != "inclusive":
		return words.NotOneOf("--metric", r.metric, "exclusive", "inclusive", "calls")
	}
	if r.hasProfile && r.metric != "calls" && r.metric != "exclusive" && r.metric != "inclusive" {
		names := []string{"exclusive", "inclusive", "calls"}
		for _, m := range r.request.Store().Metrics() {
			if m.Name == r.metric {
				r.unit = runfacts.ColumnUnit(m.Unit)
				return nil
			}
			names = append(names, m.Name)
		}
		return words.NotOneOf("--metric", r.metric, names...)
	}
	return nil
}

// gather reads the calls, and where locations are many groups them.
func (r *result) gather(ctx context.Context, o callgraph.Options) error {
	s := r.request.Store()
	if r.hasProfile {
		return r.gatherProfile(ctx, s, o)
	}
	scan := r.request.Digests(ctx, callgraph.DigestName)
	plan := &callgraph.Plan{Options: o, Locations: r.holders, Begin: r.request.Selection.Begin,
		End: r.request.Selection.End}
	if len(r.locations) < len(r.holders) {
		plan.Owner, plan.Owners = r.unitOf, len(r.locations)
	}
	grouped := len(r.locations) > mostHues && r.over != "locations"
	plan.Pairs = grouped && !r.request.Values.Set("arrange")
	var err error
	if grouped && len(r.locations) >= view.ManyOwners && !r.oneByOne() {
		r.late, err = view.GatherLate(ctx, r.request, plan, r.sums, func([]callgraph.Row) {})
	} else {
		r.rows, err = callgraph.Gather(plan, scan)
	}
	r.overlap, r.cuts = plan.Open.Load(), plan.Cut
	if err == nil {
		err = r.arrange(ctx)
	}
	if err != nil || !grouped {
		return err
	}
	if r.groups == nil {
		if !plan.Pairs {
			plan.Cells, err = callgraph.GatherCells(&callgraph.Plan{
				Options:   callgraph.Options{Node: o.Node, Nodes: o.Nodes},
				Locations: plan.Locations, Owner: plan.Owner, Owners: plan.Owners}, scan)
			if err != nil {
				return err
			}
		}
		r.groups = r.grouping(grouping.TableOf(len(r.locations), plan.Cells))
	}
	if len(r.groups.Members) == 1 && !r.request.Values.Set("k") && !r.oneByOne() {
		r.blocks = runfacts.MakeBlocks(r.tree, r.locations, r.names, mostHues)
		r.groups, r.numbers = &grouping.Groups{Of: r.blocks.Of, Members: r.blocks.Members}, nil
	}
	if !r.oneByOne() {
		r.groupRows, err = plan.Merge(r.groups.Of, len(r.groups.Members), scan)
		r.groupRows = slices.Grow(r.groupRows, 1) // not nil if all calls are cut
		r.groupCuts = callgraph.MergeCuts(r.cuts, r.groups.Of)
		r.notes = append(r.notes, r.manyNote())
	}
	return err
}

// oneByOne reports whether each location has a box: while they are few, or where that is
// asked for, as one colour per location does, and the picture is high enough.
func (r *result) oneByOne() bool {
	n, v := len(r.locations), r.request.Values
	asked := v.Set("group") && v.Text("group") != "auto" || r.colours == "location"
	return n <= mostLanes || asked && n*leastLane <= r.request.Size.Height-headRoom-scene.AxisHeight-4
}

// manyNote describes how locations are drawn that are too many for a box each.
func (r *result) manyNote() string {
	n := len(r.locations)
	text := fmt.Sprintf("%s are too many to draw one by one: similar ones are drawn as %s",
		view.Count(n, "location"), view.Count(len(r.groups.Members), "group"))
	if r.blocks != nil {
		text = view.BlocksNote(r.blocks, "a box")
	}
	if r.colours == "location" {
		text = "--colour location needs a box each, and the picture is too low: " + text
	}
	return fmt.Sprintf("%s, with the spread of their members' medians as a pale band; --group ranks draws each where "+
		"the picture is %s pixels high", text, view.Thousands(int64(n*leastLane+headRoom+scene.AxisHeight+4)))
}

// arrange puts locations that behave alike next to each other, or where they are too
// many to draw one by one takes the groups of the arrangement.
func (r *result) arrange(ctx context.Context) (err error) {
	if r.Arranged, err = r.request.Arrange(ctx, grouping.Order); err != nil || r.Arrangement() == nil {
		return err
	}
	r.notes = r.Arrangement().AddNote(r.notes)
	if r.oneByOne() || r.over == "locations" {
		order := r.Arrangement().Reorder(&r.locations, &r.names)
		callgraph.Renumber(r.rows, order)
		r.cuts = callgraph.RenumberCuts(r.cuts, order)
	}
	if len(r.locations) > mostHues && r.over != "locations" {
		g := &grouping.Groups{}
		g.Of, g.Members, r.numbers = r.Arrangement().Partition(r.locations)
		r.groups = g
	}
	return nil
}

// groupName names a group, or the block in its place.
func (r *result) groupName(k int) string {
	if r.blocks != nil {
		return r.blocks.Names[k]
	}
	return fmt.Sprintf("group %d", r.number(k)+1)
}

// byGroup reports whether colours are those of groups, where each location has a box.
func (r *result) byGroup() bool {
	return r.groups != nil && (r.colours == "groups" || r.colours == "auto" && len(r.groups.Members) > 1)
}

// number returns the number of a group, from 0, as other views have it.
func (r *result) number(group int) int {
	if r.numbers != nil {
		return r.numbers[group]
	}
	return group
}

func (r *result) grouping(table *grouping.Table) *grouping.Groups {
	v := r.request.Values
	by := grouping.LikenessOf(v.Text("similarity"))
	return grouping.Group(table, grouping.Options{By: by, K: min(v.Integer("k"), mostHues), Sample: mostCompared,
		Seed: 1, Partition: true})
}

func (r *result) gatherProfile(ctx context.Context, s store.Reader, o callgraph.Options) (err error) {
	p := &callgraph.ProfileReader{Options: o, Metric: runfacts.DefaultMetric(s.Metrics())}
	for i, m := range s.Metrics() {
		if m.Name == r.metric {
			p.Metric, p.Join = trace.MetricID(i), m.Join
		}
	}
	for _, path := range s.CallPaths() {
		p.Flat = p.Flat || path.Flat
	}
	p.Flat = p.Flat && o.Callers == nil && o.Path == nil
	r.rows, err = p.Read(ctx, s, r.request.Selection.Locations, r.holders, r.unitOf)
	return err
}

// overAll reports whether there is one box per region, over all locations.
func (r *result) overAll() bool { return r.over == "locations" && !r.pair }

// value is the total of a row.
func (r *result) value(x *callgraph.Row) float64 {
	if r.pair && r.over == "locations" {
		return x.Mean * x.Count
	}
	switch r.metric {
	case "calls":
		return x.Count
	case "inclusive":
		if r.over == "locations" {
			return x.Outermost // a recursion counts once, as in every total of a location
		}
		return x.Inclusive
	}
	return x.Exclusive
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
