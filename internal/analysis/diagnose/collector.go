package diagnose

// Fault: garbage collection of a runtime other than Go's takes the time of work.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// collects matches names of regions in which a runtime collects garbage.
var collects = regexp.MustCompile(`(?i)\bgc\b|garbage|\w+gc\b|gcscaveng|stop.the.world`)

// findCollector: garbage collection of a runtime takes the time of those that work. Go's scheduler tells more, and has
// a finding of its own.
func findCollector(c *diagnosis) error {
	if c.profile || c.spans || len(c.processors) > 0 {
		return nil
	}
	var regions, works []trace.RegionID
	isCollector := make([]bool, len(c.regions))
	for r := range c.regions {
		g := &c.regions[r]
		isCollector[r] = g.Role == trace.RoleOverhead && collects.MatchString(g.Name)
	}
	collected, busy, calls := 0.0, 0.0, 0.0
	for i, r := range c.table.region {
		g := &c.regions[r]
		switch {
		case isCollector[r]:
			collected += c.table.exclusive[i]
			calls += c.table.calls[i]
			if !slices.Contains(regions, r) {
				regions = append(regions, r)
			}
		case g.Role.Busy():
			busy += c.table.exclusive[i]
			if !slices.Contains(works, r) {
				works = append(works, r)
			}
		}
	}
	share, whole := collected/max(collected+busy, 1), collected/(float64(c.length)*float64(len(c.rows)))
	if share < mediumCollector || whole < finding.MediumShare {
		return nil
	}
	level := finding.Medium
	if share >= highCollector && whole >= finding.HighShare {
		level = finding.High
	}
	slices.Sort(regions)
	slices.Sort(works)
	sum := c.times(regions)
	of := ""
	if both := c.times(slices.Concat(regions, works)); both != "" {
		of = fmt.Sprintf("select (select total(exclusive) from %s) / (select total(exclusive) from %s)", sum, both)
	}
	c.add(finding.Finding{Kind: finding.GarbageCollection, Severity: level, Lost: trace.Time(collected), Hit: share,
		View: "timeline", Next: "Allocate less, keep less alive, or give the collector a larger heap.",
		Text: fmt.Sprintf("Garbage collection takes %s of the time in which threads work or collect: %s in %s.",
			words.FormatShare(share), words.FormatDuration(collected), words.Count(int(calls), "call")),
		Evidence: []finding.Evidence{
			{Name: "garbage collection", Value: collected, Unit: "ns", From: sumQuery("total(exclusive)", sum)},
			{Name: "share of the time of work and collection", Value: share, Unit: "share", From: of},
			{Name: "calls", Value: calls, Unit: "count", From: sumQuery("total(calls)", sum)}},
		Selection: finding.Selection{Regions: regions}}, nil)
	c.gainOfRun(collected/float64(len(c.rows)), "nothing was collected", c.spreadOver(regions))
	return nil
}
