package sides

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostScanned is how many links or samples are read one by one; kinds of
// quantities that would need more are left out, and a note tells so.
const mostScanned = 20_000_000

// A key names a quantity.
type key struct{ kind, name, caller string }

// A gatherer reads the quantities of both sides, one by one.
type gatherer struct {
	r     *Result
	found map[key]*Quantity
	order []*Quantity
	// wholes holds totals other than time, by unit: all bytes and counts of a unit.
	wholes map[string]float64
	chosen [2][]bool // regions that are shown, by side
}

func newGatherer(r *Result) *gatherer {
	return &gatherer{r: r, found: map[key]*Quantity{}, wholes: map[string]float64{}}
}

// all reads every kind of quantity that was asked for.
func (g *gatherer) all(ctx context.Context) error {
	steps := []func(context.Context, int) error{g.times, g.callers, g.messages, g.counters, g.metrics}
	for _, step := range steps {
		for i := range g.r.Sides {
			if err := step(ctx, i); err != nil {
				return err
			}
		}
	}
	g.attributes()
	return nil
}

// at returns the quantity of a key, made if there is none.
func (g *gatherer) at(k key, unit string) *Quantity {
	q := g.found[k]
	if q == nil {
		q = &Quantity{Kind: k.kind, Name: k.name, Caller: k.caller, Unit: unit}
		g.found[k] = q
		g.order = append(g.order, q)
	}
	return q
}

// add gives a unit of a side more of a quantity.
func (g *gatherer) add(q *Quantity, side int, unit int32, v float64) {
	if q.Values[side] == nil {
		q.Values[side] = make([]float64, len(g.r.Sides[side].Units))
	}
	q.Values[side][unit] += v
}

// scale is the factor from amounts in the side's time to compared values: 1, or a share
// of the time if the sides differ in length.
func (g *gatherer) scale(side int) float64 {
	if g.r.shares && g.r.sameRun() && !g.profile(side) {
		return 1 / float64(g.r.Sides[side].length())
	}
	return 1
}

// timeUnit is the unit of times after scaling.
func (g *gatherer) timeUnit() string {
	if g.r.ask.Metric.Number == runfacts.NumberCalls {
		return "count"
	}
	if g.scale(0) != 1 || g.scale(1) != 1 {
		return "share"
	}
	return g.r.ask.Metric.Unit
}

func (g *gatherer) profile(side int) bool { return !g.r.Sides[side].Store.Info().Timed() }

// shown reports whether a region is chosen.
func (g *gatherer) shown(side int, id trace.RegionID) bool {
	sel := g.r.ask.Regions
	if sel == nil {
		return true
	}
	if g.chosen[side] == nil {
		mine, names := g.r.Sides[side].Store.Regions(), map[string]bool{}
		for _, x := range sel {
			names[g.r.Sides[0].Store.Regions()[x].Name] = true
		}
		g.chosen[side] = make([]bool, len(mine))
		for x := range mine {
			g.chosen[side][x] = names[mine[x].Name]
		}
	}
	return g.chosen[side][id]
}

// times reads time by region, and adds it up by role and category. From prefix sums:
// O(locations × regions).
func (g *gatherer) times(ctx context.Context, side int) error {
	s := &g.r.Sides[side]
	unit := s.unitOf()
	regions := s.Store.Regions()
	metric := g.r.ask.Metric
	if side == 1 && g.r.Sides[0].Store != s.Store && metric.Number != runfacts.NumberCalls {
		other, err := runfacts.ChooseMetric(s.Store, g.r.ask.MetricText)
		if err != nil {
			return fmt.Errorf("%s: %w", g.r.ask.RunNames[1], err)
		}
		metric = other
	}
	by, scale, name := g.r.by, g.scale(side), g.timeUnit()
	if metric.Number == runfacts.NumberCalls && scale != 1 {
		scale *= 1e9 // calls a second
	}
	for _, w := range s.windows() {
		err := runfacts.Totals(ctx, s.Store, w, metric.ID, func(list []runfacts.Total) {
			for _, t := range list {
				k, ok := unit[t.Location]
				reg := &regions[t.Region]
				if !ok || runfacts.Sampled(reg) || !g.shown(side, t.Region) {
					continue
				}
				v := metric.Of(t.Calls, t.Inclusive, t.Exclusive) * scale
				if by["region"] {
					q := g.at(key{"region", reg.Name, ""}, name)
					q.Role = reg.Role
					if side == 0 || g.r.sameRun() {
						q.choose(t.Region)
					}
					q.Calls[side] += t.Calls * scale
					g.add(q, side, k, v)
				}
				if by["calls"] && (t.Calls > 0 || t.Inclusive > 0) {
					q := g.at(key{"calls", reg.Name, ""}, "share")
					q.Role, q.whole = reg.Role, 1
					if side == 0 || g.r.sameRun() {
						q.choose(t.Region)
					}
					g.add(q, side, k, 0)
					q.Values[side][k] = 1
				}
				if metric.Number == runfacts.NumberInclusive {
					continue // inclusive times of a role would count nested calls twice
				}
				if by["role"] {
					q := g.at(key{"role", reg.Role.String(), ""}, name)
					q.Role = reg.Role
					g.add(q, side, k, v)
				}
				if by["category"] && reg.Category != "" {
					q := g.at(key{"category", reg.Category, ""}, name)
					q.Role = reg.Role
					g.add(q, side, k, v)
				}
			}
		})
		if err != nil {
			return err
		}
		if g.profile(side) {
			break // a profile has no time
		}
	}
	return nil
}

// unitOf returns the unit of each holder.
func (s *Side) unitOf() map[trace.LocationID]int32 {
	out := make(map[trace.LocationID]int32, len(s.Holders))
	for i, id := range s.Holders {
		out[id] = s.Of[i]
	}
	return out
}

func (q *Quantity) choose(id trace.RegionID) {
	if !slices.Contains(q.Regions, id) {
		q.Regions = append(q.Regions, id)
	}
}

// callers reads time by caller and callee.
func (g *gatherer) callers(ctx context.Context, side int) error {
	if !g.r.by["caller"] || g.r.ask.Metric.Number == runfacts.NumberInclusive {
		return nil
	}
	s := &g.r.Sides[side]
	nodes, node := callgraph.Nodes(s.Store.Regions(), false)
	options := callgraph.Options{Node: node, Nodes: len(nodes)}
	add := func(unit int32, p callgraph.Pair, calls, inclusive, exclusive float64) {
		callee := &nodes[p.Callee]
		if p.Caller == callgraph.Root || !g.shown(side, callee.Regions[0]) ||
			runfacts.Sampled(&s.Store.Regions()[callee.Regions[0]]) {
			return
		}
		q := g.at(key{"caller", callee.Name, nodes[p.Caller].Name}, g.timeUnit())
		q.Role = callee.Role
		if side == 0 || g.r.sameRun() {
			for _, id := range callee.Regions {
				q.choose(id)
			}
		}
		q.Calls[side] += calls * g.scale(side)
		g.add(q, side, unit, g.r.ask.Metric.Of(calls, inclusive, exclusive)*g.scale(side))
	}
	if g.profile(side) {
		return g.profileCallers(ctx, s, options, add)
	}
	for _, w := range s.windows() {
		rows, err := callgraph.Gather(&callgraph.Plan{Options: options, Locations: s.Holders},
			func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
				w.Locations = ids
				return store.Digests(ctx, s.Store, callgraph.DigestName, w, f)
			})
		if err != nil {
			return err
		}
		for _, x := range rows {
			add(s.Of[x.Owner], x.Pair, x.Count, x.Inclusive, x.Exclusive)
		}
	}
	return nil
}

func (g *gatherer) profileCallers(ctx context.Context, s *Side, o callgraph.Options,
	add func(int32, callgraph.Pair, float64, float64, float64)) error {
	if !slices.ContainsFunc(s.Store.CallPaths(),
		func(c trace.CallPath) bool { return !c.Flat && c.Parent != trace.NoCallPath }) {
		return nil
	}
	p := &callgraph.ProfileReader{Options: o, Metric: g.r.ask.Metric.ID, Join: g.r.ask.Metric.Join}
	rows, err := p.Read(ctx, s.Store, s.Holders, s.Holders, s.Of)
	for _, x := range rows {
		add(x.Owner, x.Pair, x.Count, x.Inclusive, x.Exclusive)
	}
	return err
}

// quantities returns the quantities found with their totals, every side filled up with
// zeros.
func (g *gatherer) quantities() []*Quantity {
	callers := map[string]int{}
	for _, q := range g.order {
		if q.Kind == "caller" {
			callers[q.Name]++
		}
	}
	time := g.wholeTime()
	out := []*Quantity{}
	for _, q := range g.order {
		if q.Kind == "caller" && callers[q.Name] < 2 {
			continue // the region itself says the same
		}
		for i := range q.Values {
			if q.Values[i] == nil {
				q.Values[i] = make([]float64, len(g.r.Sides[i].Units))
			}
		}
		if q.Kind == "partner" && !q.shared() || q.Kind == "calls" && q.everywhere() {
			continue
		}
		switch {
		case q.InTime():
			q.whole = time
		case q.whole > 0: // known by its kind
		case q.Kind == "partner":
			q.whole = g.wholes[q.Unit]
		default:
			q.whole = meanSize(q)
		}
		out = append(out, q)
	}
	return out
}

// shared reports whether a partner is one of several units of a set. That a rank alone
// talks to its neighbours tells its position, not its behaviour.
func (q *Quantity) shared() bool {
	with := func(v []float64) int {
		n := 0
		for _, x := range v {
			if x != 0 {
				n++
			}
		}
		return n
	}
	return with(q.Values[1]) >= max(2, len(q.Values[1])/4) || with(q.Values[0]) >= max(2, len(q.Values[0])/2)
}

// everywhere reports whether all units have the same.
func (q *Quantity) everywhere() bool {
	all := slices.Concat(q.Values[0], q.Values[1])
	return slices.Min(all) == slices.Max(all)
}

// wholeTime returns the total time of a unit: the length of the window, or for a profile
// the mean over units of all its regions.
func (g *gatherer) wholeTime() float64 {
	a, b := &g.r.Sides[0], &g.r.Sides[1]
	switch {
	case g.timeUnit() == "share":
		return 1
	case g.timeUnit() == "ns" && !g.profile(0) && !g.profile(1):
		return float64(a.length()+b.length()) / 2
	}
	sum := 0.0
	for _, q := range g.order {
		if q.Kind == "region" || q.Kind == "role" && !g.r.by["region"] {
			for _, side := range q.Values {
				for _, v := range side {
					sum += v
				}
			}
		}
	}
	return sum / float64(len(a.Units)+len(b.Units))
}

// meanSize is the mean size of a quantity's own values.
func meanSize(q *Quantity) float64 {
	sum, n := 0.0, 0
	for _, side := range q.Values {
		for _, v := range side {
			sum += max(v, -v)
			n++
		}
	}
	return sum / float64(max(n, 1))
}
