// Package alignment lays the call stacks of several locations, or of two runs, over each
// other: the same call has the same place in all rows, whenever it happened, so that a
// call that only some of them make leaves a gap in the others.
//
// After Weber, Brendel and Brunst; the kernel is analysis/stackalign.
package alignment

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/stackalign"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:  "alignment",
	Title: "Aligned stacks",
	Paper: "Brendel: Evaluating Visualisation Methods to Scalably Display Structural and Runtime Differences in " +
		"Parallel Programs; Weber, Brendel, Brunst: Trace File Comparison with a Hierarchical Sequence Alignment " +
		"Algorithm",
	Summary: "call stacks of locations or runs over time, with matching calls aligned",
	HowToRead: "Each band is one location with its call stack, the outermost call on top. Parallax matches calls " +
		"from the outside in. A matched call has the same position in all bands. Its width is its longest duration " +
		"on any location, so the axis adds up the longest durations and is not a clock. A hatched area means that " +
		"this location does not make the call. With --colour difference, red calls take longer than on the first " +
		"location and blue ones are shorter.",
	Needs: view.Needs{Intervals: true, Rows: true},
	Runs:  2,
	Options: view.Words(view.Use("colour=region", "depth", "top", "arrange", "rows"),
		"colour: meaning of colours: the region, or how much longer a call is than on the first location [region "+
			"difference]",
		"depth: number of stack levels that are aligned; 0: all",
		"top: largest number of locations; 0: 16"),
	Data:    []any{Data{}},
	Compute: view.InTime(compute),
}

const (
	// mostRows is the number of locations that are aligned, mostCalls of how many calls in all.
	mostRows  = 16
	mostCalls = 400_000
)

type result struct {
	view.Arranged
	request   *view.Request
	rows      []row   // as they are aligned, the others are compared with the first
	order     []int32 // in which they are drawn
	place     []int32 // of each row in it
	nodes     []node
	list      []*stackalign.Sequence
	aligned   *stackalign.Alignment
	width     trace.Time
	levels    int // of calls
	different bool
	notes     []string
	colours   *view.Colours
	inOrder   []*stackalign.Slot // all slots, once a fact is asked for
}

// A row is one sequence: a location of a run.
type row struct {
	run      int
	location trace.LocationID
	name     string
}

// A node is all regions of one name.
type node struct {
	name   string
	role   trace.Role
	region trace.RegionID // of the first run, or NoID
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, notes: view.RowNotes(q.Store()), different: q.Values.Text("colour") == "difference"}
	if q.Values.Integer("depth") < 0 || q.Values.Integer("top") < 0 {
		return nil, fmt.Errorf("--depth and --top: want 0, or how many")
	}
	var err error
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	if err := r.choose(ctx); err != nil {
		return nil, err
	}
	if err := r.arrange(ctx); err != nil {
		return nil, err
	}
	numbers := map[string]int32{}
	for run := range q.Runs {
		if err := r.read(ctx, run, numbers); err != nil {
			return nil, err
		}
	}
	calls := 0
	for _, s := range r.list {
		calls += s.Len()
	}
	if calls == 0 {
		return nil,
			view.NoIntervals(q.Store(), "choose a longer time, other regions or other locations",
				"no call is in the selection")
	}
	r.aligned = stackalign.Align(r.list)
	r.measure(r.aligned.Slots, 1)
	for _, x := range r.aligned.Slots {
		r.width += x.Width
	}
	if r.width == 0 {
		return nil, view.Empty("choose a longer time", "all calls of the selection are empty")
	}
	if r.aligned.Inexact > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of calls differ in very much: these are aligned piece by piece, perhaps not as well as "+
				"possible", view.Count(r.aligned.Inexact, "list")))
	}
	return r, ctx.Err()
}

// choose lists the rows: locations of the first run, and those at the same place of the
// second.
func (r *result) choose(ctx context.Context) error {
	q := r.request
	most := mostRows / len(q.Runs)
	if top := q.Values.Integer("top"); top > 0 {
		most = min(most, top)
	}
	for run := range q.Runs {
		s := q.Runs[run].Store
		selected := q.Selection.Locations
		if run > 0 {
			selected = nil
		}
		ids, err := runfacts.ChosenHolders(ctx, s, selected)
		if err != nil {
			return err
		}
		if run > 0 {
			ids = r.counterparts(s, ids)
		}
		if len(ids) == 0 {
			return view.Empty("choose other locations", "no location with calls in the selection")
		}
		if len(ids) > most {
			r.notes = append(r.notes,
				fmt.Sprintf("of %s the first %d are aligned; --locations chooses others",
					view.Count(len(ids), "location"), most))
			ids = ids[:most]
		}
		for i, name := range runfacts.ShortNames(s.Locations(), ids) {
			if len(q.Runs) > 1 {
				name += " · " + q.Runs[run].Name
			}
			r.rows = append(r.rows, row{run, ids[i], name})
		}
	}
	return nil
}

// arrange decides the order in which rows are drawn. They are aligned as in the tree
// whatever it is, so that the numbers are the same.
func (r *result) arrange(ctx context.Context) (err error) {
	ids := make([]trace.LocationID, len(r.rows))
	for i, x := range r.rows {
		ids[i] = x.location
	}
	if len(r.request.Runs) == 1 {
		if r.Arranged, err = r.request.Arrange(ctx, grouping.Order); err != nil {
			return err
		}
		r.notes = r.Arrangement().AddNote(r.notes)
	}
	r.order = r.Arrangement().Places(ids)
	r.place = make([]int32, len(r.order))
	for k, i := range r.order {
		r.place[i] = int32(k)
	}
	return nil
}

// counterparts returns the locations of another run with the ranks of those chosen, or
// the ones at the same place if there are no ranks.
func (r *result) counterparts(s store.Reader, ids []trace.LocationID) (out []trace.LocationID) {
	first, tree := r.request.Store().Locations(), s.Locations()
	for k, x := range r.rows {
		if rank := first.Rank[x.location]; rank != trace.NoRank {
			if i := slices.IndexFunc(ids, func(id trace.LocationID) bool {
				return tree.Rank[id] == rank && tree.Kind[id] == first.Kind[x.location]
			}); i >= 0 {
				out = append(out, ids[i])
				continue
			}
		}
		if k < len(ids) {
			out = append(out, ids[k])
		}
	}
	return slices.Compact(out)
}

// read takes the calls of the rows of one run, clipped to the window: the same time of
// both runs, or the whole of both.
func (r *result) read(ctx context.Context, run int, numbers map[string]int32) error {
	s := r.request.Runs[run].Store
	w := store.Window{Begin: r.request.Selection.Begin, End: min(r.request.Selection.End, s.Info().End)}
	if first := r.request.Store().Info().End; run > 0 && w.Begin == 0 && r.request.Selection.End == first {
		w.End = s.Info().End
	}
	for _, x := range r.rows {
		if x.run == run {
			w.Locations = append(w.Locations, x.location)
		}
	}
	rows := slices.Clone(w.Locations)
	slices.Sort(w.Locations)
	n, err := s.Count(w)
	if err != nil {
		return err
	}
	if n > mostCalls {
		return view.Empty("choose a shorter time or fewer locations", "%s calls are too many to align, at most %s are",
			view.Thousands(n), view.Thousands(mostCalls))
	}
	list, err := stackalign.Read(ctx, s, w, rows, r.keep(run, numbers), r.request.Values.Integer("depth"))
	r.list = append(r.list, list...)
	return err
}

// keep numbers the regions of a run by name; -1 for those that are not chosen.
func (r *result) keep(run int, numbers map[string]int32) []int32 {
	regions := r.request.Runs[run].Store.Regions()
	chosen := map[string]bool{}
	for _, id := range r.request.Selection.Regions {
		chosen[r.request.Store().Regions()[id].Name] = true
	}
	out := make([]int32, len(regions))
	for id := range regions {
		g := &regions[id]
		if out[id] = -1; r.request.Selection.Regions != nil && !chosen[g.Name] {
			continue
		}
		k, ok := numbers[g.Name]
		if !ok {
			k = int32(len(r.nodes))
			numbers[g.Name] = k
			x := node{name: g.Name, role: g.Role, region: trace.NoRegion}
			if run == 0 {
				x.region = trace.RegionID(id)
			}
			r.nodes = append(r.nodes, x)
		}
		out[id] = k
	}
	return out
}

// measure finds how deep the slots are.
func (r *result) measure(slots []*stackalign.Slot, level int) {
	if len(slots) > 0 {
		r.levels = max(r.levels, level)
	}
	for _, x := range slots {
		r.measure(x.Inner, level+1)
	}
}

func (r *result) Notes() []string { return append([]string{}, r.notes...) }
