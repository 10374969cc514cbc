package calltree

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An opposite is the other side of a comparison: other locations of the run, or another
// run.
type opposite struct {
	tree    *tree
	regions []trace.Region
	name    string // for people
	// here and there make the times of both sides comparable: locations of one run
	// are compared by their mean, runs as they are.
	here, there float64
	each        string // unit of the mean: location, or rank if those are taken together
	another     bool   // run
}

// chosen returns the locations whose calls are shown: those selected, or the first of
// two groups in --against.
func (r *result) chosen(ctx context.Context) ([]trace.LocationID, error) {
	first, _, two := twoGroups(r.request.Values.Text("against"))
	if !two {
		// A selection that --only takes nothing of is shown as it is.
		if only, err := r.request.Only(); err != nil || len(only) > 0 {
			return only, err
		}
		return r.request.Selection.Locations, nil
	}
	r.name = "group " + first
	return r.members(ctx, first)
}

// twoGroups reads group:N/group:M.
func twoGroups(against string) (first, second string, ok bool) {
	a, b, both := strings.Cut(against, "/")
	first, isFirst := strings.CutPrefix(a, "group:")
	second, isSecond := strings.CutPrefix(b, "group:")
	return first, second, both && isFirst && isSecond
}

// units counts the units by which locations are compared: ranks if those have several
// locations each.
func (r *result) units(ctx context.Context, locations []trace.LocationID) (n int, each string, err error) {
	s := r.request.Store()
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

// opposite finds the other side that --against and --run ask for; nil for nothing.
func (r *result) opposite(ctx context.Context, here *tree, metric runfacts.MetricChoice) (*opposite, error) {
	against := r.request.Values.Text("against")
	switch {
	case against != "" && len(r.request.Runs) > 1:
		return nil,
			fmt.Errorf("--against compares locations of one run; leave it out to compare with run %s",
				r.request.Runs[1].Name)
	case against != "":
		return r.otherLocations(ctx, here, metric, against)
	case len(r.request.Runs) > 1:
		return r.otherRun(ctx)
	}
	if r.request.Values.Set("shift") {
		return nil, fmt.Errorf("--shift moves a second run; name one with --run NAME=SOURCE")
	}
	return nil, nil
}

func (r *result) otherLocations(ctx context.Context, here *tree, metric runfacts.MetricChoice,
	against string) (*opposite,
	error) {
	s := r.request.Store()
	w := r.request.Window()
	var err error
	var name string
	if w.Locations, name, err = r.others(ctx, against); err != nil {
		return nil, err
	}
	t, err := build(ctx, s, w, metric, callgraph.Totals)
	if err != nil {
		return nil, err
	}
	if t.locations == 0 {
		return nil, view.Empty("name others", "--against %s: no location with calls", against)
	}
	if r.bottomUp {
		if t, err = t.turned(ctx); err != nil {
			return nil, err
		}
	}
	// Those without calls in this time have no time, and count.
	own, each, err := r.units(ctx, r.here)
	if err != nil {
		return nil, err
	}
	others, _, err := r.units(ctx, w.Locations)
	if err != nil {
		return nil, err
	}
	o := &opposite{tree: t, regions: r.regions, name: name, here: 1 / float64(max(own, 1)),
		there: 1 / float64(max(others, 1)), each: each}
	if metric.Join != trace.JoinSum { // a maximum of many is that of one of them
		o.here, o.there = 1, 1
	}
	where := "here"
	if r.name != "" {
		where = "of " + r.name
	}
	r.notes = append(r.notes,
		fmt.Sprintf("compared are the means of a %s: of %s %s, of %s of %s", each, view.Count(own, each), where,
			view.Count(others, each), name))
	return o, nil
}

// others reads --against: patterns of locations, group:N of the view groups, two such
// with a slash between them, or rest.
func (r *result) others(ctx context.Context, against string) ([]trace.LocationID, string, error) {
	if _, n, ok := twoGroups(against); ok {
		ids, err := r.members(ctx, n)
		return ids, "group " + n, err
	}
	if n, ok := strings.CutPrefix(against, "group:"); ok {
		ids, err := r.members(ctx, n)
		return ids, "group " + n, err
	}
	return r.request.Against(ctx, against)
}

// members of a group as the view groups numbers them by default.
func (r *result) members(ctx context.Context, text string) ([]trace.LocationID, error) {
	s := r.request.Store()
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 {
		return nil, fmt.Errorf("--against group:%s: want the number of a group, from 1", text)
	}
	if !s.Info().Timed() {
		return nil, fmt.Errorf("--against group:%s: groups need intervals; name locations", text)
	}
	holders, err := runfacts.ChosenHolders(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	units, of, err := runfacts.Units(s.Locations(), holders, "auto")
	if err != nil {
		return nil, err
	}
	_, node := callgraph.Nodes(s.Regions(), false)
	plan := &callgraph.Plan{Options: callgraph.Options{Node: node, Nodes: len(s.Regions())}, Locations: holders,
		Owner: of, Owners: len(units)}
	table, err := grouping.Scan(plan, r.request.Digests(ctx, callgraph.DigestName))
	if err != nil {
		return nil, err
	}
	g := grouping.Group(table, grouping.Options{Seed: 1, Partition: true})
	if k > len(g.Members) {
		return nil, fmt.Errorf("--against group:%d: there are %s", k, view.Count(len(g.Members), "group"))
	}
	var ids []trace.LocationID
	for i, u := range of {
		if int(g.Of[u]) == k-1 {
			ids = append(ids, holders[i])
		}
	}
	return ids, nil
}

// otherRun builds the tree of the second run: its whole, or the same time of it,
// moved by --shift.
func (r *result) otherRun(ctx context.Context) (*opposite, error) {
	run := r.request.Runs[1]
	metric, err := runfacts.ChooseMetric(run.Store, r.request.Values.Text("metric"))
	if err != nil {
		return nil, err
	}
	end := run.Store.Info().End
	w := store.Window{Begin: 0, End: end}
	sel := r.request.Selection
	shift, what := trace.Time(0), "the whole of run "+run.Name
	if text := r.request.Values.Text("shift"); text != "" {
		if shift, err = view.ParseTime(text, end); err != nil {
			return nil, fmt.Errorf("--shift: %w", err)
		}
	}
	if sel.Begin > 0 || sel.End < r.request.Store().Info().End {
		w.Begin, w.End = max(sel.Begin-shift, 0), min(sel.End-shift, end)
		what = fmt.Sprintf("the same time of run %s", run.Name)
		if shift != 0 {
			what += ", moved by " + view.FormatTime(shift)
		}
		if w.Begin >= w.End {
			return nil, view.Empty("choose another --shift or time", "run %s has nothing at this time", run.Name)
		}
	}
	t, err := build(ctx, run.Store, w, metric, callgraph.Totals)
	if err != nil {
		return nil, err
	}
	t, regions, err := t.matchable(ctx, run.Store.Regions())
	if err != nil {
		return nil, err
	}
	if r.bottomUp {
		if t, err = t.turned(ctx); err != nil {
			return nil, err
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("delta is %s less this one", what))
	return &opposite{tree: t, regions: regions, name: run.Name, here: 1, there: 1, another: true}, nil
}

// join puts the times of the other side beside those of a tree; paths that only
// the other side has are added. Within a run paths are matched by their regions,
// between runs by the names of those.
func (r *result) join(ctx context.Context, t *tree, o *opposite) error {
	type key struct {
		parent int32
		name   string
	}
	name := func(regions []trace.Region, id trace.RegionID) string {
		if o.another {
			return regions[id].Name
		}
		return strconv.Itoa(int(id))
	}
	index := map[key]int32{}
	for i := range t.nodes {
		if err := stopped(ctx, i); err != nil {
			return err
		}
		k := key{t.nodes[i].parent, name(r.regions, t.nodes[i].region)}
		if _, ok := index[k]; !ok {
			index[k] = int32(i)
		}
	}
	regions := map[string]trace.RegionID{}
	if o.another {
		r.regions = slices.Clone(r.regions)
		for id := range r.regions {
			if _, ok := regions[r.regions[id].Name]; !ok {
				regions[r.regions[id].Name] = trace.RegionID(id)
			}
		}
	}
	place := make([]int32, len(o.tree.nodes))
	others := make([]runfacts.Joined, len(t.nodes))
	for i := range o.tree.nodes {
		if err := stopped(ctx, i); err != nil {
			return err
		}
		n := &o.tree.nodes[i]
		parent := n.parent
		if parent >= 0 {
			parent = place[parent]
		}
		k := key{parent, name(o.regions, n.region)}
		at, ok := index[k]
		if !ok {
			region := n.region
			if o.another {
				if region, ok = regions[k.name]; !ok {
					region = trace.RegionID(len(r.regions))
					r.regions = append(r.regions, o.regions[n.region])
					regions[k.name] = region
				}
			}
			var err error
			if at, err = t.add(ctx, node{parent: parent, region: region}); err != nil {
				return err
			}
			index[k] = at
		}
		place[i] = at
		for int(at) >= len(others) {
			others = append(others, runfacts.Joined{})
		}
		others[at].Add(t.how, n.inclusive)
		t.nodes[at].other = others[at].Value(t.how)
		t.nodes[at].otherCalls += n.calls
	}
	r.against = o
	return nil
}

// delta is the other side less this one, by mean location where those are compared.
func (r *result) delta(n *node) *float64 {
	if r.against == nil {
		return nil
	}
	d := n.other*r.against.there - n.inclusive*r.against.here
	return &d
}

// tilt returns the side that has more: from -1, all of it there, to 1, all of it here.
func (r *result) tilt(n *node) float64 {
	here, there := n.inclusive*r.against.here, n.other*r.against.there
	if r.metric.Number == runfacts.NumberCalls {
		here, there = n.calls*r.against.here, n.otherCalls*r.against.there
	}
	if here+there <= 0 {
		return 0
	}
	return (here - there) / (here + there)
}
