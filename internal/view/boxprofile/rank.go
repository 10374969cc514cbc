package boxprofile

import (
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/callsums"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/view"
)

// sum prepares the sums of rows, of the regions that are not hidden.
func (r *result) sum() error {
	hidden, err := r.match.Set("hide", r.request.Values.Patterns("hide")...)
	r.sums = &callsums.Table{Of: callsums.Callee, Value: r.value,
		Shown: func(p callgraph.Pair) bool { return hidden == nil || !hidden[p.Callee+1] }}
	return err
}

// rank makes the regions of rows and puts them in order.
func (r *result) rank(ctx context.Context) error {
	kept, err := r.match.Set("keep", r.request.Values.Patterns("keep")...)
	if err != nil {
		return err
	}
	kinds := make([]int32, len(r.locations))
	if !r.pair {
		kinds = runfacts.Kinds(r.request.Store().Locations(), r.locations)
	}
	if r.sums == nil {
		if err := r.sum(); err != nil {
			return err
		}
	}
	r.sums.Rows, r.sums.Cuts = r.rows, r.cuts
	sums, err := r.sums.Sums(ctx, kinds)
	if err != nil {
		return err
	}
	if len(sums) == 0 {
		return view.Empty("hide fewer regions", "all regions of the selection are hidden")
	}
	r.cutAt, r.groupCutAt = cutsByBox(r.cuts), cutsByBox(r.groupCuts)
	if r.regions, err = r.ordered(sums, kept); err != nil {
		return err
	}
	for k := range r.regions {
		g := &r.regions[k]
		r.most = max(r.most, g.High)
		if r.over == "locations" && len(g.Values) > 0 {
			r.most = max(r.most, slices.Max(g.Values))
		}
	}
	if r.groupRows != nil {
		r.spreadGroups()
	}
	return r.limits()
}

// ordered puts the regions in the order that is asked for.
func (r *result) ordered(sums []*callsums.Sum, kept []bool) ([]region, error) {
	order, err := callsums.ParseOrder(r.request.Values.Text("order"), callsums.Differs, callsums.Calls, callsums.Total,
		callsums.Longest, callsums.Name)
	if err != nil {
		return nil, err
	}
	regions := make([]region, len(sums))
	for k, s := range sums {
		n := &r.nodes[s.Callee]
		regions[k] = region{Sum: s, place: callsums.Place{Numbers: s.Numbers, Name: n.Name,
			Keep:  kept != nil && kept[s.Callee+1],
			Tells: runfacts.AnyTells(r.request.Store().Regions(), n.Regions)}}
	}
	alone := len(r.locations) == 1 // nothing to differ from
	slices.SortStableFunc(regions, func(a, b region) int { return order.Compare(&a.place, &b.place, alone) })
	return regions, nil
}

// spreadGroups finds the rows of groups by region, and the medians of their members.
func (r *result) spreadGroups() {
	index := make([]int32, len(r.nodes))
	for k := range r.regions {
		g := &r.regions[k]
		index[g.Callee] = int32(k) + 1
		g.spread = slices.Repeat([]span{{math.Inf(1), math.Inf(-1)}}, len(r.groups.Members))
	}
	for i := range r.groupRows {
		if k := index[r.groupRows[i].Callee] - 1; k >= 0 {
			r.regions[k].groups = append(r.regions[k].groups, int32(i))
		}
	}
	_ = parallel.For(context.Background(), len(r.regions), func(k int) {
		g := &r.regions[k]
		for i, owner := range g.Owners {
			s := &g.spread[r.groups.Of[owner]]
			s.low, s.high = min(s.low, g.Middle[i]), max(s.high, g.Middle[i])
		}
	})
}

// limits reads --min and --max: a time, a number, or a share of the axis.
func (r *result) limits() (err error) {
	most := r.most
	for i := range r.cuts {
		most = max(most, r.cuts[i].Max)
	}
	r.low, r.high, err = r.request.Limits(most)
	return err
}

// overRow returns the box over the locations' totals; nil if all calls are cut.
func (r *result) overRow(g *region) *callgraph.Row {
	if len(g.Owners) == 0 {
		return nil
	}
	return callgraph.RowOver(callgraph.Pair{Caller: callgraph.Root, Callee: g.Callee}, g.Values)
}
