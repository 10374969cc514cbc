package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// classes are the kinds of locations that most units have, with their load.
func (c *court) classes() (names []string, loads map[string]*finding.Load) {
	n := len(c.phases.List)
	loads = map[string]*finding.Load{}
	units := map[string]map[int32]bool{}
	for row, id := range c.rows {
		k, u := c.class[row], c.unitOf[id]
		l := loads[k]
		if l == nil {
			l = &finding.Load{Units: len(c.units), Phases: n, Busy: make([]trace.Time, len(c.units)*n), Sliced: c.phases.Sliced}
			loads[k], units[k] = l, map[int32]bool{}
			names = append(names, k)
		}
		units[k][u] = true
		for p := range n {
			l.Busy[int(u)*n+p] += c.cells.Busy[row*n+p]
		}
	}
	names = slices.DeleteFunc(names, func(k string) bool { return 4*len(units[k]) < 3*len(c.units) })
	slices.Sort(names)
	return names, loads
}

// stragglers: units that are busy longer while the others wait for them.
func (c *court) stragglers() error {
	if len(c.units) < 4 || c.budget.Sum() == 0 {
		return nil
	}
	names, loads := c.classes()
	worth := map[string]trace.Time{}
	for _, k := range names {
		trial := &finding.Budget{Units: c.budget.Units, Phases: c.budget.Phases, Left: slices.Clone(c.budget.Left)}
		for _, s := range finding.Stragglers(loads[k], trial) {
			worth[k] = max(worth[k], s.Lost)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(worth[b], worth[a]) })
	asked := 0
	for _, k := range names {
		if worth[k] == 0 {
			continue
		}
		list := finding.Stragglers(loads[k], c.budget)
		slices.SortStableFunc(list, func(a, b finding.Straggle) int { return cmp.Compare(b.Lost, a.Lost) })
		for i := range list {
			s := &list[i]
			hit := float64(s.Lost) / (float64(len(s.Victims)) * float64(c.length))
			if len(s.Victims) == 0 || finding.LevelOf(hit) == finding.Low || float64(s.Lost) < leastShare*float64(c.length)*float64(len(c.units)) || c.known(s.Units) || asked >= 3 {
				continue
			}
			asked++
			if err := c.straggle(s, k, loads[k], hit); err != nil {
				return err
			}
		}
	}
	return nil
}

// straggle words one group of stragglers.
func (c *court) straggle(s *finding.Straggle, class string, l *finding.Load, hit float64) error {
	t, err := c.totalsOf(s.Phases)
	if err != nil {
		return err
	}
	r, ok := c.explain(t, s.Units, class, true)
	if !ok {
		r = busyReason(l, s)
	}
	waits, _, _ := c.waitsIn(t, s.Units)
	text := fmt.Sprintf("%s %s up the other %s%s: %s, and the others wait %s%s.",
		capital(c.named(s.Units)), plural(len(s.Units), "holds", "hold"), view.Thousands(int64(len(c.units)-len(s.Units))), c.phaseWords(s.Phases),
		r.against(len(s.Units)), view.FormatTime(s.Lost), in(waits))
	begin, end := c.phaseWindow(s.Phases)
	c.add(finding.Finding{
		Kind: finding.Straggler, Severity: finding.LevelOf(hit), Lost: s.Lost, Hit: hit, Text: text, View: "phases", Options: c.phaseOption(),
		Selection: finding.Selection{Begin: begin, End: end, Locations: c.locations(s.Units), Regions: []trace.RegionID{}},
		Phases:    c.phaseNames(s.Phases),
		Evidence:  append(r.evidence(), finding.Evidence{Name: waitedByOthers, Value: float64(s.Lost), Unit: "ns"}, finding.Evidence{Name: "units that wait", Value: float64(len(s.Victims)), Unit: "count"}, finding.Evidence{Name: "distance from the others (robust standard deviations)", Value: s.Score}),
	}, s.Units)
	return nil
}

// busyReason is the busy time as such.
func busyReason(l *finding.Load, s *finding.Straggle) reason {
	in := map[int32]bool{}
	for _, u := range s.Units {
		in[u] = true
	}
	r := reason{what: "work"}
	var others []float64
	for u := range l.Units {
		sum := trace.Time(0)
		for _, k := range s.Phases {
			sum += l.At(u, k)
		}
		if in[int32(u)] {
			r.mean += float64(sum) / float64(len(s.Units))
			continue
		}
		others = append(others, float64(sum))
	}
	slices.Sort(others)
	r.low, r.high, r.median = others[0], others[len(others)-1], finding.Median(others)
	return r
}

// against says a reason in words: "kernels take 102 ms on it against 3.6 to 31.6 ms".
func (r *reason) against(n int) string {
	on := "on it"
	if n > 1 {
		on = "on each"
	}
	verb := "takes"
	if r.what == "kernels" || r.what == "copies" || strings.HasPrefix(r.what, "operators") || strings.HasPrefix(r.what, "regions of") {
		verb = "take"
	}
	others := view.FormatDuration(r.median) + " on the others"
	switch low, high := view.FormatDuration(r.low), view.FormatDuration(r.high); {
	case r.high == 0 && !r.used:
		return fmt.Sprintf("%s %s %s %s, and the others are never in it", middle(r.what), verb, view.FormatDuration(r.mean), on)
	case r.high > r.mean: // not the longest of all
		others = view.FormatDuration(r.median) + " in the middle of the others"
	case low != high:
		others = between(r.low, r.high) + " on the others"
	}
	return fmt.Sprintf("%s %s %s %s against %s", middle(r.what), verb, view.FormatDuration(r.mean), on, others)
}

func (r *reason) evidence() []finding.Evidence {
	return []finding.Evidence{
		{Name: r.what, Value: r.mean, Unit: "ns"}, {Name: r.what + " on the others, least", Value: r.low, Unit: "ns"},
		{Name: r.what + " on the others, median", Value: r.median, Unit: "ns"}, {Name: r.what + " on the others, most", Value: r.high, Unit: "ns"},
	}
}

// arrivals: units that come last to collectives, beyond what their work explains.
func (c *court) arrivals() error {
	if c.untimed || c.waits == nil || len(c.waits.Meetings) == 0 {
		return nil
	}
	type late struct {
		unit    int32
		phases  map[int]trace.Time
		lost    trace.Time
		victims map[int32]bool
		regions map[trace.RegionID]trace.Time
		times   []trace.Time
	}
	by := map[int32]*late{}
	meetings := slices.Clone(c.waits.Meetings)
	slices.SortStableFunc(meetings, func(a, b waiting.Meeting) int { return cmp.Compare(b.Waited, a.Waited) })
	for i := range meetings {
		m := &meetings[i]
		x := by[m.Cause]
		if x == nil {
			x = &late{unit: m.Cause, phases: map[int]trace.Time{}, victims: map[int32]bool{}, regions: map[trace.RegionID]trace.Time{}}
			by[m.Cause] = x
		}
		sum := trace.Time(0) // the largest come first
		for k := range m.Calls {
			call := &m.Calls[k]
			w := m.Wait(call)
			p := c.phases.Find(int(call.Unit), call.Begin)
			if p >= 0 {
				w = c.budget.Take(int(call.Unit), p, w)
				x.phases[p] += w
			}
			if w > 0 && call.Unit != m.Cause {
				sum += w
				x.victims[call.Unit] = true
				x.regions[call.Region] += w
			}
		}
		if sum > 0 {
			x.times = append(x.times, sum)
			x.lost += sum
		}
	}
	list := make([]*late, 0, len(by))
	for _, x := range by {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *late) int { return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.unit, b.unit)) })
	scale := c.scale()
	for _, x := range list[:min(len(list), 3)] {
		if len(x.victims) == 0 {
			continue
		}
		lost := trace.Time(float64(x.lost) * scale)
		hit := float64(lost) / (float64(len(x.victims)) * float64(c.length))
		if finding.LevelOf(hit) == finding.Low || c.blamed[x.unit] {
			continue
		}
		phases := mostOf(x.phases, x.lost)
		times := 0 // that matter
		for _, w := range x.times {
			if float64(w) >= 0.05*float64(x.times[0]) {
				times++
			}
		}
		t, err := c.totalsOf(phases)
		if err != nil {
			return err
		}
		units := []int32{x.unit}
		why := ""
		evidence := []finding.Evidence{{Name: waitedByOthers, Value: float64(lost), Unit: "ns"}, {Name: "collectives", Value: float64(times), Unit: "count"}, {Name: "units that wait", Value: float64(len(x.victims)), Unit: "count"}}
		if r, ok := c.explain(t, units, "", false); ok && r.clear() && r.excess() > 0.25*float64(x.lost)/float64(len(x.victims)) {
			why = "; " + r.against(1)
			evidence = append(evidence, r.evidence()...)
		}
		region := most(x.regions)
		begin, end := c.phaseWindow(phases)
		if len(phases) == 0 {
			begin, end = c.window.Begin, c.window.End
		}
		text := fmt.Sprintf("%s arrives last at %s%s: %s wait %s for it in %s%s.", capital(c.named(units)), view.Count(times, "collective"), c.phaseWords(phases),
			others(len(x.victims), len(c.units)-1), view.FormatTime(lost), middle(c.regions[region].Name), why)
		c.add(finding.Finding{Kind: finding.Straggler, Severity: finding.LevelOf(hit), Lost: lost, Hit: hit, Text: text, View: "phases", Options: c.phaseOption(), Phases: c.phaseNames(phases), Evidence: evidence,
			Selection: finding.Selection{Begin: begin, End: end, Locations: c.locations(units)}}, units)
	}
	return nil
}

// mostOf gives the phases that hold nearly all of a sum, in order.
func mostOf(phases map[int]trace.Time, sum trace.Time) []int {
	var list []int
	for k, t := range phases {
		if float64(t) >= 0.1*float64(sum) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		for k, t := range phases {
			if t > 0 {
				list = append(list, k)
			}
		}
	}
	slices.Sort(list)
	return list
}

// most is the region with the most time, the lowest of equal ones.
func most(m map[trace.RegionID]trace.Time) trace.RegionID {
	best := trace.NoRegion
	for r, t := range m {
		if best == trace.NoRegion || t > m[best] || t == m[best] && r < best {
			best = r
		}
	}
	return best
}

// phaseOption passes on what cut the run, so that the view shows the same phases.
func (c *court) phaseOption() map[string][]string {
	if how := c.request.Values.Text("phase"); how != "" && how != "auto" {
		return map[string][]string{"phase": {how}}
	}
	return map[string][]string{}
}
