package diagnose

// Fault: time in communication that no other finding explains.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// leastCommunication is the part of their time that locations which also work
	// must spend in communication for it to be reported on its own.
	leastCommunication, highCommunication = 0.2, 0.4
	alsoWorks                             = 0.005
)

// findCommunication: time in communication that no finding above explains.
func findCommunication(c *diagnosis) error {
	if !c.compared {
		return nil
	}
	works := make([]bool, len(c.rows))
	n := 0
	for row := range c.rows {
		if works[row] = c.useful[row] > alsoWorks*float64(c.length); works[row] {
			n++
		}
	}
	also := " that also work"
	if n < 2 { // hardly anybody works: all that communicate are looked at
		also = ""
		clear(works)
		n = 0
		for i, row := range c.table.row {
			if !works[row] && c.regions[c.table.region[i]].Role == trace.RoleCommunication && c.table.exclusive[i] > 0 {
				works[row] = true
				n++
			}
		}
	}
	if n < 2 {
		return nil
	}
	sum, byName, ids := 0.0, map[string]float64{}, map[string][]trace.RegionID{}
	for i, row := range c.table.row {
		g := &c.regions[c.table.region[i]]
		if works[row] && g.Role == trace.RoleCommunication {
			sum += c.table.exclusive[i]
			byName[g.Name] += c.table.exclusive[i]
			if !slices.Contains(ids[g.Name], c.table.region[i]) {
				ids[g.Name] = append(ids[g.Name], c.table.region[i])
			}
		}
	}
	if c.accounts.result != nil {
		return findTransfers(c, float64(n)*float64(c.length), c.timeOf(n, also), byName, ids)
	}
	explained := 0.0
	for i := range c.list {
		switch c.list[i].Kind {
		case finding.Straggler, finding.LateSender, finding.LateReceiver, finding.Imbalance:
			explained += float64(c.list[i].Lost)
		}
	}
	capacity := float64(n) * float64(c.length)
	share, rest := sum/capacity, max(sum-explained, 0)/capacity
	if rest < leastCommunication {
		return nil
	}
	names := make([]string, 0, len(byName))
	for k := range byName {
		names = append(names, k)
	}
	slices.SortFunc(names,
		func(a, b string) int { return cmp.Or(cmp.Compare(byName[b], byName[a]), cmp.Compare(a, b)) })
	level := finding.Medium
	if rest >= highCommunication {
		level = finding.High
	}
	top := names[:min(len(names), 3)]
	for len(top) > 1 && byName[top[len(top)-1]] < 0.01*capacity {
		top = top[:len(top)-1]
	}
	e := c.pop
	if math.IsNaN(e.Communication) { // of one GPU: then of all rows
		e = pop.Of(c.useful, float64(c.length))
	}
	text := fmt.Sprintf("Communication takes %s of %s: parallel efficiency %s, communication efficiency %s (POP).",
		words.FormatShare(share), c.timeOf(n, also), words.FormatShare(e.Parallel), words.FormatShare(e.Communication))
	var regions []trace.RegionID
	all := c.times(c.regionsOfRole(trace.RoleCommunication))
	if n < len(c.rows) {
		all = ""
	}
	part := fmt.Sprintf("total(exclusive) / %.0f", capacity)
	evidence := []finding.Evidence{
		{Name: "time in communication", Value: sum, Unit: c.unit, From: sumQuery("total(exclusive)", all)},
		{Name: "share of the time", Value: share, Unit: "share", From: sumQuery(part, all)},
		{Name: "parallel efficiency", Value: e.Parallel, Unit: "share", From: c.efficiencyQuery("avg")},
		{Name: "communication efficiency", Value: e.Communication, Unit: "share", From: c.efficiencyQuery("max")}}
	for i, k := range top {
		switch {
		case i == 0:
			text += " Largest parts: "
		case i == len(top)-1:
			text += " and "
		default:
			text += ", "
		}
		text += fmt.Sprintf("%s (%s)", words.Middle(k), words.FormatShare(byName[k]/capacity))
		regions = append(regions, ids[k]...)
		own := ""
		if all != "" {
			own = c.times(ids[k])
		}
		evidence = append(evidence,
			finding.Evidence{Name: k, Value: byName[k], Unit: c.unit, From: sumQuery("total(exclusive)", own)},
			finding.Evidence{Name: k + ", share of the time", Value: byName[k] / capacity, Unit: "share",
				From: sumQuery(part, own)})
	}
	slices.Sort(regions)
	c.add(finding.Finding{Kind: finding.Communication, Severity: level, Lost: trace.Time(rest * capacity), Hit: rest,
		Text: text + ".", View: "profile", Evidence: evidence, Selection: finding.Selection{Regions: regions}}, nil)
	return nil
}

// efficiencyQuery asks for POP's efficiencies: the mean or the most of the busy time over the length of the run.
func (c *diagnosis) efficiencyQuery(statistic string) string {
	source, column := c.busyRows()
	if len(c.alike.members) != len(c.rows) || source == "" {
		return ""
	}
	what := fmt.Sprintf("max(v) / %d", c.length)
	if statistic == "avg" {
		what = fmt.Sprintf("total(v) / %d / %d", len(c.rows), c.length)
	}
	return fmt.Sprintf("with t as (select location, total(%s) as v from %s group by 1) select %s from t", column,
		source,
		what)
}

// transferQuery asks for the time in regions, all of communication where none is named, less the waiting in them, as
// a part of a capacity.
func (c *diagnosis) transferQuery(regions []trace.RegionID, capacity float64) string {
	where := "role = 'communication'"
	all := regions
	if regions == nil {
		all = c.regionsOfRole(trace.RoleCommunication)
	} else {
		where = "region = " + quoted(c.accounts.regionNames[c.accounts.number[regions[0]]])
	}
	times := c.times(all)
	if times == "" || len(all) == 0 {
		return ""
	}
	column := "exclusive"
	if regions == nil && c.accounts.lanes {
		times, _ = c.busyRows()
		column = "communication"
	}
	q := fmt.Sprintf("select (select total(%s) from %s) - (select total(time) from %s where %s)", column, times,
		c.waitTable(), where)
	if capacity != 1 {
		q = strings.Replace(q, "select (", "select ((", 1) + fmt.Sprintf(") / %.0f", capacity)
	}
	return q
}

// passedQuery asks for the waiting for causes.
func (c *diagnosis) passedQuery(causes []causeKey) string {
	where := c.waitsFor(causes)
	if where == "" {
		return ""
	}
	return sumQuery("total(time)", c.waitTable()+" where "+where)
}

// mostWord names a part of a whole, the largest one.
func mostWord(part, whole float64) string {
	if 2*part > whole {
		return "most"
	}
	return "the largest part"
}

// timeOf names the time of n locations: all time if there are no others. That is the base of profiles too.
func (c *diagnosis) timeOf(n int, also string) string {
	if n == len(c.rows) && !c.profile {
		return "all time"
	}
	return "the time of " + words.Count(n, "location") + also
}

// mostPassed is the call, of some causes, in which others are when most is waited for them, and its causes.
func (c *diagnosis) mostPassed(causes []causeKey) (name string, most float64, of []causeKey) {
	in, sums := map[causeKey]bool{}, map[int32]float64{}
	for _, k := range causes {
		in[k] = true
	}
	best := int32(-1)
	for i := range c.accounts.result.Rows {
		if r := &c.accounts.result.Rows[i]; in[causeKey{r.Actor, r.Region}] {
			sums[r.Region] += float64(r.Caused())
		}
	}
	for k, t := range sums {
		if best < 0 || t > sums[best] || t == sums[best] && k < best {
			best = k
		}
	}
	for _, k := range causes {
		if k.region == best {
			of = append(of, k)
		}
	}
	return c.accounts.regionNames[best], sums[best], of
}

// waitedForOne is the part of the waiting from which a unit is named that others wait for while it communicates.
const waitedForOne = 0.25

// oneOfMany reports whether one unit is waited for far longer than it would be if all were waited for alike.
func (c *diagnosis) oneOfMany(most, all float64) bool { return most*float64(len(c.units)) >= 3*all }

// mostWaitedFor is the unit, of some causes, that others wait for longest, and its causes.
func (c *diagnosis) mostWaitedFor(causes []causeKey) (unit int32, most float64, of []causeKey) {
	in, sums := map[causeKey]bool{}, make([]float64, len(c.units))
	for _, k := range causes {
		in[k] = true
	}
	for i := range c.accounts.result.Rows {
		if r := &c.accounts.result.Rows[i]; in[causeKey{r.Actor, r.Region}] {
			sums[c.accounts.unit[r.Actor]] += float64(r.Caused())
		}
	}
	unit, most = top(sums)
	for _, k := range causes {
		if c.accounts.unit[k.actor] == unit {
			of = append(of, k)
		}
	}
	return unit, most, of
}

// worksMost reports whether a unit is busy for longer than all others, and far longer than the mean.
func (c *diagnosis) worksMost(unit int32) bool {
	busy, compared := c.busyOfUnits()
	sum, n := 0.0, 0
	for u, t := range busy {
		if compared[u] {
			sum += t
			n++
		}
	}
	most, t := top(busy)
	return most == unit && t*float64(n) >= farLonger*sum
}

// farLonger than the mean is the work of a unit that has too much of it.
const farLonger = 1.5

// leastTransfer is the part of the time from which communication itself is reported.
const leastTransfer = 0.1

// findTransfers: communication that takes long by itself, and others that wait for a unit that is in it.
// Waiting for a late unit is not counted. Capacity is the time of all who also work, of its name; byName
// and ids are the times and regions of communication by name.
func findTransfers(c *diagnosis, capacity float64, of string, byName map[string]float64,
	ids map[string][]trace.RegionID) error {
	own := float64(c.accounts.transfer())
	passed := 0.0
	var passing []causeKey
	for i := range c.accounts.result.Rows {
		r := &c.accounts.result.Rows[i]
		if _, told := c.told[causeKey{r.Actor, r.Region}]; r.Explained() && !told &&
			c.accounts.role[r.Region] == trace.RoleCommunication {
			passed += float64(r.Caused())
			passing = append(passing, causeKey{r.Actor, r.Region})
		}
	}
	hit := (own + passed) / capacity
	if hit < leastTransfer {
		return nil
	}
	for i := range c.accounts.result.Rows {
		r := &c.accounts.result.Rows[i]
		if k := (causeKey{r.Actor, r.Region}); r.Explained() && c.told[k] == "" &&
			c.accounts.role[r.Region] == trace.RoleCommunication {
			c.told[k] = finding.Communication
		}
	}
	level := finding.Low
	switch {
	case hit >= highCommunication:
		level = finding.High
	case hit >= leastCommunication:
		level = finding.Medium
	}
	// Time of each name without its waits.
	left := map[string]float64{}
	for name, t := range byName {
		left[name] = t
		for _, id := range ids[name] {
			left[name] -= float64(c.accounts.result.InCalls[c.accounts.number[id]])
			break // the accounts count by name
		}
	}
	names := slices.Sorted(maps.Keys(left))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(left[b], left[a]) })
	polled := 0.0
	for k, t := range left {
		if polls(k) {
			polled += t
		}
	}
	lead, next := "Communication without waiting takes %s of %s", ""
	if 2*polled > own {
		next = "Ranks poll for messages most of that time. Check which rank sends late, and whether there are more " +
			"ranks than cores."
	}
	if c.missing() || 10*polled > own {
		lead = "Communication, without the waiting that its messages explain, takes %s of %s"
	}
	text := fmt.Sprintf(lead, words.FormatShare(own/capacity), of)
	evidence := []finding.Evidence{{Name: "communication itself", Value: own, Unit: "ns",
		From: c.transferQuery(nil, 1)},
		{Name: "share of the time", Value: own / capacity, Unit: "share", From: c.transferQuery(nil, capacity)},
		{Name: "waited meanwhile", Value: passed, Unit: "ns", From: c.passedQuery(passing)}}
	some := ids
	if int(capacity) != len(c.rows)*int(c.length) {
		some = nil
	}
	var regions []trace.RegionID
	var subjects []trace.LocationID
	for i, k := range names[:min(len(names), 3)] {
		if left[k] < 0.01*capacity && i > 0 {
			break
		}
		does := ""
		if polls(k) {
			does = ", polling"
		}
		text += []string{". Largest parts: ", ", ", ", "}[i] +
			fmt.Sprintf("%s (%s%s)", words.Middle(k), words.FormatShare(left[k]/capacity), does)
		evidence = append(evidence,
			finding.Evidence{Name: k + " without waiting", Value: left[k], Unit: "ns",
				From: c.transferQuery(some[k], 1)},
			finding.Evidence{Name: k + ", share of the time", Value: left[k] / capacity, Unit: "share",
				From: c.transferQuery(some[k], capacity)})
		regions = append(regions, ids[k]...)
	}
	if passed > 0.1*own {
		text += fmt.Sprintf(". Other %ss wait a total of %s for %ss that communicate", c.unitWord(),
			words.FormatDuration(passed), c.unitWord())
		in, most, own := c.mostPassed(passing)
		text += fmt.Sprintf(", %s in %s (%s)", mostWord(most, passed), words.Middle(in),
			words.FormatDuration(most))
		evidence = append(evidence,
			finding.Evidence{Name: "waited for others in " + in, Value: most, Unit: "ns", From: c.passedQuery(own)})
		if unit, most, own := c.mostWaitedFor(passing); most >= waitedForOne*passed && c.oneOfMany(most, passed) {
			text += fmt.Sprintf(". They wait longest for %s (%s)", c.names[unit], words.FormatDuration(most))
			evidence = append(evidence, finding.Evidence{Name: "waited for " + c.names[unit], Value: most, Unit: "ns",
				From: c.passedQuery(own)})
			subjects = c.locations([]int32{unit})
			if next == "" && c.worksMost(unit) {
				next = fmt.Sprintf("%s also has the most work: move some of it to the others first. Then send fewer "+
					"and larger messages.", capital(c.names[unit]))
			}
		}
	}
	slices.Sort(regions)
	f := finding.Finding{Kind: finding.Communication, Severity: level, Lost: trace.Time(own + passed), Hit: hit,
		Next: next, Text: text + ".", View: "profile", Evidence: evidence, Residual: c.missing(),
		Subjects: subjects, Selection: finding.Selection{Regions: regions}}
	link, err := c.slowLink()
	if err != nil {
		return err
	}
	if link != nil {
		link.tell(c, &f)
	}
	c.add(f, nil)
	c.removeAll(func(k int32) bool { return c.accounts.role[k] == trace.RoleCommunication },
		"communication itself took no time")
	return nil
}
