package diagnose

// Fault: all wait without a known cause after the last work of the run.

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// An ending is the waiting without a known cause after the last work of the run, and the query that adds it up.
type ending struct {
	time trace.Time
	from string
}

// findEnding: all wait without a known cause after the last work of the run, as a runtime that shuts down does. It is
// reported if most of the waiting without a cause is there.
func findEnding(c *diagnosis) error {
	if c.profile || c.untimed || c.spans || c.accounts.result == nil || len(c.rows) > mostNumbers ||
		c.alike.what == "GPUs" || len(c.processors) > 0 || c.tree.Kind[c.units[0]] == trace.KindProcessor {
		return nil
	}
	_, unexplained := c.accounts.waiting()
	if unexplained -= c.toldUnrecorded(); float64(unexplained) < silentShare*float64(c.accounts.time) {
		return nil
	}
	begin, end := c.window.Begin, c.window.End
	first, last, err := runfacts.FirstAndLastOf(c.ctx, c.store, c.rows, begin, end, busyRoles...)
	tail := end - last
	if err != nil || first >= last || float64(tail) < leastCostly*float64(c.length) {
		return err
	}
	sum, n := trace.Time(0), 0
	err = c.roles(c.ctx, last, end, func(_ trace.LocationID, times *[trace.RoleCount]trace.Time) {
		if t := times[trace.RoleIdle] + times[trace.RoleSynchronization]; t > 0 {
			sum += t
			n++
		}
	})
	if err != nil || 2*sum < unexplained || sum > unexplained {
		return err
	}
	share := float64(sum) / float64(c.accounts.time)
	level := finding.Low
	switch {
	case share >= highCostly:
		level = finding.High
	case share >= mediumCostly:
		level = finding.Medium
	}
	source := fmt.Sprintf("busy(null, %d, %d) where true%s", last, end, c.whereRows(c.allRows()))
	c.ended = ending{sum, "(select total(idle) + total(synchronization) from " + source + ")"}
	c.add(finding.Finding{Kind: finding.StartUp, Severity: level, Lost: sum, Hit: share, Share: share,
		ShareOf: "all time", View: "timeline", Selection: finding.Selection{Begin: last, End: end},
		Next: "Look at what the program does after its last work: shutting down, writing, or waiting for a time limit.",
		Text: fmt.Sprintf("The run goes on for %s after its last work, and %s wait meanwhile: %s in all, "+
			"%s of the time.",
			words.FormatTime(tail), words.Count(n, "location"), words.FormatTime(sum), words.FormatShare(share)),
		Evidence: []finding.Evidence{
			{Name: "after the last work", Value: float64(tail), Unit: "ns",
				From: fmt.Sprintf("select %d - max(\"end\") from intervals where role in "+
					"('compute', 'io', 'copy') and "+
					"\"end\" > begin%s", end, c.whereRows(c.allRows()))},
			{Name: "waited after the last work", Value: float64(sum), Unit: "ns", From: "select " + c.ended.from},
			{Name: "share of the time", Value: share, Unit: "share",
				From: fmt.Sprintf("select %s / %d", c.ended.from, c.accounts.time)},
			{Name: "locations that wait", Value: float64(n), Unit: "count",
				From: "select count(*) from " + source + " and idle + synchronization > 0"}}}, nil)
	c.gainOfRun(float64(tail), "the run ended with its last work", spread{})
	return nil
}
