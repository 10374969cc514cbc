// Package callmatrix shows callers and callees and how long the calls take: columns are
// callers, rows are callees, each cell a square whose colours are the box plot of its
// calls, cut into one slice per location.
//
// After Brendel; the square is that of package callgraph. If locations are too many for
// slices, similar ones share one.
package callmatrix

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/callsums"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
)

// View is the view.
var View = &view.View{
	Name:  "callmatrix",
	Title: "Call matrix",
	Paper: "Brendel: Evaluating Visualisation Methods to Scalably Display Structural and Runtime Differences in " +
		"Parallel Programs",
	Summary: "callers × callees, with call durations as coloured box plots and one slice per location or group",
	HowToRead: "Each column is a caller and each row a callee; the column without a name is the root. A square is a " +
		"box plot in colours: the quantiles 2, 25, 50, 75 and 98 % of the calls from the centre outwards, with the " +
		"largest area for the median. It has one slice per location, clockwise from the top-left corner. An empty " +
		"slice means that this location never makes the call. A hatched slice means that its calls began before the " +
		"window. Its colour is their time inside the window; by exclusive time, the time in which they are " +
		"innermost. Colours span the values on display, so choose fewer regions, or the linear or rank scale, to " +
		"see finer differences. Click a caller to see only its callees, or a callee to see only its callers; Ctrl " +
		"and a click hides it. For two runs, or with --against, a square shows the second minus the first: red " +
		"takes longer, blue is shorter, hatched is called on one side only.",
	Needs: view.Needs{Intervals: true, Profile: true},
	Runs:  2,
	Options: view.Words(view.Use("metric", "over", "closure", "square", "value-scale=log", "span", "caller", "path",
		"hide", "keep", "collapse", "top", "order=differs", "by=regions", "arrange", "group=auto", "similarity", "k",
		"threshold",
		"min", "max", "palette", "paper", "against", "rows"),
		"collapse: regions that share one row and column, such as category:MPI",
		"against: draw the difference to these locations: patterns joined by commas, or rest; two runs need no "+
			"option",
		"by: one row per region or per category [regions categories]",
		"group: merge the locations of a rank, or show each; auto: ranks if they have several locations [auto "+
			"ranks locations]"),
	Report:  view.Report{AllRegions: true},
	Data:    []any{Data{}, DifferenceData{}},
	Compute: compute,
}

const (
	// mostSlices is how many locations have a slice of their own.
	mostSlices = 64
	// mostBlocks is how many slices locations have that are all one group.
	mostBlocks = 16
	// mostGroups is how many slices groups have: in thinner ones no rings can be distinguished.
	mostGroups = 12
)

type result struct {
	view.Arranged
	request   *view.Request
	metric    string
	unit      string
	over      string
	tree      *store.Tree
	nodes     []callgraph.Node
	match     *callgraph.Matcher
	holders   []trace.LocationID
	unitOf    []int32
	locations []trace.LocationID
	names     []string
	rows      []callgraph.Row
	static    []callgraph.Pair // reachable, but never called directly
	overlap   int64
	// cuts are the calls that began before the window, by location, and where those have no slices by group.
	cuts, groupCuts []callgraph.Cut

	table     *grouping.Table
	groups    *grouping.Groups
	groupRows []callgraph.Row // by group, where locations have no slices of their own

	callees, callers []ranked        // in the order of interest
	sums             *callsums.Table // of rows
	late             *view.LateRows  // in place of rows, where these are so many that they stay in the store
	most             float64         // of the highest quantiles of rows
	pairs            map[callgraph.Pair]*pair
	low, high        float64          // of the colours as asked for; NaN
	sliceMembers     [][]int32        // of each slice, where slices are groups
	sliceGroups      []int            // which groups those are; nil: all
	byKind           bool             // slices are of several kinds of locations, kind by kind
	otherGroups      int              // how many groups share the last slice; 0: each has its own
	blocks           *runfacts.Blocks // in place of groups, where all are one group
	compared         bool             // the pairs are of two sides, see difference
	notes            []string
}

// A ranked node with the values that it is ranked by.
type ranked struct {
	node  int32
	place callsums.Place
	pairs int
}

// A pair is one square: its rows by slice.
type pair struct {
	*callsums.Sum
	rows []int32 // into slices(), by owner
	cuts []int32 // into sliceCuts(), by owner
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	if len(q.Runs) > 1 || q.Values.Text("against") != "" {
		return compare(ctx, q)
	}
	r, notes, err := prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	r.notes = append(r.notes, notes...)
	options, note, err := r.options(ctx)
	if err != nil {
		return nil, err
	}
	if note != "" {
		r.notes = append(r.notes, note)
	}
	if !q.Store().Info().Timed() {
		err = r.gatherProfile(ctx, q.Store(), options)
	} else {
		err = r.gather(ctx, options)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if len(r.rows)+r.late.Len()+len(r.cuts) == 0 {
		return nil, q.NoCall()
	}
	r.cutNote("hatched slices show")
	return r, r.rank(ctx)
}

// prepare finds whose calls are asked for.
func prepare(ctx context.Context, q *view.Request) (r *result, notes []string, err error) {
	s := q.Store()
	r = &result{request: q, notes: view.RowNotes(s), metric: q.Values.Text("metric"), over: q.Values.Text("over"),
		unit: runfacts.ColumnUnit(view.MainMetric(s).Unit), tree: s.Locations()}
	roster, notes, err := q.Roster(ctx, "shows")
	if err != nil {
		return nil, nil, err
	}
	r.holders, r.unitOf, r.locations, r.names = roster.Holders, roster.UnitOf, roster.Units, roster.Names
	return r, notes, r.check(!s.Info().Timed())
}

func (r *result) check(profile bool) error {
	switch r.metric {
	case "exclusive", "inclusive":
	case "calls":
		r.unit = "count"
	default:
		return words.NotOneOf("--metric", r.metric, "exclusive", "inclusive", "calls")
	}
	if profile {
		if r.request.Values.Set("over") && r.over == "calls" {
			return fmt.Errorf("--over calls: the source is a profile without single calls; use --over locations")
		}
		r.over = "locations"
	}
	return nil
}

func (r *result) options(ctx context.Context) (o callgraph.Options, note string, err error) {
	calls, note, err := r.request.Calls(ctx, r.metric, r.over)
	r.nodes, r.match = calls.Nodes, calls.Match
	calls.Options.Closure = r.request.Values.Text("closure") == "dynamic"
	return calls.Options, note, err
}

// gather reads the calls, groups the locations, and where they are too many
// for slices reads the calls of the groups.
func (r *result) gather(ctx context.Context, o callgraph.Options) error {
	scan := r.request.Digests(ctx, callgraph.DigestName)
	plan := &callgraph.Plan{Options: o, Locations: r.holders, Begin: r.request.Selection.Begin,
		End: r.request.Selection.End}
	if len(r.locations) < len(r.holders) {
		plan.Owner, plan.Owners = r.unitOf, len(r.locations)
	}
	var err error
	var cells []callgraph.Cell
	if len(r.locations) >= view.ManyOwners && r.over == "calls" {
		if err = r.sum(); err != nil {
			return err
		}
		r.late, err = view.GatherLate(ctx, r.request, plan, r.sums, func(rows []callgraph.Row) {
			cells = appendCells(cells, rows)
			for i := range rows {
				if v := rows[i].Box[4]; v > r.most {
					r.most = v
				}
			}
		})
	} else if r.rows, err = callgraph.Gather(plan, scan); err == nil {
		cells = appendCells(nil, r.rows)
	}
	r.overlap, r.cuts = plan.Open.Load(), plan.Cut
	if err != nil || len(r.rows)+r.late.Len()+len(r.cuts) == 0 {
		return err
	}
	r.group(cells)
	if err = r.arrange(ctx); err != nil {
		return err
	}
	if len(r.locations) > mostSlices && r.over == "calls" {
		of := r.groups.Of
		r.sliceMembers, r.sliceGroups = r.groups.Members, nil
		if a := r.Arrangement(); a != nil {
			of, r.sliceMembers, r.sliceGroups = a.Partition(r.locations)
		}
		note := fmt.Sprintf("%s are too many for slices: similar ones share one, %s in all",
			view.Count(len(r.locations), "location"), view.Count(len(r.sliceMembers), "group"))
		if len(r.sliceMembers) == 1 && !r.request.Values.Set("k") && !r.request.Values.Set("threshold") {
			r.blocks = runfacts.MakeBlocks(r.tree, r.locations, r.names, mostBlocks)
			of, r.sliceMembers, r.sliceGroups = r.blocks.Of, r.blocks.Members, nil
			note = view.BlocksNote(r.blocks, "a slice")
		}
		of, note = r.foldGroups(of, note)
		r.groupRows, err = plan.Merge(of, len(r.sliceMembers), scan)
		r.groupRows = slices.Grow(r.groupRows, 1) // not nil if all calls are cut
		r.groupCuts = callgraph.MergeCuts(r.cuts, of)
		r.notes = append(r.notes, note)
	}
	return err
}

// foldGroups lets the groups past mostGroups - 1 share the last slice, unless a number of groups is asked for.
func (r *result) foldGroups(of []int32, note string) ([]int32, string) {
	n, v := len(r.sliceMembers), r.request.Values
	if n <= mostGroups || r.blocks != nil || v.Set("k") || v.Set("threshold") {
		return of, note
	}
	const last = mostGroups - 1
	r.otherGroups = n - last
	of = slices.Clone(of)
	for i := range of {
		of[i] = min(of[i], last)
	}
	others := slices.Concat(r.sliceMembers[last:]...)
	slices.Sort(others)
	r.sliceMembers = append(slices.Clone(r.sliceMembers[:last]), others)
	return of, fmt.Sprintf("%s; %s with %s share the last slice, --k %d gives each its own", note,
		view.Count(r.otherGroups, "other group"), view.Count(len(others), "location"), n)
}

// isOthers reports whether a slice is the one that groups share.
func (r *result) isOthers(slice int) bool { return r.otherGroups > 0 && slice == len(r.sliceMembers)-1 }

// arrange puts the slices of locations that behave alike next to each other; without an order, those of one kind.
func (r *result) arrange(ctx context.Context) (err error) {
	if r.Arranged, err = r.request.Arrange(ctx, grouping.Order); err != nil {
		return err
	}
	if r.Arrangement() != nil {
		r.notes = r.Arrangement().AddNote(r.notes)
	}
	if len(r.locations) > mostSlices && r.over == "calls" {
		return nil // groups are slices
	}
	var order []int32
	switch {
	case r.Arrangement() != nil:
		order = r.Arrangement().Reorder(&r.locations, &r.names)
	case r.mixed():
		order, r.byKind = r.sortKinds(), true
	default:
		return nil
	}
	callgraph.Renumber(r.rows, order)
	r.cuts = callgraph.RenumberCuts(r.cuts, order)
	r.groups.Renumber(order)
	return nil
}

// mixed reports whether locations are of several kinds, as the threads and the GPUs of a job.
func (r *result) mixed() bool {
	return slices.ContainsFunc(r.locations, func(id trace.LocationID) bool {
		return r.tree.Kind[id] != r.tree.Kind[r.locations[0]]
	})
}

// sortKinds brings the locations into order kind by kind, and returns their former places.
func (r *result) sortKinds() []int32 {
	turn := map[trace.Kind]int{}
	order := make([]int32, len(r.locations))
	for i, id := range r.locations {
		if _, seen := turn[r.tree.Kind[id]]; !seen {
			turn[r.tree.Kind[id]] = len(turn)
		}
		order[i] = int32(i)
	}
	ids, names := slices.Clone(r.locations), slices.Clone(r.names)
	slices.SortStableFunc(order, func(a, b int32) int { return turn[r.tree.Kind[ids[a]]] - turn[r.tree.Kind[ids[b]]] })
	for i, old := range order {
		r.locations[i], r.names[i] = ids[old], names[old]
	}
	return order
}

// appendCells appends the times of rows that follow those before, by which locations are compared.
func appendCells(cells []callgraph.Cell, rows []callgraph.Row) []callgraph.Cell {
	n := len(cells)
	cells = slices.Grow(cells, len(rows))[:n+len(rows)]
	_ = parallel.Ranges(context.Background(), len(rows), rowsAtOnce, func(from, to int) {
		for i := from; i < to; i++ {
			cells[n+i] = callgraph.Cell{Owner: rows[i].Owner, Pair: rows[i].Pair, Exclusive: rows[i].Exclusive}
		}
	})
	return cells
}

// rowsAtOnce is the number of rows that one goroutine goes through.
const rowsAtOnce = 1 << 13

// group partitions the locations by the pairs on display, so that a window, a
// caller or a closure group them too.
func (r *result) group(cells []callgraph.Cell) {
	v := r.request.Values
	by := grouping.LikenessOf(v.Text("similarity"))
	r.table = grouping.TableOf(len(r.locations), cells)
	r.groups = grouping.Group(r.table,
		grouping.Options{By: by, K: v.Integer("k"), Threshold: v.Number("threshold"), Seed: 1,
			Kinds: runfacts.Kinds(r.tree, r.locations), Partition: len(r.locations) > mostCompared})
}

func (r *result) gatherProfile(ctx context.Context, s store.Reader, o callgraph.Options) (err error) {
	if r.rows, err = r.readProfile(ctx, s, o); err == nil && len(r.rows) > 0 {
		r.group(appendCells(nil, r.rows))
		err = r.arrange(ctx)
	}
	return err
}

func (r *result) readProfile(ctx context.Context, s store.Reader, o callgraph.Options) ([]callgraph.Row, error) {
	p := &callgraph.ProfileReader{Options: o, Metric: runfacts.DefaultMetric(s.Metrics())}
	var err error
	if p.Flat, err = runfacts.FlatProfile(ctx, s, p.Metric); err != nil {
		return nil, err
	}
	return p.Read(ctx, s, r.request.Selection.Locations, r.holders, r.unitOf)
}

// value is the total of a row.
func (r *result) value(x *callgraph.Row) float64 {
	switch r.metric {
	case "calls":
		return x.Count
	case "inclusive":
		return x.Inclusive
	}
	return x.Exclusive
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
