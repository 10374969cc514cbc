package contrast

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostScanned is how many calls, links or samples are read one by one; kinds of
// quantities that would need more are left out, and a note tells so.
const mostScanned = 20_000_000

// A key names a quantity.
type key struct{ kind, name, caller string }

// A gatherer reads the quantities of both sides, one by one.
type gatherer struct {
	r     *result
	found map[key]*quantity
	order []*quantity
	// wholes holds totals other than time, by unit: all bytes and counts of a unit.
	wholes map[string]float64
	chosen [2][]bool // regions that are shown, by side
}

func newGatherer(r *result) *gatherer {
	return &gatherer{r: r, found: map[key]*quantity{}, wholes: map[string]float64{}}
}

// all reads every kind of quantity that was asked for.
func (g *gatherer) all(ctx context.Context) error {
	steps := []func(context.Context, int) error{g.times, g.callers, g.messages, g.counters, g.metrics}
	for _, step := range steps {
		for i := range g.r.sides {
			if err := step(ctx, i); err != nil {
				return err
			}
		}
	}
	g.attributes()
	return nil
}

// at returns the quantity of a key, made where there is none.
func (g *gatherer) at(k key, unit string) *quantity {
	q := g.found[k]
	if q == nil {
		q = &quantity{kind: k.kind, name: k.name, caller: k.caller, unit: unit}
		g.found[k] = q
		g.order = append(g.order, q)
	}
	return q
}

// add gives a unit of a side more of a quantity.
func (g *gatherer) add(q *quantity, side int, unit int32, v float64) {
	if q.values[side] == nil {
		q.values[side] = make([]float64, len(g.r.sides[side].units))
	}
	q.values[side][unit] += v
}

// scale is the factor from amounts in the side's time to compared values: 1, or a share
// of the time if the sides differ in length.
func (g *gatherer) scale(side int) float64 {
	if g.r.shares && len(g.r.request.Runs) == 1 && !g.profile(side) {
		return 1 / float64(g.r.sides[side].length())
	}
	return 1
}

// timeUnit is the unit of times after scaling.
func (g *gatherer) timeUnit() string {
	if g.r.metric.Number == view.NumberCalls {
		return "count"
	}
	if g.scale(0) != 1 || g.scale(1) != 1 {
		return "share"
	}
	return g.r.metric.Unit
}

func (g *gatherer) profile(side int) bool { return !g.r.sides[side].store.Info().Timed() }

// shown reports whether a region is chosen.
func (g *gatherer) shown(side int, id trace.RegionID) bool {
	sel := g.r.request.Selection.Regions
	if sel == nil {
		return true
	}
	if g.chosen[side] == nil {
		mine, names := g.r.sides[side].store.Regions(), map[string]bool{}
		for _, x := range sel {
			names[g.r.request.Store().Regions()[x].Name] = true
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
	s := &g.r.sides[side]
	unit := s.unitOf()
	regions := s.store.Regions()
	metric := g.r.metric
	if side == 1 && g.r.sides[0].store != s.store && metric.Number != view.NumberCalls {
		other, err := view.ChooseMetric(s.store, g.r.request.Values.Text("metric"))
		if err != nil {
			return fmt.Errorf("%s: %w", g.r.request.Runs[1].Name, err)
		}
		metric = other
	}
	by, scale, name := g.r.by, g.scale(side), g.timeUnit()
	if metric.Number == view.NumberCalls && scale != 1 {
		scale *= 1e9 // calls a second
	}
	for _, w := range s.windows() {
		err := view.Totals(ctx, s.store, w, metric.ID, func(list []view.Total) {
			for _, t := range list {
				k, ok := unit[t.Location]
				reg := &regions[t.Region]
				if !ok || view.Sampled(reg) || !g.shown(side, t.Region) {
					continue
				}
				v := metric.Of(t.Calls, t.Inclusive, t.Exclusive) * scale
				if by["region"] {
					q := g.at(key{"region", reg.Name, ""}, name)
					q.role = reg.Role
					if side == 0 || len(g.r.request.Runs) == 1 {
						q.choose(t.Region)
					}
					q.calls[side] += t.Calls * scale
					g.add(q, side, k, v)
				}
				if by["calls"] && (t.Calls > 0 || t.Inclusive > 0) {
					q := g.at(key{"calls", reg.Name, ""}, "share")
					q.role, q.whole = reg.Role, 1
					if side == 0 || len(g.r.request.Runs) == 1 {
						q.choose(t.Region)
					}
					g.add(q, side, k, 0)
					q.values[side][k] = 1
				}
				if metric.Number == view.NumberInclusive {
					continue // inclusive times of a role would count nested calls twice
				}
				if by["role"] {
					q := g.at(key{"role", reg.Role.String(), ""}, name)
					q.role = reg.Role
					g.add(q, side, k, v)
				}
				if by["category"] && reg.Category != "" {
					q := g.at(key{"category", reg.Category, ""}, name)
					q.role = reg.Role
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
func (s *side) unitOf() map[trace.LocationID]int32 {
	out := make(map[trace.LocationID]int32, len(s.holders))
	for i, id := range s.holders {
		out[id] = s.of[i]
	}
	return out
}

func (q *quantity) choose(id trace.RegionID) {
	if !slices.Contains(q.regions, id) {
		q.regions = append(q.regions, id)
	}
}

// callers reads time by caller and callee, by looking at every call.
func (g *gatherer) callers(ctx context.Context, side int) error {
	if !g.r.by["caller"] || g.r.metric.Number == view.NumberInclusive {
		return nil
	}
	s := &g.r.sides[side]
	nodes, node := callgraph.Nodes(s.store.Regions(), false)
	options := callgraph.Options{Node: node, Nodes: len(nodes)}
	add := func(unit int32, p callgraph.Pair, calls, inclusive, exclusive float64) {
		callee := &nodes[p.Callee]
		if p.Caller == callgraph.Root || !g.shown(side, callee.Regions[0]) ||
			view.Sampled(&s.store.Regions()[callee.Regions[0]]) {
			return
		}
		q := g.at(key{"caller", callee.Name, nodes[p.Caller].Name}, g.timeUnit())
		q.role = callee.Role
		if side == 0 || len(g.r.request.Runs) == 1 {
			for _, id := range callee.Regions {
				q.choose(id)
			}
		}
		q.calls[side] += calls * g.scale(side)
		g.add(q, side, unit, g.r.metric.Of(calls, inclusive, exclusive)*g.scale(side))
	}
	if g.profile(side) {
		return g.profileCallers(ctx, s, options, add)
	}
	count := int64(0)
	for _, w := range s.windows() {
		n, err := s.store.Count(w)
		if err != nil {
			return err
		}
		count += n
	}
	if count > mostScanned {
		g.r.note(fmt.Sprintf("callers are not compared: %s calls are too many to look at each; choose a shorter time",
			view.Thousands(count)))
		return nil
	}
	unit := s.unitOf()
	for _, w := range s.windows() {
		c := &callgraph.Collector{Options: options}
		err := s.store.Intervals(ctx, w, func(cols *trace.Columns) error {
			if _, ok := unit[cols.Location]; ok {
				c.Add(cols)
			}
			return nil
		})
		if err != nil {
			return err
		}
		graphs := c.Take()
		for i, id := range s.holders { // in order, so that sums are the same each time
			if graph := graphs[id]; graph != nil {
				for _, b := range graph.Buckets() {
					add(s.of[i], b.Pair, float64(b.Count), b.Inclusive.Float64(), b.Exclusive.Float64())
				}
			}
		}
	}
	return nil
}

func (g *gatherer) profileCallers(ctx context.Context, s *side, o callgraph.Options,
	add func(int32, callgraph.Pair, float64, float64, float64)) error {
	if !slices.ContainsFunc(s.store.CallPaths(),
		func(c trace.CallPath) bool { return !c.Flat && c.Parent != trace.NoCallPath }) {
		return nil
	}
	p := &callgraph.ProfileReader{Options: o, Metric: g.r.metric.ID, Join: g.r.metric.Join}
	rows, err := p.Read(ctx, s.store, s.holders, s.holders, s.of)
	for _, x := range rows {
		add(x.Owner, x.Pair, x.Count, x.Inclusive, x.Exclusive)
	}
	return err
}

// note says something once.
func (r *result) note(text string) {
	if !slices.Contains(r.notes, text) {
		r.notes = append(r.notes, text)
	}
}

// quantities returns the quantities found with their totals, every side filled up with
// zeros.
func (g *gatherer) quantities() []*quantity {
	callers := map[string]int{}
	for _, q := range g.order {
		if q.kind == "caller" {
			callers[q.name]++
		}
	}
	time := g.wholeTime()
	out := []*quantity{}
	for _, q := range g.order {
		if q.kind == "caller" && callers[q.name] < 2 {
			continue // the region itself says the same
		}
		for i := range q.values {
			if q.values[i] == nil {
				q.values[i] = make([]float64, len(g.r.sides[i].units))
			}
		}
		if q.kind == "partner" && !q.shared() || q.kind == "calls" && q.everywhere() {
			continue
		}
		switch {
		case q.inTime():
			q.whole = time
		case q.whole > 0: // known by its kind
		case q.kind == "partner":
			q.whole = g.wholes[q.unit]
		default:
			q.whole = meanSize(q)
		}
		out = append(out, q)
	}
	return out
}

// shared reports whether a partner is one of several units of a set. That a rank alone
// talks to its neighbours tells its position, not its behaviour.
func (q *quantity) shared() bool {
	with := func(v []float64) int {
		n := 0
		for _, x := range v {
			if x != 0 {
				n++
			}
		}
		return n
	}
	return with(q.values[1]) >= max(2, len(q.values[1])/4) || with(q.values[0]) >= max(2, len(q.values[0])/2)
}

// everywhere reports whether all units have the same.
func (q *quantity) everywhere() bool {
	all := slices.Concat(q.values[0], q.values[1])
	return slices.Min(all) == slices.Max(all)
}

// wholeTime returns the total time of a unit: the length of the window, or for a profile
// the mean over units of all its regions.
func (g *gatherer) wholeTime() float64 {
	a, b := &g.r.sides[0], &g.r.sides[1]
	switch {
	case g.timeUnit() == "share":
		return 1
	case g.timeUnit() == "ns" && !g.profile(0) && !g.profile(1):
		return float64(a.length()+b.length()) / 2
	}
	sum := 0.0
	for _, q := range g.order {
		if q.kind == "region" || q.kind == "role" && !g.r.by["region"] {
			for _, side := range q.values {
				for _, v := range side {
					sum += v
				}
			}
		}
	}
	return sum / float64(len(a.units)+len(b.units))
}

// meanSize is the mean size of a quantity's own values.
func meanSize(q *quantity) float64 {
	sum, n := 0.0, 0
	for _, side := range q.values {
		for _, v := range side {
			sum += max(v, -v)
			n++
		}
	}
	return sum / float64(max(n, 1))
}
