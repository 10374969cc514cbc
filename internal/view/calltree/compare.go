package calltree

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Sides are how the two sides of a comparison are weighed and named; without one, there is no other.
type sides struct {
	calls   bool      // weights are calls
	name    string    // of the selected locations, where it is not "here"
	against *opposite // nil: compared with nothing
}

// An opposite is the other side of a comparison: other locations of the run, or another
// run.
type opposite struct {
	name string // for people
	// here and there make the times of both sides comparable: locations of one run
	// are compared by their mean, runs as they are.
	here, there float64
	each        string // unit of the mean: location, or rank if those are taken together
	another     bool   // run
}

// A group of locations has a name where it is not the selection.
type group struct {
	locations []trace.LocationID // nil: all
	name      string
}

// chosen returns the locations whose calls are shown: those selected, or the first of
// two groups in --against.
func chosen(ctx context.Context, q *view.Request) (group, error) {
	if first, _, two := twoGroups(q.Values.Text("against")); two {
		return members(ctx, q, first)
	}
	// A selection that --only takes nothing of is shown as it is.
	if only, err := q.Only(); err != nil || len(only) > 0 {
		return group{locations: only}, err
	}
	return group{locations: q.Selection.Locations}, nil
}

// twoGroups reads group:N/group:M.
func twoGroups(against string) (first, second string, ok bool) {
	a, b, both := strings.Cut(against, "/")
	first, isFirst := strings.CutPrefix(a, "group:")
	second, isSecond := strings.CutPrefix(b, "group:")
	return first, second, both && isFirst && isSecond
}

// countUnits counts the units by which locations are compared: ranks if those have several
// locations each.
func countUnits(ctx context.Context, s store.Reader, locations []trace.LocationID) (n int, each string, err error) {
	tree := s.Locations()
	holders, err := runfacts.ChosenHolders(ctx, s, nil)
	if err != nil {
		return 0, "", err
	}
	units, of, err := runfacts.Units(tree, holders, "auto")
	if err != nil || len(units) == len(holders) {
		chosen, err := runfacts.ChosenHolders(ctx, s, locations)
		return len(chosen), "location", err
	}
	chosen := tree.Expand(locations)
	met := map[int32]bool{}
	for i, id := range holders {
		if _, in := slices.BinarySearch(chosen, id); in || locations == nil {
			met[of[i]] = true
		}
	}
	return len(met), "rank", nil
}

// compareWith adds to a tree the times of the other side that --against and --run ask for, if they do.
func compareWith(ctx context.Context, q *view.Request, t *pathtree.Tree, metric runfacts.MetricChoice,
	here group) (s sides, notes []string, err error) {
	s = sides{calls: metric.Number == runfacts.NumberCalls, name: here.name}
	var other *pathtree.Tree
	var note string
	switch {
	case q.Values.Text("against") != "":
		other, s.against, note, err = otherLocations(ctx, q, metric, here)
	case len(q.Runs) > 1:
		other, s.against, note, err = otherRun(ctx, q)
	default:
		return s, nil, nil
	}
	if err == nil && bottomUp(q) {
		other, err = other.BottomUp(ctx)
	}
	if err != nil {
		return s, nil, err
	}
	return s, []string{note}, t.Compare(ctx, other, s.against.another)
}

func otherLocations(ctx context.Context, q *view.Request, metric runfacts.MetricChoice,
	here group) (*pathtree.Tree, *opposite, string, error) {
	against := q.Values.Text("against")
	there, err := others(ctx, q, against)
	if err != nil {
		return nil, nil, "", err
	}
	w := q.Window()
	w.Locations = there.locations
	t, err := pathtree.Build(ctx, q.Store(), w, metric, callgraph.Totals)
	if err != nil {
		return nil, nil, "", err
	}
	if t.Locations == 0 {
		return nil, nil, "", view.Empty("name others", "--against %s: no location with calls", against)
	}
	// Those without calls in this time have no time, and count.
	ours, each, err := countUnits(ctx, q.Store(), here.locations)
	if err != nil {
		return nil, nil, "", err
	}
	theirs, _, err := countUnits(ctx, q.Store(), there.locations)
	if err != nil {
		return nil, nil, "", err
	}
	o := &opposite{name: there.name, here: 1 / float64(max(ours, 1)), there: 1 / float64(max(theirs, 1)), each: each}
	if metric.Join != trace.JoinSum { // a maximum of many is that of one of them
		o.here, o.there = 1, 1
	}
	where := "here"
	if here.name != "" {
		where = "of " + here.name
	}
	return t, o, fmt.Sprintf("compared are the means of a %s: of %s %s, of %s of %s", each, view.Count(ours, each),
		where, view.Count(theirs, each), there.name), nil
}

// others reads --against: patterns of locations, group:N of the view groups, two such
// with a slash between them, or rest.
func others(ctx context.Context, q *view.Request, against string) (group, error) {
	if _, n, ok := twoGroups(against); ok {
		return members(ctx, q, n)
	}
	if n, ok := strings.CutPrefix(against, "group:"); ok {
		return members(ctx, q, n)
	}
	ids, name, err := q.Against(ctx, against)
	return group{ids, name}, err
}

// members of a group as the view groups numbers them by default.
func members(ctx context.Context, q *view.Request, text string) (group, error) {
	s := q.Store()
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 {
		return group{}, fmt.Errorf("--against group:%s: want the number of a group, from 1", text)
	}
	if !s.Info().Timed() {
		return group{}, fmt.Errorf("--against group:%s: groups need intervals; name locations", text)
	}
	holders, err := runfacts.ChosenHolders(ctx, s, nil)
	if err != nil {
		return group{}, err
	}
	units, of, err := runfacts.Units(s.Locations(), holders, "auto")
	if err != nil {
		return group{}, err
	}
	_, node := callgraph.Nodes(s.Regions(), false)
	plan := &callgraph.Plan{Options: callgraph.Options{Node: node, Nodes: len(s.Regions())}, Locations: holders,
		Owner: of, Owners: len(units)}
	table, err := grouping.Scan(plan, q.Digests(ctx, callgraph.DigestName))
	if err != nil {
		return group{}, err
	}
	g := grouping.Group(table, grouping.Options{Seed: 1, Partition: true})
	if k > len(g.Members) {
		return group{}, fmt.Errorf("--against group:%d: there are %s", k, view.Count(len(g.Members), "group"))
	}
	var ids []trace.LocationID
	for i, u := range of {
		if int(g.Of[u]) == k-1 {
			ids = append(ids, holders[i])
		}
	}
	return group{ids, "group " + text}, nil
}

// otherRun builds the tree of the second run: its whole, or the same time of it,
// moved by --shift.
func otherRun(ctx context.Context, q *view.Request) (*pathtree.Tree, *opposite, string, error) {
	run, sel := q.Runs[1], q.Selection
	metric, err := runfacts.ChooseMetric(run.Store, q.Values.Text("metric"))
	if err != nil {
		return nil, nil, "", err
	}
	end := run.Store.Info().End
	w := store.Window{Begin: 0, End: end}
	shift, what := trace.Time(0), "the whole of run "+run.Name
	if text := q.Values.Text("shift"); text != "" {
		if shift, err = view.ParseTime(text, end); err != nil {
			return nil, nil, "", fmt.Errorf("--shift: %w", err)
		}
	}
	if sel.Begin > 0 || sel.End < q.Store().Info().End {
		w.Begin, w.End = max(sel.Begin-shift, 0), min(sel.End-shift, end)
		what = fmt.Sprintf("the same time of run %s", run.Name)
		if shift != 0 {
			what += ", moved by " + view.FormatTime(shift)
		}
		if w.Begin >= w.End {
			return nil, nil, "", view.Empty("choose another --shift or time", "run %s has nothing at this time",
				run.Name)
		}
	}
	t, err := pathtree.Build(ctx, run.Store, w, metric, callgraph.Totals)
	if err == nil {
		t, err = t.Matchable(ctx)
	}
	return t, &opposite{name: run.Name, here: 1, there: 1, another: true},
		fmt.Sprintf("delta is %s less this one", what), err
}

// A side is which of two compared trees is drawn.
type side uint8

const (
	bothSides side = iota
	hereSide
	thereSide
)

// values returns what a node weighs on both sides, made comparable; without a comparison there is none on the other.
func (s *sides) values(n *pathtree.Node) (here, there float64) {
	here, there = n.Inclusive, n.Other
	if s.calls {
		here, there = n.Calls, n.OtherCalls
	}
	if s.against == nil {
		return here, 0
	}
	return here * s.against.here, there * s.against.there
}

// weight is the value that the width of a box stands for: that of the node and all below it.
func (s *sides) weight(n *pathtree.Node, on side) float64 {
	here, there := s.values(n)
	switch {
	case s.against == nil || on == hereSide:
	case on == thereSide:
		here = there
	default: // the mean of both, so that paths missing on one side are seen too
		here = (here + there) / 2
	}
	return max(here, 0)
}

// delta is the other side less this one, by mean location where those are compared; nil without a comparison.
func (s *sides) delta(n *pathtree.Node) *float64 {
	if s.against == nil {
		return nil
	}
	d := n.Other*s.against.there - n.Inclusive*s.against.here
	return &d
}

// tilt returns the side that has more: from -1, all of it there, to 1, all of it here.
func (s *sides) tilt(n *pathtree.Node) float64 {
	here, there := s.values(n)
	if here+there <= 0 {
		return 0
	}
	return (here - there) / (here + there)
}
