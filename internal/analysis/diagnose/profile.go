package diagnose

// Faults of profiles, which record no waits: shares of communication, and uneven regions.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// worthKnowing is the part of all time from which on a profile's communication is reported.
	worthKnowing = 0.01
	// unevenPart is the same for the time that one region would save if all units took as long as the mean.
	unevenPart = 0.002
	// even is the load balance from which on work is spread evenly.
	even = 0.95
)

// findShares is for profiles, which do not record waits. It reports the share of communication, and the
// region that is spread most unevenly. They are worth knowing, and no more than that, if no rule above has
// found them severe.
func findShares(c *diagnosis) error {
	if !c.profile || c.spans || len(c.processors) > 0 {
		return nil
	}
	told := func(k finding.Kind) bool {
		return slices.ContainsFunc(c.list, func(f finding.Finding) bool { return f.Kind == k })
	}
	if !told(finding.Communication) {
		wordCommunicationShare(c)
	}
	if !told(finding.Imbalance) && !told(finding.Heterogeneous) && !told(finding.Unlike) {
		wordUnevenRegion(c)
	}
	return nil
}

// wordCommunicationShare reports the share. A profile does not show how much of it is lost.
func wordCommunicationShare(c *diagnosis) {
	byName, ids, sum, whole := map[string]float64{}, map[string][]trace.RegionID{}, 0.0, 0.0
	each := make([]float64, len(c.units))
	for i, r := range c.table.region {
		whole += c.table.exclusive[i]
		g := &c.regions[r]
		if g.Role != trace.RoleCommunication && g.Role != trace.RoleSynchronization || startsOrEnds(g) {
			continue
		}
		sum += c.table.exclusive[i]
		byName[g.Name] += c.table.exclusive[i]
		each[c.unitOf[c.rows[c.table.row[i]]]] += c.table.exclusive[i]
		if !slices.Contains(ids[g.Name], r) {
			ids[g.Name] = append(ids[g.Name], r)
		}
	}
	if sum < worthKnowing*whole || whole == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(byName),
		func(a, b string) int { return cmp.Or(cmp.Compare(byName[b], byName[a]), cmp.Compare(a, b)) })
	low, high := slices.Min(each), slices.Max(each)
	text := fmt.Sprintf("Communication and synchronization take %s of recorded time", words.FormatShare(sum/whole))
	if len(each) > 1 {
		text += fmt.Sprintf(", %s on each %s", c.about(low, high), c.unitWord())
	}
	text += fmt.Sprintf(". Largest parts: %s (%s)", words.Middle(names[0]), words.FormatShare(byName[names[0]]/whole))
	var every []trace.RegionID
	for _, list := range ids {
		every = append(every, list...)
	}
	slices.Sort(every)
	source := c.times(every)
	// part asks for the share of regions in all time.
	part := func(regions []trace.RegionID) string {
		if c.everyTime() == "" || c.times(regions) == "" {
			return ""
		}
		return fmt.Sprintf("select (select total(exclusive) from %s) / (select total(exclusive) from %s)",
			c.times(regions), c.everyTime())
	}
	evidence := []finding.Evidence{
		{Name: "time in communication and synchronization", Value: sum, Unit: c.unit,
			From: sumQuery("total(exclusive)", source)},
		{Name: "share of the time", Value: sum / whole, Unit: "share", From: part(every)},
		{Name: "on one unit, least", Value: low, Unit: c.unit,
			From: c.unitsQuery("min", "exclusive", source, c.allUnits())},
		{Name: "on one unit, most", Value: high, Unit: c.unit,
			From: c.unitsQuery("max", "exclusive", source, c.allUnits())},
		{Name: names[0], Value: byName[names[0]], Unit: c.unit,
			From: sumQuery("total(exclusive)", c.times(ids[names[0]]))},
		{Name: names[0] + ", share of the time", Value: byName[names[0]] / whole, Unit: "share",
			From: part(ids[names[0]])}}
	regions := ids[names[0]]
	if len(names) > 1 && byName[names[1]] >= worthKnowing*whole {
		text += fmt.Sprintf(" and %s (%s)", words.Middle(names[1]), words.FormatShare(byName[names[1]]/whole))
		evidence = append(evidence, finding.Evidence{Name: names[1], Value: byName[names[1]], Unit: c.unit,
			From: sumQuery("total(exclusive)", c.times(ids[names[1]]))},
			finding.Evidence{Name: names[1] + ", share of the time", Value: byName[names[1]] / whole, Unit: "share",
				From: part(ids[names[1]])})
		regions = slices.Concat(regions, ids[names[1]])
	}
	slices.Sort(regions)
	level, lost := finding.Low, trace.Time(0)
	if len(c.units) == 1 { // all ranks as one: nothing else is known of it
		lost = trace.Time(sum)
		switch share := sum / whole; {
		case share >= highCommunication:
			level = finding.High
		case share >= leastCommunication:
			level = finding.Medium
		}
	}
	c.add(finding.Finding{Kind: finding.Communication, Severity: level, Lost: lost, Hit: sum / whole,
		Share: sum / whole, ShareOf: "recorded time", Text: text + ".", View: "profile", Evidence: evidence,
		Selection: finding.Selection{Regions: regions}}, nil)
}

// savedQuery asks for the time that units would save if none took longer than the mean.
func (f *facts) savedQuery(regions []trace.RegionID, units []int32) string {
	q := f.unitsQuery("max", "exclusive", f.times(regions), units)
	return strings.Replace(q, "max(coalesce(v, 0))", "count(*) * max(v) - total(v)", 1)
}

func wordUnevenRegion(c *diagnosis) {
	if len(c.units) < 2 || !c.countsWork() {
		return
	}
	all := make([]int32, len(c.units))
	for u := range all {
		all[u] = int32(u)
	}
	name, ids, e := unevenRegion(c, all)
	lost := e.Lost()
	hit := lost / (float64(len(c.units)) * float64(c.length))
	if name == "" || hit < unevenPart || e.LoadBalance >= even || len(c.alike.members) < len(c.units) {
		return
	}
	slow := c.names[e.Slowest]
	c.add(finding.Finding{Kind: finding.Imbalance, Severity: finding.Low, Lost: trace.Time(lost), Hit: hit,
		View: "boxprofile", Options: map[string][]string{"over": {"locations"}},
		Text: fmt.Sprintf("%s is the region with the most uneven work: %s on %s against %s on average, load "+
			"balance %s. Spread evenly, it would save at most %s.", words.Middle(name), c.amount(e.Max), slow,
			c.amount(e.Mean), words.FormatShare(e.LoadBalance), c.amount(lost)),
		Evidence: []finding.Evidence{
			{Name: name + " on " + slow, Value: e.Max, Unit: c.unit,
				From: c.unitsQuery("max", "exclusive", c.times(ids), all)},
			{Name: name + ", mean", Value: e.Mean, Unit: c.unit,
				From: c.unitsQuery("avg", "exclusive", c.times(ids), all)},
			{Name: "load balance of " + name, Value: e.LoadBalance, Unit: "share", From: c.unevenQuery(ids, all)},
			{Name: "at most saved", Value: lost, Unit: c.unit, From: c.savedQuery(ids, all)}},
		Subjects: c.locations([]int32{int32(e.Slowest)}), Selection: finding.Selection{Regions: ids}}, nil)
}

// workWords are parts of the units of metrics that count work, in lower case.
var workWords = []string{"clock", "cycle", "instruction", "tick", "sec"}

// countsWork reports whether totals are time or work, by their unit: those of bytes or context switches show nothing
// about who is busy.
func (f *facts) countsWork() bool {
	unit := strings.ToLower(f.unit)
	return slices.Contains([]string{"ns", "samples", "ir", "count", ""}, unit) ||
		slices.ContainsFunc(workWords, func(w string) bool { return strings.Contains(unit, w) })
}
