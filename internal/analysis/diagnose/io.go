package diagnose

// Fault: reading and writing, or starting and ending, take long.

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// reading: others wait for units that read or write.
func (a *culprits) reading() error {
	f := a.claim(func(r *budget.Row) bool { return a.accounts.role[r.Region] == trace.RoleIO })
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.IO)
}

const (
	// leastCostly is the part of all time from which reading, writing, starting and ending
	// are reported though no unit waits for them; mediumCostly and highCostly make them graver.
	leastCostly, mediumCostly, highCostly = 0.05, 0.1, 0.2
)

// findCostly: reading and writing, and starting and ending, that take long on all.
func findCostly(c *diagnosis) error {
	if !c.followed() && !(c.compared && c.profile) {
		return nil
	}
	a := newCulprits(c)
	tellCostly(c, finding.IO, "reading and writing", func(k int32) bool { return c.accounts.role[k] == trace.RoleIO })
	tellCostly(c, finding.StartUp, "starting and ending the run", a.starts)
	return nil
}

func tellCostly(c *diagnosis, kind finding.Kind, what string, want func(k int32) bool) {
	sum, top, most := trace.Time(0), int32(-1), trace.Time(0)
	var all []trace.RegionID
	for k, times := range c.accounts.work {
		if times == nil || !want(int32(k)) {
			continue
		}
		own := trace.Time(0)
		for _, t := range times {
			own = trace.AddUp(own, t)
		}
		sum = trace.AddUp(sum, own)
		all = append(all, c.accounts.ids[k]...)
		if own > most {
			top, most = int32(k), own
		}
	}
	hit := float64(sum) / float64(c.accounts.time)
	if hit < leastCostly ||
		slices.ContainsFunc(c.list, func(f finding.Finding) bool { return f.Kind == kind && f.Lost > sum/2 }) {
		return // who waits for it is reported, and costs more
	}
	level := finding.Low
	switch {
	case hit >= highCostly:
		level = finding.High
	case hit >= mediumCostly:
		level = finding.Medium
	}
	whose := c.unitWord() + "s"
	if len(c.rows) > len(c.units) {
		whose = "locations"
	}
	c.add(finding.Finding{Kind: kind, Severity: level, Lost: sum, Hit: hit, View: "profile",
		Selection: finding.Selection{Regions: c.accounts.ids[top]},
		Text: fmt.Sprintf("%s takes %s of the time of %s, %s in %s (%s).", capitalWord(what), words.FormatShare(hit),
			whose, mostWord(float64(most), float64(sum)), words.Middle(c.accounts.regionNames[top]),
			c.amount(float64(most))),
		Evidence: []finding.Evidence{
			{Name: what, Value: float64(sum), Unit: c.unit, From: sumQuery("total(exclusive)", c.times(all))},
			{Name: "share of the time", Value: hit, Unit: "share",
				From: sumQuery(fmt.Sprintf("total(exclusive) / %d", c.accounts.time), c.times(all))},
			{Name: c.accounts.regionNames[top], Value: float64(most), Unit: c.unit,
				From: sumQuery("total(exclusive)", c.times(c.accounts.ids[top]))}}}, nil)
	c.removeAll(want, what+" took no time")
}
