// Package groups shows which locations behave alike, and the differences of each group
// from all others: in words, with a heat map of similarities.
//
// Brendel proposes to group processes by callers and callees, which is simpler and
// faster than aligning their traces; see package grouping for how.
package groups

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "groups",
	Title: "Groups",
	Paper: "Brendel: Evaluating Visualisation Methods to Scalably Display Structural and Runtime Differences in " +
		"Parallel Programs",
	Summary: "locations with similar behaviour, and the differences between groups",
	HowToRead: "Two locations are similar if they make the same calls (structure) and spend the same time in them. " +
		"Each group lists its members and its differences from the other locations of its kind: calls that only it " +
		"makes, and regions with more or less time than the average of the others. A location with far more or far " +
		"less time than the others of its kind is a group of its own. The map shows the similarity of each pair " +
		"of locations, in the order of the tree on its edge. Groups are squares along the diagonal in the colour of " +
		"high similarity, yellow by default. One group means that there is no clear difference; --k or --threshold " +
		"splits further. Two runs are shown side by side, each with its own groups.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Options: view.Words(view.Use("similarity", "k", "threshold", "closure", "seed", "group=auto", "palette", "rows"),
		"closure: callers of a call: the direct one, or all around it as it ran [direct dynamic]",
		"group: merge the locations of a rank, or show each; auto: ranks if they have several locations [auto "+
			"ranks locations]"),
	Report:  view.Report{AllLocations: true},
	Runs:    2,
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, compute, func(a, b Data) any { return PairData{a, b} }),
}

// mostDiffering is how many differences of a group are listed.
const mostDiffering = 12

type result struct {
	request   *view.Request
	tree      *store.Tree
	nodes     []callgraph.Node
	locations []trace.LocationID
	names     []string
	each      string // compared unit: location, or rank for all of its locations
	table     *grouping.Table
	groups    *grouping.Groups
	differs   [][]grouping.Difference
	partials  []grouping.Partial
	callees   []grouping.Callee // that not all call
	notes     []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, tree: q.Store().Locations(), notes: view.RowNotes(q.Store())}
	s := q.Store()
	roster, notes, err := q.Roster(ctx, "compares")
	if err != nil {
		return nil, err
	}
	r.locations, r.names, r.each = roster.Units, roster.Names, "location"
	if r.notes = append(r.notes, notes...); roster.Joined() {
		r.each = "rank"
	}
	if q.Values.Text("closure") == "static" {
		return nil, fmt.Errorf("--closure static: groups are by calls that happened; want direct or dynamic")
	}
	if err := r.gather(ctx, s, roster.Holders, roster.UnitOf, !s.Info().Timed()); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(r.table.Columns) == 0 {
		return nil, q.Advise("other regions").Empty("%s", nothing(q))
	}
	r.group()
	return r, nil
}

// gather reads callers, callees and durations.
func (r *result) gather(ctx context.Context, s store.Reader, holders []trace.LocationID, of []int32,
	profile bool) error {
	q := r.request
	var node []int32
	r.nodes, node = callgraph.Nodes(s.Regions(), false)
	o := callgraph.Options{Node: node, Nodes: len(r.nodes), Closure: q.Values.Text("closure") == "dynamic"}
	match := &callgraph.Matcher{Nodes: r.nodes, Regions: s.Regions(), Compile: view.RegionPattern}
	if err := match.Choose(&o, q.Selection.Regions, nil, ""); err != nil {
		return err
	}
	if profile {
		return r.gatherProfile(ctx, s, holders, of, o)
	}
	plan := &callgraph.Plan{Options: o, Locations: holders}
	if len(r.locations) < len(holders) {
		plan.Owner, plan.Owners = of, len(r.locations)
	}
	var err error
	r.table, err = grouping.Scan(plan, q.Digests(ctx, callgraph.DigestName))
	return err
}

func (r *result) gatherProfile(ctx context.Context, s store.Reader, holders []trace.LocationID, of []int32,
	o callgraph.Options) error {
	p := &callgraph.ProfileReader{Options: o, Metric: runfacts.DefaultMetric(s.Metrics())}
	var err error
	if p.Flat, err = runfacts.FlatProfile(ctx, s, p.Metric); err != nil {
		return err
	}
	rows, err := p.Read(ctx, s, r.request.Selection.Locations, holders, of)
	r.table = grouping.NewTable(len(r.locations), rows, grouping.Exclusive)
	return err
}

// group partitions, and finds the differences of each group.
func (r *result) group() {
	v := r.request.Values
	by := grouping.LikenessOf(v.Text("similarity"))
	r.groups = grouping.Group(r.table,
		grouping.Options{By: by, K: v.Integer("k"), Threshold: v.Number("threshold"), Seed: uint64(v.Integer("seed")),
			Kinds: runfacts.Kinds(r.tree, r.locations)})
	if n := len(r.groups.Sampled); n < r.table.Len {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s are compared each with each, the others with the most typical of each group",
				view.Thousands(int64(n)), view.Count(r.table.Len, r.each)))
	}
	if r.table.Dropped > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s with the least time are left out of the comparison", view.Count(r.table.Dropped, "pair")))
	}
	for k := range r.groups.Members {
		r.differs = append(r.differs, grouping.Differ(r.table, r.groups, k, mostDiffering))
	}
	r.partials = grouping.Partials(r.table)
	r.callees = grouping.PartialCallees(r.table)
}

// signature returns the calls that all of a group make and not all locations do, and
// those that none of it makes though others do.
func (r *result) signature(group int) (calls, lacks []string) {
	calls, lacks = []string{}, []string{}
	for _, c := range r.callees {
		n := 0
		for _, m := range c.Members {
			if int(r.groups.Of[m]) == group {
				n++
			}
		}
		switch n {
		case len(r.groups.Members[group]):
			calls = append(calls, r.nodes[c.Node].Name)
		case 0:
			lacks = append(lacks, r.nodes[c.Node].Name)
		}
	}
	return calls, lacks
}

// signatureWords says it in a line; nothing where there is nothing to say.
func (r *result) signatureWords(group int) string {
	calls, lacks := r.signature(group)
	switch {
	case len(calls)+len(lacks) > 8: // no line can hold them
	case len(calls) > 0 && len(lacks) > 0:
		return "calls " + few(calls) + ", which not all do; never " + few(lacks)
	case len(calls) > 0:
		return "calls " + few(calls) + ", which not all do"
	case len(lacks) > 0:
		return "never calls " + few(lacks)
	}
	return ""
}

// signatureShort says the same in signs.
func (r *result) signatureShort(group int) string {
	calls, lacks := r.signature(group)
	var out []string
	for _, name := range calls {
		out = append(out, "+"+name)
	}
	for _, name := range lacks {
		out = append(out, "−"+name)
	}
	return strings.Join(out, " ")
}

// few lists some names.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
}

// words says a difference as a person would.
func (r *result) words(group int, d *grouping.Difference) string {
	what, how := r.wordsOf(group, d)
	return what + ": " + how
}

// wordsOf names a difference, and describes it.
func (r *result) wordsOf(group int, d *grouping.Difference) (what, how string) {
	inside := len(r.groups.Members[group])
	p := r.table.Columns[d.Column]
	what = r.nodes[p.Callee].Name
	if p.Caller != callgraph.Root {
		what += " from " + r.nodes[p.Caller].Name
	}
	if d.Calls {
		return what,
			fmt.Sprintf("called on %s here, on %s", r.share(d.CalledInside, inside), others(d.CalledOutside, d.Others))
	}
	m := view.MainMetric(r.request.Store())
	return what,
		fmt.Sprintf("%s (%s a %s against %s)", times(d.Inside, d.Outside, m.Name), m.Format(d.Inside), r.each,
			m.Format(d.Outside))
}

func (r *result) share(n, of int) string {
	switch {
	case n == of && of == 1:
		return "the one " + r.each
	case n == of:
		return fmt.Sprintf("all %s", view.Thousands(int64(of)))
	case n == 0:
		return "none"
	}
	return fmt.Sprintf("%s of %s", view.Thousands(int64(n)), view.Thousands(int64(of)))
}

func others(n, of int) string {
	switch {
	case n == 0:
		return "none of the others"
	case n == of && of == 1:
		return "the other one"
	case n == of:
		return "all others"
	}
	return fmt.Sprintf("%s of the %s others", view.Thousands(int64(n)), view.Thousands(int64(of)))
}

// times says a ratio: "3.2 × the time of the others".
func times(a, b float64, what string) string {
	switch {
	case b == 0:
		return "time here, none elsewhere"
	case a == 0:
		return "no time here"
	case a >= b*1.95 || a <= b/1.95:
		if a > b {
			return view.FormatCount(a/b) + " × the " + what + " of the others"
		}
		return fmt.Sprintf("%.2g × the %s of the others", a/b, what)
	case a > b:
		return fmt.Sprintf("%.0f %% more %s than the others", math.Max((a/b-1)*100, 1), what)
	}
	return fmt.Sprintf("%.0f %% less %s than the others", math.Max((1-a/b)*100, 1), what)
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }

// nothing names the data that the selection lacks: calls, or in a profile call paths
// with time.
func nothing(q *view.Request) string {
	if !q.Store().Info().Timed() {
		return "no region of the profile has a value in the selection"
	}
	return "no call begins in the selection"
}
