package boxprofile

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// besides puts the boxes of two runs side by side: one band per region, in it one box per
// run, of the calls of all its locations.
func besides(ctx context.Context, q *view.Request) (view.Result, error) {
	r := &result{request: q, pair: true}
	nodes := map[string]int32{}
	for k, one := range []*view.Request{q.First(), q.Second()} {
		name := q.Runs[k].Name
		side, err := pooled(ctx, one)
		if err != nil {
			return nil, &view.BesideError{Run: name, Err: err}
		}
		if k == 0 {
			r.metric, r.unit, r.over, r.stretch, r.shown = side.metric, side.unit, side.over, side.stretch, side.shown
			r.tree, r.hasProfile, r.colours = side.tree, side.hasProfile, "location"
		} else if side.over != r.over || side.unit != r.unit {
			return nil, fmt.Errorf("one run has single calls and the other does not; use --over locations")
		}
		r.overlap += side.overlap
		for _, n := range side.notes {
			r.notes = append(r.notes, name+": "+n)
		}
		r.names, r.locations = append(r.names, name), append(r.locations, trace.NoLocation)
		if err := r.join(ctx, side, int32(k), nodes); err != nil {
			return nil, err
		}
	}
	if len(r.rows)+len(r.cuts) == 0 {
		return nil, q.NoCall()
	}
	r.cutNote()
	r.match = &callgraph.Matcher{Nodes: r.nodes, Regions: q.Store().Regions(), Compile: view.RegionPattern}
	r.notes = append(r.notes,
		"boxes of a run are of the calls of all its locations; regions come in order of how much the runs differ in "+
			"them")
	return r, r.rank(ctx)
}

// pooled gathers the calls of all locations of a run as those of one.
func pooled(ctx context.Context, q *view.Request) (*result, error) {
	r, options, err := prepare(ctx, q)
	if err != nil {
		return nil, err
	}
	if r.over == "locations" { // a point is a location: they are joined when they are all there
		return r, r.gather(ctx, options)
	}
	clear(r.unitOf)
	plan := &callgraph.Plan{Options: options, Locations: r.holders, Owner: r.unitOf, Owners: 1,
		Begin: q.Selection.Begin, End: q.Selection.End}
	r.rows, err = callgraph.Gather(plan, q.Digests(ctx, callgraph.DigestName))
	r.overlap, r.cuts = plan.Open.Load(), plan.Cut
	return r, err
}

// join adds the boxes of a run, regions by their names.
func (r *result) join(ctx context.Context, side *result, owner int32, nodes map[string]int32) error {
	to := make([]int32, len(side.nodes))
	for i, n := range side.nodes {
		at, ok := nodes[n.Name]
		if !ok {
			at = int32(len(r.nodes))
			nodes[n.Name] = at
			if owner > 0 {
				n.Regions = nil // numbers of another run
			}
			r.nodes = append(r.nodes, n)
		}
		to[i] = at
	}
	for _, x := range callgraph.MergeCuts(side.cuts, make([]int32, len(side.locations))) {
		x.Callee, x.Owner = to[x.Callee], owner
		r.cuts = append(r.cuts, x)
	}
	if side.over == "locations" {
		if err := side.rank(ctx); err != nil {
			return err
		}
		for k := range side.regions {
			if x := side.overRow(&side.regions[k]); x != nil {
				x.Callee, x.Owner = to[x.Callee], owner
				r.rows = append(r.rows, *x)
			}
		}
		return nil
	}
	for _, x := range side.rows {
		x.Callee, x.Owner = to[x.Callee], owner
		r.rows = append(r.rows, x)
	}
	return nil
}
