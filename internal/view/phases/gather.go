package phases

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A gatherer has the locations that count, and asks the store for them.
type gatherer struct {
	request *view.Request
	store   store.Reader
	rows    []trace.LocationID
	units   []trace.LocationID
	source  *phase.Source
}

func newGatherer(ctx context.Context, q *view.Request) (*gatherer, error) {
	g := &gatherer{request: q, store: q.Store()}
	tree := g.store.Locations()
	g.rows = runfacts.Chosen(tree, q.Selection.Locations, tree.Holds)
	if len(g.rows) == 0 {
		return nil, view.NoIntervals(q.Store(), "choose other locations",
			"no location with intervals in the selection")
	}
	units, of, err := runfacts.Units(tree, g.rows, q.Values.Text("group"))
	if err != nil {
		return nil, err
	}
	g.units = units
	if g.source, err = phase.NewSource(ctx, g.store, q.Window(), g.rows, len(units), of); err != nil {
		return nil, err
	}
	return g, ctx.Err()
}

// gather cuts the run and adds up the times of units in each phase.
func (r *result) gather(ctx context.Context, g *gatherer) error {
	r.units, r.names = g.units, runfacts.UnitNames(r.tree, g.units)
	marker, parts, err := g.source.Marker(r.request.Values.Text("phase"),
		func(pattern string) ([]trace.RegionID, error) {
			return view.MatchRegions(g.source.Regions, []string{pattern})
		})
	if err != nil {
		return err
	}
	var notes []string
	if r.phases, notes, err = g.source.Cut(marker, parts); err != nil {
		return err
	}
	r.notes = append(r.notes, notes...)
	state, err := g.states()
	if err != nil {
		return err
	}
	cells, err := g.source.Count(r.phases, state)
	if err != nil {
		return err
	}
	n := len(r.phases.List)
	r.busy, r.waiting = make([]trace.Time, len(r.units)*n), make([]trace.Time, len(r.units)*n)
	for row, id := range g.rows {
		u := int(g.source.Unit[id])
		for k := range n {
			r.busy[r.at(u, k)] = trace.AddUp(r.busy[r.at(u, k)], cells.Busy[row*n+k])
			r.waiting[r.at(u, k)] = trace.AddUp(r.waiting[r.at(u, k)],
				trace.AddUp(cells.Waiting[row*n+k], cells.Idle[row*n+k]))
		}
	}
	r.loads = g.loads(cells, n, r.phases.Sliced)
	if len(g.rows) > len(r.units) {
		r.notes = append(r.notes,
			fmt.Sprintf("busy and waiting time of %s are added up by rank; --group locations shows each",
				view.Count(len(g.rows), "location")))
	}
	r.waits, err = g.waits(ctx, r)
	return err
}

// loads returns the busy time of units by kind of location, of kinds that most units
// have: a rank's GPU and its threads are compared apart.
func (g *gatherer) loads(cells *phase.Table, n int, sliced bool) (out []*finding.Load) {
	tree := g.store.Locations()
	byKind, units := map[trace.Kind]*finding.Load{}, map[trace.Kind]map[int32]bool{}
	var kinds []trace.Kind
	for row, id := range g.rows {
		k, u := tree.Kind[id], g.source.Unit[id]
		if byKind[k] == nil {
			byKind[k] = &finding.Load{Units: len(g.units), Phases: n, Busy: make([]trace.Time, len(g.units)*n),
				Sliced: sliced}
			units[k] = map[int32]bool{}
			kinds = append(kinds, k)
		}
		units[k][u] = true
		for p := range n {
			byKind[k].Busy[int(u)*n+p] += cells.Busy[row*n+p]
		}
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		if 4*len(units[k]) >= 3*len(g.units) {
			out = append(out, byKind[k])
		}
	}
	return out
}

// states reads --busy and --idle: nil if roles decide.
func (g *gatherer) states() ([]phase.State, error) {
	regions := g.source.Regions
	busy, idle := g.request.Values.RegionPatterns("busy", regions), g.request.Values.RegionPatterns("idle", regions)
	if len(busy)+len(idle) == 0 {
		return nil, nil
	}
	out := make([]phase.State, len(regions))
	for i := range out {
		out[i] = phase.ByRole
		if len(busy) > 0 {
			out[i] = phase.Waiting
		}
	}
	for state, patterns := range map[phase.State][]string{phase.Busy: busy, phase.Waiting: idle} {
		for _, p := range patterns {
			if role, ok := trace.ParseRole(p); ok {
				p = "role:" + role.String()
			}
			match, err := view.RegionPattern(p)
			if err != nil {
				return nil, err
			}
			for i := range regions {
				if match(trace.RegionID(i), &regions[i]) {
					out[i] = state
				}
			}
		}
	}
	return out, nil
}

// waits finds waiting units and their causes; nil if the run is too large or has no
// peers.
func (g *gatherer) waits(ctx context.Context, r *result) (*waiting.Result, error) {
	if len(g.units) < 2 {
		return nil, nil
	}
	if g.source.Intervals > phase.MostScanned {
		r.notes = append(r.notes,
			fmt.Sprintf("who waited for whom is not looked for in %s intervals; choose a shorter time",
				view.FormatCount(float64(g.source.Intervals))))
		return nil, nil
	}
	w := g.request.Window()
	n, err := g.store.LinkCount(w)
	if err != nil {
		return nil, err
	}
	p := &waiting.Plan{Store: g.store, Window: w, Unit: g.source.Unit, Units: len(g.units), Indexed: w.Begin == 0,
		Messages: n > 0 && n <= waiting.MostMessages}
	res, err := p.Analyse(ctx)
	if err == nil && res.All > 0 && len(res.Meetings) == 0 {
		r.notes = append(r.notes,
			"collectives are left before all have come: the clocks disagree, and who came last cannot be told")
		res.Late = nil
	}
	return res, err
}
