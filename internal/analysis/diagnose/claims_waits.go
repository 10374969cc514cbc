package diagnose

// Claims of faults that others wait for: their sentence, their numbers and their queries.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// tell words a fault and adds it to the findings.
func (a *culprits) tell(f *fault, kind finding.Kind) error {
	for _, r := range f.rows {
		a.told[causeKey{r.Actor, r.Region}] = kind
	}
	phases := a.phasesOf(f)
	t, err := a.totalsOf(phases)
	if err != nil {
		return err
	}
	hit := a.share(f)
	level := finding.LevelOf(hit)
	if float64(f.lost) < 5*leastShare*float64(a.length)*float64(len(a.units)) {
		level = level.AtMost(finding.Medium) // a few of very many
	}
	n := finding.Finding{Kind: kind, Severity: level, Lost: f.lost, Hit: hit, View: "phases", Options: a.phaseOption(),
		Phases: a.phaseNames(phases)}
	n.Selection.Begin, n.Selection.End = a.span(f)
	n.Evidence = a.waitEvidence(f)
	blamed := f.units
	switch kind {
	case finding.Rotating, finding.Jitter, finding.Imbalance:
		a.tellMany(f, kind, &n)
		blamed = nil
	case finding.Lock:
		blamed = a.tellLock(f, &n)
	case finding.Growth:
		if len(f.units)*2 > len(a.units) {
			a.tellMany(f, kind, &n)
			blamed = nil
			break
		}
		a.tellSome(f, kind, t, phases, &n)
	default:
		a.tellSome(f, kind, t, phases, &n)
	}
	a.add(n, blamed)
	a.remove(f, kind, blamed)
	return nil
}

// waitEvidence is how long and by how many a fault is waited for.
func (a *culprits) waitEvidence(f *fault) []finding.Evidence {
	blamed := a.locations(f.units)
	not := func(units []trace.LocationID) string {
		if len(units) == 0 || len(units) == mostChosen {
			return ""
		}
		return " and unit not in (" + numbers(units) + ")"
	}
	return []finding.Evidence{
		{Name: waitedByOthers, Value: float64(f.lost), Unit: "ns", From: a.waitQuery(f, "total(time)", "")},
		{Name: "units that wait", Value: float64(len(f.hit())), Unit: "count", From: a.hitQuery(f, "")},
		{Name: "of it, indirectly", Value: float64(f.lost - f.direct), Unit: "ns",
			From: a.waitQuery(f, "total(time)", " and not direct")},
		{Name: "others that wait", Value: float64(a.outside(f)), Unit: "count", From: a.hitQuery(f, not(blamed))},
		{Name: "others in all", Value: float64(len(a.units) - len(f.units)), Unit: "count",
			From: a.countQuery(a.allUnits(f.units...))}}
}

// waitQuery asks for something of the waits for a fault.
func (a *culprits) waitQuery(f *fault, what, where string) string {
	causes := a.waitsFor(causesOfFault(f))
	if causes == "" {
		return ""
	}
	return sumQuery(what, a.waitTable()+" where "+causes+where)
}

// hitQuery counts the units that wait for a fault, see fault.hit.
func (a *culprits) hitQuery(f *fault, where string) string {
	waits := a.waitQuery(f, "unit, total(time) as t", "")
	if waits == "" || a.accounts.result.Fold > 1 {
		return ""
	}
	return fmt.Sprintf("with w as (%s group by 1) select count(*) from w where t > 0 and 20 * t >= "+
		"(select max(t) from w)%s", waits, where)
}

// countQuery counts units.
func (a *facts) countQuery(units []int32) string {
	key, value, ok := a.unitKey()
	if !ok || len(units) > mostNumbers || len(units) == 0 {
		return ""
	}
	if key == "location" {
		key = "id"
	}
	list := make([]string, len(units))
	for i, u := range units {
		list[i] = fmt.Sprint(value(u))
	}
	return fmt.Sprintf("select count(distinct %s) from locations where %s in (%s)", key, key, strings.Join(list, ", "))
}

// mostOfOneQuery asks for the largest part of a fault that one unit causes.
func (a *culprits) mostOfOneQuery(f *fault) string {
	waits := a.waitQuery(f, "cause_unit, total(time) as t", "")
	if waits == "" {
		return ""
	}
	return fmt.Sprintf("with w as (%s group by 1) select max(t) / total(t) from w", waits)
}

// causesQuery counts the units that cause at least a hundredth of a fault.
func (a *culprits) causesQuery(f *fault) string {
	waits := a.waitQuery(f, "cause_unit, total(time) as t", "")
	if waits == "" {
		return ""
	}
	return fmt.Sprintf("with w as (%s group by 1) select count(*) from w where 100 * t >= (select total(t) from w)",
		waits)
}

// tellSome words a fault of some units.
func (a *culprits) tellSome(f *fault, kind finding.Kind, t *totals, phases []int, n *finding.Finding) {
	who, verb := capital(a.named(f.units)), [2]string{"holds up", "hold up"}
	on, it := "on it", "it"
	if len(f.units) > 1 {
		on, it = "on each", "them"
	}
	region := f.cause()
	why := a.reasonOf(f, kind, t, n)
	others := a.waiters(f)
	switch kind {
	case finding.LateSender:
		verb = [2]string{"sends late", "send late"}
	case finding.LateReceiver:
		verb = [2]string{"receives late", "receive late"}
	}
	waits, _, _ := a.reasons(t).waitsIn(f.units, f.waitedIn)
	where, atEnd := a.waitedAt(f, waits, n)
	when := a.when(f, phases)
	if (kind == finding.LateSender || kind == finding.LateReceiver) && len(phases) > 0 &&
		len(phases) < len(a.phases.List) {
		when = a.when(f, nil) // what is passed on reaches later phases than the cause
	}
	switch kind {
	case finding.Serial:
		mean, calls := a.each(region, f.units)
		source := a.times(a.accounts.ids[region])
		n.Evidence = append(n.Evidence,
			finding.Evidence{Name: a.accounts.regionNames[region], Value: mean, Unit: "ns",
				From: a.unitsQuery("avg", "exclusive", source, f.units)},
			finding.Evidence{Name: "calls", Value: calls, Unit: "count",
				From: a.unitsQuery("avg", "calls", source, f.units)})
		does := fmt.Sprintf("%s %s alone", words.Plural(len(f.units), "runs", "run"),
			words.Middle(a.accounts.regionNames[region]))
		if !a.alone[region] { // the others are in it too, at other times
			does = fmt.Sprintf("%s alone in %s", words.Plural(len(f.units), "works", "work"),
				words.Middle(a.accounts.regionNames[region]))
		}
		n.Text = fmt.Sprintf("%s %s%s: %s %s in %s. %s %s for %s%s.", who, does, when,
			words.FormatDuration(mean), on, words.Count(int(calls+0.5), "call"), capital(others), a.waitWords(f), it,
			where)
	case finding.LateSender, finding.LateReceiver:
		n.View, n.Options = "timeline", nil
		n.Text = fmt.Sprintf("%s %s%s: %s %s for %s%s%s.", who, words.Plural(len(f.units), verb[0], verb[1]), when,
			others, a.waitWords(f), it, where, why)
		n.Subjects = a.locations(f.units)
		n.Selection.Locations = a.locations(append(append([]int32{}, f.units...), f.hit()...))
	case finding.StartUp:
		if region == budget.Nothing {
			n.View, n.Options = "timeline", nil
			n.Text = fmt.Sprintf("%s %s %s: %s %s for %s.", who, words.Plural(len(f.units), "begins", "begin"),
				a.lateWords(f.units, n), others, a.waitWords(f), it)
			break
		}
		n.Text = fmt.Sprintf("%s %s late in %s: %s %s for %s%s.", who, words.Plural(len(f.units), "is", "are"),
			words.Middle(a.accounts.regionNames[region]), others, a.waitWords(f), it,
			atEnd+why)
	case finding.IO:
		n.Text = fmt.Sprintf("%s %s and %s%s: %s %s for %s%s%s.", who, words.Plural(len(f.units), "reads", "read"),
			words.Plural(len(f.units), "writes", "write"), when, others, a.waitWords(f), it, where, why)
	case finding.Growth:
		c := finding.CourseOf(f.series)
		n.Evidence = append(n.Evidence, a.growth(f, c)...)
		n.Text = fmt.Sprintf("%s %s slower over time: %s %s for it%s, %s in the first tenth of the run and %s in "+
			"the last%s.", who, words.Plural(len(f.units), "gets", "get"), others, a.waitWords(f), where,
			words.FormatDuration(c.First), words.FormatDuration(c.Last), why)
	case finding.Crowded:
		n.Text = fmt.Sprintf("%s %s on a machine that runs more %ss than the others%s: %s %s for %s%s%s.", who,
			words.Plural(len(f.units), "runs", "run"), a.unitWord(), when, others, a.waitWords(f), it, where, why)
	default:
		n.Text = fmt.Sprintf("%s %s %s%s%s. %s %s for %s%s.", who, words.Plural(len(f.units), verb[0], verb[1]),
			a.otherWords(f), when, why, words.Plural(len(f.hit()), "It", "They"), a.waitWords(f),
			words.Plural(len(f.units), "it", "them"), where)
	}
	if n.Selection.Locations == nil {
		n.Selection.Locations = a.locations(f.units)
	}
}

// waitWords returns "waits 1.50 s", of several units "wait a total of 1.50 s".
func (a *culprits) waitWords(f *fault) string {
	return words.Plural(len(f.hit()), "waits ", "wait a total of ") + words.FormatTime(f.lost)
}

// otherWords describes how many are held up: "15 others".
func (a *culprits) otherWords(f *fault) string {
	return words.Count(a.outside(f), "other")
}

// outside is how many of those who wait are not to blame themselves.
func (a *culprits) outside(f *fault) int {
	in := make(map[int32]bool, len(f.units))
	for _, u := range f.units {
		in[u] = true
	}
	n := 0
	for _, u := range f.hit() {
		if !in[u] {
			n++
		}
	}
	return n
}

// waiters names those who wait where they are few, else says how many of all.
func (a *culprits) waiters(f *fault) string {
	hit := f.hit()
	if len(hit) <= 6 && len(hit)*2 < len(a.units) {
		return a.named(hit)
	}
	return others(a.outside(f), len(a.units)-len(f.units))
}

// each is the mean time and number of calls of a unit in a region.
func (a *culprits) each(region int32, units []int32) (mean, calls float64) {
	if a.accounts.work[region] == nil { // no unit has time of its own in it
		return 0, 0
	}
	for _, u := range units {
		mean += float64(a.accounts.work[region][u]) / float64(len(units))
		calls += a.accounts.calls[region][u] / float64(len(units))
	}
	return mean, calls
}

// reasonOf says the regions in which the culprits take longer than the others: ": compute takes 300 ms on it
// against 199 to 201 ms on the others", and notes it as evidence.
func (a *culprits) reasonOf(f *fault, kind finding.Kind, t *totals, n *finding.Finding) string {
	if kind == finding.StartUp && f.cause() == budget.Nothing { // nothing was recorded that could be compared
		return ""
	}
	r, ok := a.reasons(t).explain(f.units, "", false)
	lead := ": "
	switch kind {
	case finding.Straggler:
	case finding.LateSender, finding.LateReceiver:
		lead = ". Reason: "
		if a.alone[f.cause()] {
			r, ok = a.regionReason(f.cause(), f.units), true
		}
	case finding.Growth, finding.Crowded:
		lead = ". Reason: "
	case finding.StartUp, finding.IO:
		r, ok, lead = a.regionReason(f.cause(), f.units), true, ". Reason: "
	default:
		return ""
	}
	if !ok || r.mean <= r.median {
		r = a.regionReason(f.cause(), f.units)
	}
	if r.mean <= r.median {
		return ""
	}
	n.Evidence = append(r.evidence(), n.Evidence...)
	return lead + r.against(len(f.units))
}

// regionReason compares the time in one region.
func (a *culprits) regionReason(region int32, units []int32) reason {
	r := reason{what: a.accounts.regionWord(region), regions: a.accounts.ids[region], low: 1e300}
	in := make(map[int32]bool, len(units))
	for _, u := range units {
		in[u] = true
	}
	var others []float64
	for u, v := range a.accounts.work[region] {
		if in[int32(u)] {
			r.mean += float64(v) / float64(len(units))
			continue
		}
		others = append(others, float64(v))
		r.low, r.high = min(r.low, float64(v)), max(r.high, float64(v))
		r.used = r.used || v > 0 || a.accounts.calls[region][u] > 0
	}
	if len(others) == 0 {
		r.low = 0
	}
	r.median = orderstat.Median(others)
	a.askFor(&r, a.table, "exclusive", "", units)
	return r
}

// finished says when those wait that have nothing left to do.
const finished = " at the end of the run, after their own last work"

// waitedIn reports whether most waits for a fault can be in calls of a region: late receivers are waited for in sends,
// late senders in other calls that are no collectives.
func (f *fault) waitedIn(g *trace.Region) bool {
	sends := strings.Contains(strings.ToLower(g.Name), "send") && !strings.Contains(strings.ToLower(g.Name), "recv")
	most := budget.Kind(0)
	for k := range budget.Kind(budget.NumKinds) {
		if f.kinds[k] > f.kinds[most] {
			most = k
		}
	}
	switch {
	case 5*f.kinds[most] < 4*f.lost: // mixed
		return true
	case most == budget.LateReceiver:
		return sends
	case most == budget.LateSender:
		return !sends && !waiting.IsCollective(g)
	case most == budget.Collective:
		return waiting.IsCollective(g)
	}
	return true
}

// waitedAt returns the places of waiting for a fault: in regions, and after the end of those who wait; AtEnd is the
// latter alone, where it is most.
func (a *culprits) waitedAt(f *fault, waits []string, n *finding.Finding) (where, atEnd string) {
	after := f.kinds[budget.End]
	if 2*after <= f.lost {
		return in(waits), ""
	}
	part := float64(after) / float64(f.lost)
	n.Evidence = append(n.Evidence, finding.Evidence{Name: "waited at the end of the run", Value: part, Unit: "share",
		From: a.waitQuery(f, "total(iif(kind = 'wait at the end', time, 0)) / total(time)", "")})
	if part > 0.999 || len(waits) == 0 {
		return finished, "," + finished
	}
	atEnd = ", " + words.FormatShare(part) + " of it" + finished
	return atEnd + ", the rest" + in(waits), atEnd
}

// tellMany words a fault that no one in particular is to blame for.
func (a *culprits) tellMany(f *fault, kind finding.Kind, n *finding.Finding) {
	units, cost := a.shares(f)
	first := float64(cost[units[0]]) / float64(f.lost)
	causes := 0 // those that matter
	for _, u := range units {
		if cost[u]*100 >= f.lost {
			causes++
		}
	}
	region := f.cause()
	name := a.accounts.regionWord(region)
	waits, _, _ := a.reasons(a.table).waitsIn(nil, f.waitedIn)
	where := in(waits)
	if 2*f.kinds[budget.End] > f.lost {
		where = ", most of it" + finished
		n.Evidence = append(n.Evidence,
			finding.Evidence{Name: "waited at the end of the run",
				Value: float64(f.kinds[budget.End]) / float64(f.lost), Unit: "share",
				From: a.waitQuery(f, "total(iif(kind = 'wait at the end', time, 0)) / total(time)", "")})
	}
	what := a.unitWord()
	n.Subjects = a.locations(units[:causes])
	n.Selection.Regions = a.accounts.ids[region]
	n.Evidence = append(n.Evidence,
		finding.Evidence{Name: "units that cause it", Value: float64(causes), Unit: "count",
			From: a.causesQuery(f)},
		finding.Evidence{Name: "caused by " + a.names[units[0]] + ", the most of one", Value: first, Unit: "share",
			From: a.mostOfOneQuery(f)},
		finding.Evidence{Name: what + "s", Value: float64(len(a.units)), Unit: "count",
			From: a.countQuery(a.allUnits())})
	switch kind {
	case finding.Rotating:
		n.Text = fmt.Sprintf("Rotating straggler: %d of %d %ss are slow in %s, in turn. The others wait a total of %s "+
			"for them%s. No %s causes more than %s of that.", causes, len(a.units), what, name,
			words.FormatTime(f.lost), where, what, words.FormatShare(first))
	case finding.Jitter:
		if 2*first > 1 { // by chance, but nearly always the same one
			n.Text = fmt.Sprintf("Jitter: %s is sometimes slow, mostly on %s. The others wait a total of %s for it%s, "+
				"%s of that for this %s.", name, a.names[units[0]], words.FormatTime(f.lost), where,
				words.FormatShare(first), what)
			break
		}
		n.Text = fmt.Sprintf("Jitter: %s is sometimes slow, each time on other %ss (%d of %d). The rest wait a total "+
			"of %s for it%s. No %s causes more than %s of that.", name, what, causes, len(a.units),
			words.FormatTime(f.lost), where, what, words.FormatShare(first))
	case finding.Growth:
		c := finding.CourseOf(f.series)
		n.Evidence = append(n.Evidence, a.growth(f, c)...)
		n.Text = fmt.Sprintf("Waiting grows over time: %ss wait a total of %s for one another%s, %s in the first "+
			"tenth of the run and %s in the last. %s causes most of it.", what, words.FormatTime(f.lost), where,
			words.FormatDuration(c.First), words.FormatDuration(c.Last), name)
	default:
		a.tellUneven(f, region, where, n)
	}
}

// phasesOf returns the phases that hold a fault, if its cost is known by phase.
func (a *culprits) phasesOf(f *fault) (out []int) {
	if a.phases == nil || a.phases.Sliced || len(a.phases.List) < 2 || len(a.phases.List) > budget.Bins/12 {
		return nil
	}
	length := float64(a.length)
	cost := make([]float64, len(a.phases.List))
	most := 0.0
	for i, v := range f.series {
		if v == 0 {
			continue
		}
		at := a.window.Begin + trace.Time(float64(i)/budget.Bins*length)
		best := len(cost) - 1
		for k := range a.phases.List {
			if at < a.phases.List[k].End {
				best = k
				break
			}
		}
		cost[best] += v
		most = max(most, cost[best])
	}
	for k, v := range cost {
		if v >= 0.1*most && v > 0 {
			out = append(out, k)
		}
	}
	return out
}

// when describes the phases in which a fault lies, or from when to when.
func (a *culprits) when(f *fault, phases []int) string {
	if len(phases) > 0 {
		return a.phaseWords(phases)
	}
	c := finding.CourseOf(f.series)
	at := func(x float64) string {
		t := a.window.Begin + trace.Time(x*float64(a.length))
		if a.phases != nil && !a.phases.Sliced && a.phases.Step <= 1 && len(a.phases.List) > 1 {
			for k := range a.phases.List {
				if t < a.phases.List[k].End {
					return fmt.Sprintf("%s (%s)", a.phases.List[k].Name, words.FormatTime(t))
				}
			}
		}
		return words.FormatTime(t)
	}
	switch {
	case c.From > 0.1 && c.To < 0.9:
		return " from " + at(c.From) + " to " + at(c.To)
	case c.From > 0.1:
		return " from " + at(c.From) + " on"
	case c.To < 0.9:
		return " until " + at(c.To)
	}
	return ""
}

// span is the time that a fault is about.
func (a *culprits) span(f *fault) (begin, end trace.Time) {
	c := finding.CourseOf(f.series)
	if c.From <= 0.1 && c.To >= 0.9 {
		return a.window.Begin, a.window.End
	}
	return a.window.Begin + trace.Time(c.From*float64(a.length)), a.window.Begin + trace.Time(c.To*float64(a.length))
}
