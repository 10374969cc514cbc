package diagnose

// Fault: units come last to collectives, later than their work explains.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A latecomer is a unit that comes last to collectives.
type latecomer struct {
	unit    int32
	phases  map[int]trace.Time
	lost    trace.Time
	victims map[int32]trace.Time
	regions map[trace.RegionID]trace.Time
	times   []trace.Time
}

// findLateArrivals finds units that come last to collectives, later than their work explains. It names a
// unit if it does something the others do not, or costs clearly more than any other; losses by different
// units in turn are jitter, and no unit's fault.
func findLateArrivals(c *diagnosis) error {
	if !c.summed() {
		return nil
	}
	if c.untimed {
		return nil
	}
	waits, err := c.pairs(c.ctx)
	if err != nil || waits == nil || len(waits.Meetings) == 0 {
		return err
	}
	list := latecomers(c, waits.Meetings)
	lost := make([]float64, len(c.units))
	for _, x := range list {
		lost[x.unit] = float64(x.lost)
	}
	apart := finding.Upper(lost)
	var many []*latecomer
	named := 0
	for _, x := range list {
		if len(x.victims) == 0 || c.blamed[x.unit] {
			continue
		}
		told := false
		if named < mostLate {
			var err error
			if told, err = wordLateArrival(c, x, slices.Contains(apart, x.unit)); err != nil {
				return err
			}
		}
		if told {
			named++
		} else {
			many = append(many, x)
		}
	}
	wordManyArrivals(c, many)
	return nil
}

// latecomers charges the waiting at collectives to the unit that came last, the most expensive first.
func latecomers(c *diagnosis, meetings []waiting.Meeting) []*latecomer {
	by := map[int32]*latecomer{}
	meetings = slices.Clone(meetings)
	slices.SortStableFunc(meetings, func(a, b waiting.Meeting) int { return cmp.Compare(b.Waited, a.Waited) })
	for i := range meetings {
		m := &meetings[i]
		x := by[m.Cause]
		if x == nil {
			x = &latecomer{unit: m.Cause, phases: map[int]trace.Time{}, victims: map[int32]trace.Time{},
				regions: map[trace.RegionID]trace.Time{}}
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
				x.victims[call.Unit] += w
				x.regions[call.Region] += w
				if c.late != nil {
					c.late(&LateRow{i, c.units[m.Cause], c.units[call.Unit], c.regions[call.Region].Name, call.Begin,
						w})
				}
			}
		}
		if sum > 0 {
			x.times = append(x.times, sum)
			x.lost += sum
		}
	}
	list := make([]*latecomer, 0, len(by))
	for _, x := range by {
		list = append(list, x)
	}
	slices.SortFunc(list,
		func(a, b *latecomer) int { return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.unit, b.unit)) })
	return list
}

// matter counts the collectives that cost at least a twentieth of the dearest.
func (x *latecomer) matter() (n int) {
	for _, w := range x.times {
		if float64(w) >= 0.05*float64(slices.Max(x.times)) {
			n++
		}
	}
	return n
}

// spread is that of the waits at collectives.
func (x *latecomer) spread() (s spread) {
	for _, t := range x.times {
		s.add(float64(t))
	}
	return s
}

// wordLateArrival words one unit; false if it costs too little, or neither costs clearly
// more than the others nor does anything that they do not.
func wordLateArrival(c *diagnosis, x *latecomer, apart bool) (bool, error) {
	lost := trace.Time(float64(x.lost) * c.scale())
	hit := float64(lost) / (float64(len(x.victims)) * float64(c.length))
	if finding.LevelOf(hit) == finding.Low {
		return false, nil
	}
	phases, times := mostOf(x.phases, x.lost), x.matter()
	t, err := c.totalsOf(phases)
	if err != nil {
		return false, err
	}
	units := []int32{x.unit}
	why, region := "", most(x.regions)
	doing := before(c, region)
	evidence := []finding.Evidence{
		{Name: waitedByOthers, Value: float64(lost), Unit: "ns", From: c.lateQuery("total(t) from m", units)},
		{Name: "collectives", Value: float64(times), Unit: "count",
			From: c.lateQuery("count(*) from m where t >= 0.05 * (select max(t) from m)", units)},
		{Name: "units that wait", Value: float64(len(x.victims)), Unit: "count",
			From: c.lateQuery("count(distinct unit) from l where time > 0", units)},
		{Name: "others in all", Value: float64(len(c.units) - 1), Unit: "count",
			From: c.countQuery(c.allUnits(x.unit))}}
	if r, ok := c.reasons(t).explain(units, "", false); ok && r.clear() &&
		r.excess() > 0.25*float64(x.lost)/float64(len(x.victims)) {
		why, doing = ". Reason: "+r.against(1), r.what
		evidence = append(evidence, r.evidence()...)
	}
	if why == "" && !apart {
		return false, nil
	}
	c.charge(finding.Straggler, c.locations(units), doing, lost, x.victims)
	begin, end := c.phaseWindow(phases)
	if len(phases) == 0 {
		begin, end = c.window.Begin, c.window.End
	}
	text := fmt.Sprintf("%s arrives last at %s%s: %s wait a total of %s for it in %s%s.", capital(c.named(units)),
		words.Count(times, "collective"), c.phaseWords(phases),
		others(len(x.victims), len(c.units)-1), words.FormatTime(lost), words.Middle(c.regions[region].Name), why)
	c.add(finding.Finding{Kind: finding.Straggler, Severity: finding.LevelOf(hit), Lost: lost, Hit: hit, Text: text,
		View: "phases", Options: c.phaseOption(), Phases: c.phaseNames(phases), Evidence: evidence,
		Selection: finding.Selection{Begin: begin, End: end, Locations: c.locations(units)}}, units)
	c.gainOfRun(float64(lost)/float64(len(x.victims)), c.likeOthers(units), x.spread())
	return true, nil
}

// before names the time before a collective, in which who comes last did something else.
func before(c *diagnosis, collective trace.RegionID) string {
	if collective == trace.NoRegion {
		return ""
	}
	return "before " + c.regions[collective].Name
}

// wordManyArrivals words the cost of units that come last now and then.
func wordManyArrivals(c *diagnosis, list []*latecomer) {
	sum, times, all := trace.Time(0), 0, spread{}
	victims, regions := map[int32]bool{}, map[trace.RegionID]trace.Time{}
	for _, x := range list {
		sum += x.lost
		times += len(x.times)
		for _, t := range x.times {
			all.add(float64(t))
		}
		for v := range x.victims {
			victims[v] = true
		}
		for r, t := range x.regions {
			regions[r] += t
		}
	}
	if len(list) < 2 || len(victims) == 0 {
		return
	}
	lost := trace.Time(float64(sum) * c.scale())
	hit := float64(lost) / (float64(len(victims)) * float64(c.length))
	if finding.LevelOf(hit) == finding.Low {
		return
	}
	first, region := float64(list[0].lost)/float64(sum), most(regions)
	var units []int32
	for _, x := range list {
		units = append(units, x.unit)
	}
	name := words.Middle(c.regions[region].Name)
	kind := finding.Jitter
	told := wordLengths(c, lost, region)
	if told {
		kind = finding.Imbalance
	}
	for _, x := range list {
		c.charge(kind, c.locations([]int32{x.unit}), before(c, most(x.regions)),
			trace.Time(float64(x.lost)*c.scale()), x.victims)
	}
	if told {
		return
	}
	c.add(finding.Finding{Kind: finding.Jitter, Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: lost,
		Hit: hit, View: "phases", Options: c.phaseOption(),
		Text: fmt.Sprintf("The last %s to arrive at collectives changes: %d of %d come last in turn. The others "+
			"wait a "+
			"total of %s for them in %s. No %s causes more than %s of that.", c.unitWord(), len(list), len(c.units),
			words.FormatTime(lost), name, c.unitWord(), words.FormatShare(first)),
		Evidence: []finding.Evidence{
			{Name: waitedByOthers, Value: float64(lost), Unit: "ns", From: c.lateQuery("total(t) from m", units)},
			{Name: "units that cause it", Value: float64(len(list)), Unit: "count"},
			{Name: "caused by " + c.names[list[0].unit] + ", the most of one", Value: first, Unit: "share",
				From: c.lateQuery("max(s) / total(s) from (select total(t) as s from m group by cause)", units)},
			{Name: "collectives", Value: float64(times), Unit: "count", From: c.lateQuery("count(*) from m", units)},
			{Name: "units that wait", Value: float64(len(victims)), Unit: "count",
				From: c.lateQuery("count(distinct unit) from l where time > 0", units)}},
		Selection: finding.Selection{Regions: []trace.RegionID{region}}}, nil)
	c.gainOfRun(float64(lost)/float64(len(victims)), fmt.Sprintf("all %ss came at once", c.unitWord()),
		all)
}
