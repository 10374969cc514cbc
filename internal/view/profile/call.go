package profile

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostCalled is the number of locations that are asked for their calls in a window that cuts
// some: whole runs never need it.
const mostCalled = 1 << 14

// callMeans gives each region the mean exclusive time of its calls, as the table of the
// selection has it: of those that begin in the window, at full length. Over the whole
// run that is the time through the calls. A window cuts calls, so there they are
// asked for: O(call paths) a lane, and the rows at the window's edges.
func (r *result) callMeans(ctx context.Context) error {
	s, sel := r.request.Store(), r.request.Selection
	if !s.Info().Timed() || sel.Begin <= 0 && sel.End >= s.Info().End {
		for i := range r.rows {
			if x := &r.rows[i]; x.calls > 0 && r.join == trace.JoinSum {
				mean := x.exclusive / x.calls
				x.call = &mean
			}
		}
		return nil
	}
	if len(r.locations) > mostCalled {
		r.notes = append(r.notes, "the mean per call is not computed for a part of the time on so many locations")
		return nil
	}
	ids := runfacts.Chosen(s.Locations(), sel.Locations, s.Locations().Holds)
	plan := &callgraph.Plan{Options: callgraph.Options{Node: make([]int32, len(r.regions)), Nodes: len(r.regions),
		Profile: true}, Locations: ids, Owner: make([]int32, len(ids)), Owners: 1}
	for id := range plan.Node {
		plan.Node[id] = int32(id)
	}
	rows, err := callgraph.Gather(plan, r.request.Digests(ctx, callgraph.DigestName))
	if err != nil {
		return err
	}
	means := make([]*float64, len(r.regions))
	for i := range rows {
		if n := rows[i].Count; n > 0 {
			mean := rows[i].Exclusive / n
			means[rows[i].Callee] = &mean
		}
	}
	for i := range r.rows {
		r.rows[i].call = means[r.rows[i].region]
	}
	return nil
}
