package callmatrix

import (
	"context"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A side holds the calls of one of two runs, or of one of two sets of locations.
type side struct {
	*result
	label string
	units int     // locations, or ranks where those are taken together
	left  string  // calls that its statistics leave out
	scale float64 // of totals: those of sets of locations are a mean, those of runs as they are
}

// A difference is the call matrix of one side less that of another. Its result has the
// regions and pairs of both.
type difference struct {
	*result
	sides [2]*side
	of    map[callgraph.Pair]*[2]*callgraph.Row
	cutOf map[callgraph.Pair]*[2]*callgraph.Cut // calls that began before the window
}

// compare computes both sides by themselves. Their calls are pooled, so that a median is
// that of all calls of a side.
func compare(ctx context.Context, q *view.Request) (view.Result, error) {
	a, b := *q, *q
	a.Runs = q.Runs[:1]
	names := [2]string{"the selection", ""}
	var err error
	if against := q.Values.Text("against"); against == "" {
		names[0], names[1] = q.Runs[0].Name, q.Runs[1].Name
		b = *q.Second()
	} else if len(q.Runs) > 1 {
		err = fmt.Errorf("--against compares locations of one run; leave it out to compare with run %s", q.Runs[1].Name)
	} else {
		b.Selection.Locations, names[1], err = q.Against(ctx, against)
	}
	if err != nil {
		return nil, err
	}
	d := &difference{result: &result{request: q, notes: view.RowNotes(q.Store())},
		of:    map[callgraph.Pair]*[2]*callgraph.Row{},
		cutOf: map[callgraph.Pair]*[2]*callgraph.Cut{}}
	for k, one := range []*view.Request{&a, &b} {
		if d.sides[k], err = newSide(ctx, one, names[k]); err != nil {
			return nil, fmt.Errorf("%s: %w", names[k], err)
		}
		if left := d.sides[k].left; left != "" {
			d.notes = append(d.notes, left)
		}
		if len(q.Runs) == 1 {
			d.sides[k].scale = 1 / float64(d.sides[k].units)
		}
	}
	d.tree, d.metric, d.over, d.unit = d.sides[0].tree, d.sides[0].metric, d.sides[0].over, d.sides[0].unit
	if d.sides[1].over != d.over {
		return nil, fmt.Errorf("one run has single calls and the other does not; use --over locations")
	}
	if len(d.sides[0].rows)+len(d.sides[1].rows)+len(d.sides[0].cuts)+len(d.sides[1].cuts) == 0 {
		return nil, q.NoCall()
	}
	if err = d.join(); err != nil {
		return nil, err
	}
	// Squares have no slices to order; that the page asks for an order is no error.
	if d.Arranged, err = a.Arrange(ctx, grouping.Order); err != nil {
		return nil, err
	}
	d.notes = d.Arrangement().AddNote(d.notes)
	return d, nil
}

// newSide gathers the calls of one side as those of one location.
func newSide(ctx context.Context, q *view.Request, label string) (*side, error) {
	r, _, err := prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	s := &side{result: r, label: label, units: len(r.locations), scale: 1}
	clear(r.unitOf)
	o, note, err := r.options(ctx)
	if err != nil {
		return nil, err
	}
	if note != "" {
		s.left = label + ": " + note
	}
	if !q.Store().Info().Timed() {
		r.rows, err = r.readProfile(ctx, q.Store(), o)
	} else {
		plan := &callgraph.Plan{Options: o, Locations: r.holders, Owner: r.unitOf, Owners: 1,
			Begin: q.Selection.Begin, End: q.Selection.End}
		r.rows, err = callgraph.Gather(plan, q.Digests(ctx, callgraph.DigestName))
		r.overlap, r.cuts = plan.Open.Load(), plan.Cut
	}
	return s, err
}

// join puts the pairs of both sides together, by the names of regions, of several of
// one name by their order, and ranks them.
func (d *difference) join() error {
	type name struct {
		text string
		nth  int
	}
	place := map[name]int32{}
	keep := map[int32]bool{}
	missed := map[string]int{}
	var err error
	set := func(s *side, option string) []bool {
		patterns := d.request.Values.Patterns(option)
		out, e := s.match.Set(option, patterns...)
		if e != nil {
			if missed[option]++; missed[option] == 2 { // a region of one side is enough
				err = e
			}
		}
		return out
	}
	d.pairs = map[callgraph.Pair]*pair{}
	for k, s := range d.sides {
		hidden, kept := set(s, "hide"), set(s, "keep")
		to, seen := make([]int32, len(s.nodes)+1), map[string]int{}
		to[0] = callgraph.Root
		for i, n := range s.nodes {
			key := name{n.Name, seen[n.Name]}
			seen[n.Name]++
			at, ok := place[key]
			if !ok {
				at = int32(len(d.nodes))
				place[key] = at
				if k == 1 && len(d.request.Runs) > 1 {
					n.Regions = nil // numbers of another run
				}
				d.nodes = append(d.nodes, n)
			}
			to[i+1] = at
			if kept != nil && kept[i+1] {
				keep[at] = true
			}
		}
		for i := range s.rows {
			x := &s.rows[i]
			if hidden != nil && (hidden[x.Caller+1] || hidden[x.Callee+1]) {
				continue
			}
			key := callgraph.Pair{Caller: to[x.Caller+1], Callee: to[x.Callee+1]}
			d.both(key)[k] = x
			p := d.at(key)
			p.Calls += x.Count
			p.Total += s.value(x) * s.scale
		}
		for i := range s.cuts {
			x := &s.cuts[i]
			if hidden == nil || !hidden[x.Caller+1] && !hidden[x.Callee+1] {
				d.addCut(callgraph.Pair{Caller: to[x.Caller+1], Callee: to[x.Callee+1]}, k, x)
			}
		}
	}
	if err != nil {
		return err
	}
	d.cutNote("the table has")
	if len(d.pairs) == 0 {
		return view.Empty("hide fewer regions", "all regions of the selection are hidden")
	}
	for key, p := range d.pairs {
		v, ok := d.delta(key)
		if !ok { // a call that one side does not make differs by all it takes on the other
			here, _ := d.value(key, 0)
			there, _ := d.value(key, 1)
			v = here + there
		}
		p.Moved = math.Abs(v)
	}
	d.compared = true
	d.notes = append(d.notes, fmt.Sprintf("%s less %s: %s", d.sides[1].label, d.sides[0].label, d.what()))
	for _, s := range d.sides {
		if s.overlap > 0 {
			d.overlap += s.overlap
		}
	}
	return d.order(func(node int32) bool { return keep[node] })
}

// both returns the rows of a pair on both sides, made if there are none.
func (d *difference) both(key callgraph.Pair) *[2]*callgraph.Row {
	if d.of[key] == nil {
		d.of[key] = &[2]*callgraph.Row{}
	}
	return d.of[key]
}

// addCut takes the calls of a pair on a side that began before the window.
func (d *difference) addCut(key callgraph.Pair, k int, x *callgraph.Cut) {
	d.both(key)
	if d.cutOf[key] == nil {
		d.cutOf[key] = &[2]*callgraph.Cut{}
	}
	d.cutOf[key][k] = x
	d.cuts = append(d.cuts, *x)
	p := d.at(key)
	p.Cut, p.CutTime = p.Cut+x.Count, p.CutTime+x.Time
}

// cut is the calls of a pair on a side that began before the window; nil for none.
func (d *difference) cut(key callgraph.Pair, k int) *callgraph.Cut {
	if d.cutOf[key] == nil {
		return nil
	}
	return d.cutOf[key][k]
}

// cutAlone reports whether all calls of a pair on one of the sides began before the window.
func (d *difference) cutAlone(key callgraph.Pair) bool {
	return d.of[key][0] == nil && d.cut(key, 0) != nil || d.of[key][1] == nil && d.cut(key, 1) != nil
}

// totals reports whether totals are compared, not medians of calls.
func (d *difference) totals() bool { return d.over == "locations" || d.metric == "calls" }

// what names the compared value.
func (d *difference) what() string {
	each := ""
	if len(d.request.Runs) == 1 {
		each = " per location"
	}
	switch {
	case d.metric == "calls":
		return "calls" + each
	case d.totals():
		return "total " + d.metric + " time" + each
	}
	return "median " + d.metric + " time per call"
}

// total of a pair on a side; 0 if it is never called.
func (d *difference) total(key callgraph.Pair, k int) float64 {
	x := d.of[key][k]
	if x == nil {
		return 0
	}
	return d.sides[k].value(x) * d.sides[k].scale
}

// value of a pair on a side, as compared. No call has no median.
func (d *difference) value(key callgraph.Pair, k int) (v float64, ok bool) {
	x := d.of[key][k]
	switch {
	case x == nil:
		return 0, false
	case d.totals():
		return d.total(key, k), true
	}
	return x.Box[2], !math.IsNaN(x.Box[2])
}

// delta is the second side less the first, where both make the call.
func (d *difference) delta(key callgraph.Pair) (float64, bool) {
	a, okA := d.value(key, 0)
	b, okB := d.value(key, 1)
	return b - a, okA && okB
}
