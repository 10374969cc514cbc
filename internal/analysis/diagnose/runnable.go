package diagnose

// Fault: tasks of a system that could run wait for a processor.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findRunnable: tasks of a system that could run wait for a processor, by the records of its scheduler.
func findRunnable(c *diagnosis) error {
	if c.profile || !c.scheduled() {
		return nil
	}
	running, ready := c.regionNamed(stateRunning, "scheduler"), c.regionNamed(stateRunnable, "scheduler")
	ran, waited := 0.0, 0.0
	of := make([]float64, len(c.rows))
	for i, r := range c.table.region {
		switch {
		case slices.Contains(running, r):
			ran += c.table.exclusive[i]
		case slices.Contains(ready, r):
			waited += c.table.exclusive[i]
			of[c.table.row[i]] += c.table.exclusive[i]
		}
	}
	hit := waited / max(ran+waited, 1)
	if !(hit >= leastLate) || waited < finding.MediumShare*float64(c.length) {
		return nil
	}
	rows := c.allRows()
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(of[b], of[a]) })
	most := c.rows[rows[0]]
	source := c.times(ready)
	own := sumQuery("total(exclusive)", source+fmt.Sprintf(" and location = %d", most))
	c.add(finding.Finding{Kind: finding.ProcessorWait, Severity: finding.LevelOf(hit).AtMost(finding.Medium),
		Lost: trace.Time(waited), Hit: hit, View: "timeline",
		Text: fmt.Sprintf("Runnable tasks waited %s for a processor and ran for %s. %s waited longest, %s.",
			words.FormatDuration(waited), words.FormatDuration(ran), c.tree.Name[most],
			words.FormatDuration(of[rows[0]])),
		Next: "Run less at once, or on more processors, and look at which tasks run meanwhile.",
		Evidence: []finding.Evidence{
			{Name: "waited for a processor", Value: waited, Unit: "ns", From: sumQuery("total(exclusive)", source)},
			{Name: "ran", Value: ran, Unit: "ns", From: sumQuery("total(exclusive)", c.times(running))},
			{Name: "waited by " + c.tree.Name[most], Value: of[rows[0]], Unit: "ns", From: own}},
		Selection: finding.Selection{Regions: ready}}, nil)
	return nil
}
