package findings

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A reason is what units do more of than the others.
type reason struct {
	// What is a region's name, or a category in words such as "kernels".
	what    string
	regions []trace.RegionID
	// Mean over the units, and the extremes and median of the others, in ns.
	mean, low, high, median float64
	calls                   float64
}

// excess is how much more it is.
func (r *reason) excess() float64 { return r.mean - r.median }

// explain finds the region, or the category of regions, in which units spend most
// time more than the others do. Inclusive time tells: of nested regions the
// outermost that is longer is the one to name. Only rows of a class count, all where
// it is empty; with all roles but waiting, or busy ones alone. O(totals).
func (c *court) explain(t *totals, units []int32, class string, busyOnly bool) (reason, bool) {
	inside := make([]bool, len(c.units))
	for _, u := range units {
		inside[u] = true
	}
	byName, byCategory := map[string]*tally{}, map[string]*tally{}
	note := func(m map[string]*tally, key string, unit int32, v, calls float64, r trace.RegionID) {
		x := m[key]
		if x == nil {
			x = &tally{values: map[int32]float64{}}
			m[key] = x
		}
		x.values[unit] += v
		if inside[unit] {
			x.sum += v
			x.calls += calls
		}
		if !slices.Contains(x.regions, r) {
			x.regions = append(x.regions, r)
		}
	}
	for i, row := range t.row {
		g := &c.regions[t.region[i]]
		if class != "" && c.class[row] != class || !c.counts(g.Role, busyOnly) || c.marks(t.region[i]) {
			continue
		}
		u := c.unitOf[c.rows[row]]
		note(byName, g.Name, u, t.inclusive[i], t.calls[i], t.region[i])
		if g.Category != "" && g.Role.Busy() {
			note(byCategory, g.Category, u, t.exclusive[i], t.calls[i], t.region[i])
		}
	}
	best, ok := c.best(byName, inside, len(units))
	if whole, found := c.best(byCategory, inside, len(units)); found && (!ok || whole.excess() > 1.15*best.excess()) {
		whole.what = categoryWords(whole.what)
		return whole, true
	}
	return best, ok
}

// counts says which roles may be a reason: never those of waiting.
func (c *court) counts(r trace.Role, busyOnly bool) bool {
	if busyOnly {
		return r.Busy()
	}
	return r.Busy() || r == trace.RoleOverhead || r == trace.RoleAnnotation
}

// marks reports regions that are no reason: those that cut the run, and ranges that
// repeat on a GPU what the host marked.
func (c *court) marks(r trace.RegionID) bool {
	g := &c.regions[r]
	return g.Category == "gpu_user_annotation" || c.phases != nil && (g.Name == c.phases.By || g.Role == trace.RoleAnnotation && phase.Stem(g.Name) == c.phases.By)
}

type tally struct {
	values  map[int32]float64 // by unit
	regions []trace.RegionID
	sum     float64 // inside
	calls   float64
}

// best is what units have most more of.
func (c *court) best(all map[string]*tally, inside []bool, n int) (reason, bool) {
	var found reason
	ok := false
	names := make([]string, 0, len(all))
	for k := range all {
		names = append(names, k)
	}
	// What has most time inside comes first: the others are not worth a median.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(all[b].sum, all[a].sum), cmp.Compare(a, b)) })
	for _, k := range names[:min(len(names), 40)] {
		x := all[k]
		r := reason{what: k, regions: x.regions, mean: x.sum / float64(n), calls: x.calls / float64(n), low: math.Inf(1)}
		others := make([]float64, 0, len(inside)-n)
		for u, in := range inside {
			if !in {
				v := x.values[int32(u)]
				others = append(others, v)
				r.low, r.high = min(r.low, v), max(r.high, v)
			}
		}
		if len(others) == 0 {
			continue
		}
		r.median = finding.Median(others)
		if r.excess() > 0 && (!ok || r.excess() > found.excess()) {
			found, ok = r, true
		}
	}
	slices.Sort(found.regions)
	return found, ok
}

// categoryWords names a category of regions.
func categoryWords(category string) string {
	switch category {
	case "kernel", "concurrent_kernel":
		return "kernels"
	case "cpu_op", "operator":
		return "operators on the CPU"
	case "gpu_memcpy", "memcpy":
		return "copies"
	}
	return "regions of category " + category
}

// waitsIn names the regions in which units wait most, communication before the
// rest, and how long they do.
func (c *court) waitsIn(t *totals, not []int32) (names []string, ids []trace.RegionID, sum float64) {
	inside := make([]bool, len(c.units))
	for _, u := range not {
		inside[u] = true
	}
	times, regions := map[string]float64{}, map[string][]trace.RegionID{}
	comm := map[string]bool{}
	whole := 0.0
	for i, row := range t.row {
		g := &c.regions[t.region[i]]
		if inside[c.unitOf[c.rows[row]]] || g.Role != trace.RoleCommunication && g.Role != trace.RoleSynchronization {
			continue
		}
		times[g.Name] += t.exclusive[i]
		comm[g.Name] = comm[g.Name] || g.Role == trace.RoleCommunication
		whole += t.exclusive[i]
		if !slices.Contains(regions[g.Name], t.region[i]) {
			regions[g.Name] = append(regions[g.Name], t.region[i])
		}
	}
	var list []string
	any := false
	for n := range times {
		list = append(list, n)
		any = any || comm[n] && times[n] >= 0.1*whole
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	for _, n := range list {
		if any && !comm[n] || len(names) == 2 || len(names) == 1 && times[n] < 0.3*sum {
			continue
		}
		names = append(names, n)
		ids = append(ids, regions[n]...)
		sum += times[n]
	}
	slices.Sort(ids)
	return names, ids, sum
}

// phaseWindow is the time from the first to the last of some phases.
func (c *court) phaseWindow(phases []int) (begin, end trace.Time) {
	begin, end = c.window.End, c.window.Begin
	for _, k := range phases {
		begin, end = min(begin, c.phases.List[k].Begin), max(end, c.phases.List[k].End)
	}
	return begin, end
}

// totalsOf asks for the times in some phases, or takes those at hand.
func (c *court) totalsOf(phases []int) (*totals, error) {
	if len(phases) == 0 || len(phases) == len(c.phases.List) {
		return c.table, nil
	}
	begin, end := c.phaseWindow(phases)
	return c.totals(c.ctx, store.Window{Begin: begin, End: end, Locations: c.window.Locations})
}

// phaseWords says which phases: "in all 3 phases (ProfilerStep#3 to 5)".
func (c *court) phaseWords(phases []int) string {
	list := c.phases.List
	n := len(phases)
	switch {
	case n == 0 || len(list) == 1:
		return ""
	case n == 1:
		return " in " + list[phases[0]].Name
	}
	span := list[phases[0]].Name + " to " + number(list[phases[n-1]].Name)
	whole := phases[n-1]-phases[0]+1 == n
	switch {
	case n == len(list):
		return " in all " + view.Count(n, "phase") + " (" + span + ")"
	case whole:
		return " in " + view.Count(n, "phase") + " (" + span + ")"
	}
	return " in " + view.Thousands(int64(n)) + " of " + view.Count(len(list), "phase") + " between " + list[phases[0]].Name + " and " + number(list[phases[n-1]].Name)
}

// number is the number at the end of a phase's name, or the name.
func number(name string) string {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	if i == len(name) || i == 0 {
		return name
	}
	return name[i:]
}

func (c *court) phaseNames(phases []int) []string {
	out := []string{}
	for _, k := range phases {
		out = append(out, c.phases.List[k].Name)
	}
	return out
}
