package diagnose

// Fault: phases in which all units take longer alike.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findSlowPhases: phases in which all units take longer alike, so that no unit waits for another: from some phase on
// (a change), in every n-th phase (a period), or in a few.
func findSlowPhases(c *diagnosis) error {
	if c.profile || c.spans || c.phases == nil || c.alike.what == "GPUs" || c.toldKind(finding.Growth) {
		return nil
	}
	if c.phases.Sliced { // no region marks steps: collectives do
		rounds, region, err := c.rounds()
		if err != nil || rounds == nil {
			return err
		}
		c.round = region
		defer func(p *phase.Phases) { c.phases = p }(c.phases)
		c.phases = rounds
	}
	if len(c.phases.List) < fewestPhases {
		return nil
	}
	lengths := c.phaseLengths()
	slow, ok := finding.SlowOnes(lengths)
	if !ok {
		return nil
	}
	extra := 0.0
	for _, k := range slow.At {
		extra += lengths[k] - slow.Usual
	}
	lost := extra * float64(len(c.units))
	hit := extra / float64(c.length)
	if finding.LevelOf(hit) == finding.Low {
		return nil
	}
	return c.tellSlowPhases(&slow, lost, hit)
}

// fewestPhases is how many phases it takes to know the usual length.
const fewestPhases = 8

// phaseLengths returns the length of each phase: the median over units.
func (c *diagnosis) phaseLengths() []float64 { return lengthsOf(c.phases) }

func lengthsOf(p *phase.Phases) []float64 {
	n := len(p.List)
	out, each := make([]float64, n), make([]float64, p.Units)
	for k := range n {
		for u := range p.Units {
			each[u] = float64(p.Span(u, k).Length())
		}
		out[k] = orderstat.Median(each)
	}
	return out
}

// rounds are the phases from one call of a collective to the next, of the collective that comes most regularly; nil
// where no collective is called equally often by all units.
func (c *diagnosis) rounds() (best *phase.Phases, region trace.RegionID, err error) {
	if !c.followed() || c.src == nil || c.src.Intervals > mostScanned {
		return nil, trace.NoRegion, nil
	}
	region = trace.NoRegion
	least := math.Inf(1)
	for r := range c.regions {
		calls := c.callsOf(trace.RegionID(r))
		if !waiting.IsCollective(&c.regions[r]) || calls <= fewestPhases {
			continue
		}
		p, _, err := c.src.Cut(&phase.Marker{Regions: []trace.RegionID{trace.RegionID(r)}, By: c.regions[r].Name}, 0)
		if err != nil {
			return nil, trace.NoRegion, err
		}
		if p.Step > 1 || p.Spans == nil || len(p.List) != calls {
			continue
		}
		p = toTheNext(p)
		if s := finding.Spread(lengthsOf(p)); s < least {
			best, least, region = p, s, trace.RegionID(r)
		}
	}
	return best, region, nil
}

// callsOf is how often each unit calls a region; 0 where not all call it equally often.
func (c *diagnosis) callsOf(r trace.RegionID) int {
	calls := make([]float64, len(c.units))
	for i, of := range c.table.region {
		if of == r {
			calls[c.unitOf[c.rows[c.table.row[i]]]] += c.table.calls[i]
		}
	}
	if slices.Min(calls) != slices.Max(calls) {
		return 0
	}
	return int(calls[0])
}

// toTheNext are the phases from the begin of each phase to that of the next.
func toTheNext(p *phase.Phases) *phase.Phases {
	n := len(p.List)
	out := &phase.Phases{Units: p.Units, By: p.By, Count: n - 1, Step: 1}
	for k := range n - 1 {
		out.List = append(out.List, phase.Phase{Name: fmt.Sprintf("round %d of %s", k+1, p.By), Begin: p.List[k].Begin,
			End: p.List[k+1].Begin})
	}
	for u := range p.Units {
		for k := range n - 1 {
			out.Spans = append(out.Spans, phase.Span{Begin: p.Span(u, k).Begin, End: p.Span(u, k+1).Begin})
		}
	}
	return out
}

func (c *diagnosis) toldKind(k finding.Kind) bool {
	return slices.ContainsFunc(c.list, func(f finding.Finding) bool { return f.Kind == k })
}

func (c *diagnosis) tellSlowPhases(slow *finding.Slow, lost, hit float64) error {
	name, ids, own, usual, err := c.slowRegion(slow)
	if err != nil || c.heldUp(slow, lost) {
		return err
	}
	list := c.phases.List
	mean, beyond, each := 0.0, spread{}, c.phaseLengths()
	for _, k := range slow.At {
		mean += each[k] / float64(len(slow.At))
		beyond.add(each[k] - slow.Usual)
	}
	first, last := slow.At[0], slow.At[len(slow.At)-1]
	kind, lead := finding.SlowPhase, ""
	lengths := c.lengthsQuery
	slowOnes := "k in (" + places(slow.At) + ")"
	usually := lengths("median(t)", "")
	if slow.Since {
		usually = lengths("median(t)", fmt.Sprintf(" where k < %d", first))
	}
	longer := ""
	if usually != "" {
		longer = fmt.Sprintf("select (select (%s) - %d * (%s)) * %d", lengths("total(t)", " where "+slowOnes),
			len(slow.At), usually, len(c.units))
	}
	evidence := []finding.Evidence{{Name: "slow phases", Value: float64(len(slow.At)), Unit: "count"},
		{Name: "phases", Value: float64(len(list)), Unit: "count"}}
	units := "All " + words.Count(len(c.units), c.unitWord())
	if len(c.units) == 1 {
		units = "The run"
	}
	takes := words.Plural(len(c.units), "takes", "take")
	switch {
	case slow.Since:
		lead = fmt.Sprintf("%s %s longer from %s on", units, takes, list[first].Name)
	case slow.Period > 1:
		kind = finding.Periodic
		lead = fmt.Sprintf("%s %s longer in every %d%s phase (%s phases between %s and %s)", units, takes, slow.Period,
			ordinal(slow.Period), words.Thousands(int64(len(slow.At))), list[first].Name, number(list[last].Name))
		evidence = append(evidence, finding.Evidence{Name: "period", Value: float64(slow.Period), Unit: "count"})
	case len(slow.At) == 1:
		lead = fmt.Sprintf("%s %s longer in %s", units, takes, list[first].Name)
	default:
		lead = fmt.Sprintf("%s %s longer%s", units, takes, c.phaseWords(slow.At))
	}
	evidence = append(evidence, finding.Evidence{Name: "a slow phase, mean", Value: mean, Unit: "ns",
		From: lengths("avg(t)", " where "+slowOnes)},
		finding.Evidence{Name: "a phase, usually", Value: slow.Usual, Unit: "ns", From: usually},
		finding.Evidence{Name: "longer, all together", Value: lost, Unit: "ns", From: longer})
	text := fmt.Sprintf("%s: %s per phase instead of %s, %s more in all", lead, words.FormatDuration(mean),
		words.FormatDuration(slow.Usual), words.FormatDuration(lost))
	switch {
	case name == notRecorded:
		text += fmt.Sprintf(". %s of it is unrecorded work", capitalWord(mostWord(own-usual, mean-slow.Usual)))
	case name != "":
		text += fmt.Sprintf(". %s of it is in %s, %s per phase instead of %s",
			capitalWord(mostWord(own-usual, mean-slow.Usual)), words.Middle(name), words.FormatDuration(own),
			words.FormatDuration(usual))
		inside, outside := c.insideQuery(slow, ids)
		evidence = append(evidence,
			finding.Evidence{Name: name + " in a slow phase", Value: own, Unit: "ns", From: inside},
			finding.Evidence{Name: name + " in the others", Value: usual, Unit: "ns", From: outside})
	}
	begin, end := c.phaseWindow(slow.At)
	c.add(finding.Finding{Kind: kind, Severity: finding.LevelOf(hit), Lost: trace.Time(lost), Hit: hit,
		Text: text + ".",
		View: "phases", Options: c.phaseOption(), Phases: c.phaseNames(slow.At), Evidence: evidence,
		Selection: finding.Selection{Begin: begin, End: end, Regions: ids}}, nil)
	c.gainOfRun(lost/float64(len(c.units)), "these phases took as long as the others", beyond)
	return nil
}

// heldUp reports whether earlier findings explain half of it: then all wait for one unit in these phases.
func (c *diagnosis) heldUp(slow *finding.Slow, lost float64) bool {
	told := 0.0
	begin, end := c.phaseWindow(slow.At)
	for i := range c.list {
		f := &c.list[i]
		if f.Severity != finding.Low && f.Selection.Begin < end && begin < f.Selection.End {
			told += float64(f.Lost)
		}
	}
	return told > lost/2
}

// slowRegion is the region in which units spend most time more in slow phases than in the others, with its time in a
// phase of either kind.
func (c *diagnosis) slowRegion(slow *finding.Slow) (name string, ids []trace.RegionID, own, usual float64, err error) {
	if c.accounts.work == nil {
		return "", nil, 0, 0, nil
	}
	inside := make([]float64, len(c.accounts.regionNames))
	covered := trace.Time(0)
	for _, w := range c.windowsOf(slow) {
		t, err := c.totals(c.ctx, w)
		if err != nil {
			return "", nil, 0, 0, err
		}
		for j, r := range t.region {
			inside[c.accounts.number[r]] += t.exclusive[j]
		}
		covered += w.End - w.Begin
	}
	each := float64(len(slow.At) * len(c.units))
	rest := float64((len(c.phases.List) - len(slow.At)) * len(c.units))
	inside[0] = max(float64(covered)*float64(len(c.rows))-sumOf(inside[1:]), 0)
	best := -1
	more := 0.0
	for k := range inside {
		all := 0.0
		for _, t := range c.accounts.work[k] {
			all += float64(t)
		}
		a, b := inside[k]/each, max(all-inside[k], 0)/max(rest, 1)
		if a-b > more && c.accounts.role[k] != trace.RoleCommunication &&
			c.accounts.role[k] != trace.RoleSynchronization {
			best, more, own, usual = k, a-b, a, b
		}
	}
	if best < 0 {
		return "", nil, 0, 0, nil
	}
	return c.accounts.regionNames[best], c.accounts.ids[best], own, usual, nil
}

// windowsOf are the times of slow phases; neighbours are one.
func (c *diagnosis) windowsOf(slow *finding.Slow) (list []store.Window) {
	for i := 0; i < len(slow.At); {
		k := i
		for k+1 < len(slow.At) && slow.At[k+1] == slow.At[k]+1 {
			k++
		}
		list = append(list, store.Window{Begin: c.phases.List[slow.At[i]].Begin, End: c.phases.List[slow.At[k]].End,
			Locations: c.window.Locations})
		i = k + 1
	}
	return list
}

// insideQuery asks for the time of a unit in regions, in a slow phase and in one of the others.
func (c *diagnosis) insideQuery(slow *finding.Slow, ids []trace.RegionID) (inside, outside string) {
	var parts []string
	for _, w := range c.windowsOf(slow) {
		parts = append(parts, "("+sumQuery("total(exclusive)", c.timesIn(w.Begin, w.End, ids))+")")
	}
	whole := sumQuery("total(exclusive)", c.times(ids))
	if whole == "" || len(parts) > mostParts {
		return "", ""
	}
	slowTime, n := strings.Join(parts, " + "), len(c.units)
	rest := max((len(c.phases.List)-len(slow.At))*n, 1)
	return fmt.Sprintf("select (%s) / %d", slowTime, len(slow.At)*n),
		fmt.Sprintf("select max((%s) - (%s), 0) / %d", whole, slowTime, rest)
}

// lengthsQuery asks for something of the lengths t of phases k, each the median over units. Phases are those of the
// table, or from one call of a collective to the next.
func (c *diagnosis) lengthsQuery(what, where string) string {
	if c.round == trace.NoRegion {
		phases := c.phaseTable()
		if phases == "" {
			return ""
		}
		return fmt.Sprintf("with p as (select distinct unit, number as k, \"end\" - begin as d from %s), l as "+
			"(select k, median(d) as t from p group by 1) select %s from l%s", phases, what, where)
	}
	key, _, ok := c.unitKey()
	if !ok || !c.window.Whole(c.store) {
		return ""
	}
	return fmt.Sprintf("with c as (select %s as u, begin as b, lead(begin) over (partition by %s order by begin) as "+
		"n, row_number() over (partition by %s order by begin) - 1 as k from intervals where region_id = %d), l as "+
		"(select k, median(n - b) as t from c where n is not null group by 1) select %s from l%s", key, key, key,
		c.round, what, where)
}

func sumOf(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// ordinal is the ending of a number: 2nd, 3rd, 10th.
func ordinal(n int) string {
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		return "st"
	case n%10 == 2:
		return "nd"
	case n%10 == 3:
		return "rd"
	}
	return "th"
}
