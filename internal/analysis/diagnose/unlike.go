package diagnose

// Fault: calls of a region take longer on some units, though no unit waits for it.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// leastRegion is the part of all time that a region must take to be compared.
	leastRegion = 0.01
	// fewestCalls is the number of calls that a unit must make for their mean to be compared.
	fewestCalls = 10
	// mostRegions is the number of regions that are compared, those with most time first.
	mostRegions = 6
)

// largestRegions lists the names of regions with most exclusive time that may differ for
// reasons of their own: not those of waiting, which differ because others do.
func largestRegions(c *diagnosis) (names []string, ids map[string][]trace.RegionID) {
	list, of := c.numberNames(func(g *trace.Region) bool {
		return (g.Role.Busy() || g.Role == trace.RoleOverhead) && !startsOrEnds(g)
	})
	times := make([]float64, len(list))
	met := make([]bool, len(c.regions))
	ids = map[string][]trace.RegionID{}
	for i, r := range c.table.region {
		k := of[r]
		if k < 0 {
			continue
		}
		if times[k] += c.table.exclusive[i]; !met[r] {
			met[r] = true
			ids[list[k]] = append(ids[list[k]], r)
		}
	}
	sums := map[string]float64{}
	for k, n := range list {
		if sums[n] = times[k]; times[k] >= leastRegion*float64(c.length)*float64(len(c.rows)) && len(ids[n]) > 0 {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	return names[:min(len(names), mostRegions)], ids
}

// findUnlike: regions whose calls take longer on some units than on the others, though
// no unit waits for it.
func findUnlike(c *diagnosis) error {
	if !c.compared {
		return nil
	}
	names, ids := largestRegions(c)
	for _, name := range names {
		sums, calls := make([]float64, len(c.units)), make([]float64, len(c.units))
		of := make([]bool, len(c.regions))
		for r := range c.regions {
			of[r] = c.regions[r].Name == name
		}
		for i, r := range c.table.region {
			if of[r] {
				u := c.unitOf[c.rows[c.table.row[i]]]
				sums[u] += c.table.exclusive[i]
				calls[u] += c.table.calls[i]
			}
		}
		means, units := []float64{}, []int32{}
		for u := range sums {
			if calls[u] >= fewestCalls {
				means, units = append(means, sums[u]/calls[u]), append(units, int32(u))
			}
		}
		var odd []int32
		lost, low, high, middleValue := 0.0, math.Inf(1), 0.0, 0.0
		loose, out := 0, make([]bool, len(means))
		for i, p := range finding.Peers(means) {
			if p.StandsOut() {
				loose++
			}
			if p.Score >= finding.Beyond(len(means)) && p.Value > 1.1*p.Median {
				odd, out[i] = append(odd, units[i]), true
				lost += (p.Value - p.Median) * calls[units[i]]
				low, high, middleValue = min(low, p.Value), max(high, p.Value), p.Median
			}
		}
		if len(odd) == 0 || !finding.Apart(means, out) || float64(loose) > 0.25*float64(len(means)) || c.known(odd) {
			continue
		}
		hit := lost / (float64(len(odd)) * float64(c.length))
		level := finding.LevelOf(hit)
		if level == finding.Low {
			continue
		}
		text := fmt.Sprintf("Calls of %s take %s on %s against %s on the others.", words.Middle(name),
			c.about(low, high),
			c.named(odd), c.amount(middleValue))
		c.add(finding.Finding{Kind: finding.Unlike, Severity: c.unfelt(level.AtMost(finding.Medium)),
			Lost: trace.Time(lost), Hit: hit, Text: text, View: "boxprofile",
			Evidence: []finding.Evidence{
				{Name: "mean call, least", Value: low, Unit: c.unit, From: callQuery(c, "min", ids[name], odd)},
				{Name: "mean call, most", Value: high, Unit: c.unit, From: callQuery(c, "max", ids[name], odd)},
				{Name: "mean call on the others, median", Value: middleValue, Unit: c.unit,
					From: callQuery(c, "median", ids[name], units)},
				{Name: "time more than the others", Value: lost, Unit: c.unit}},
			Selection: finding.Selection{Regions: ids[name], Locations: c.locations(odd)}}, odd)
	}
	return nil
}

// callQuery asks for a statistic of the mean call of units.
func callQuery(c *diagnosis, statistic string, ids []trace.RegionID, units []int32) string {
	q := c.unitsQuery(statistic, "exclusive", c.times(ids), units)
	return strings.Replace(strings.Replace(q, "total(exclusive)", "total(exclusive) / total(calls)", 1),
		"coalesce(v, 0)", "v", 1)
}
