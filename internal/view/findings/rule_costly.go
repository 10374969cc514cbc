package findings

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// findGrowth: the work of a phase grows from phase to phase on all units alike, so that nobody
// waits for anybody and the run takes longer all the same. What is lost is the work beyond
// that of the first phase, by the straight line through all.
func findGrowth(c *court) error {
	p := c.phases
	if p == nil || p.Sliced || len(p.List) < 8 {
		return nil
	}
	if err := c.count(); err != nil {
		return err
	}
	n := len(p.List)
	middle := make([]float64, n)
	busy := make([]float64, len(c.units))
	for k := range n {
		clear(busy)
		for row, id := range c.rows {
			busy[c.unitOf[id]] += float64(c.cells.Busy[row*n+k])
		}
		middle[k] = finding.Median(busy)
	}
	tenths := make([]float64, 10)
	counts := make([]float64, 10)
	for k, v := range middle {
		tenths[k*10/n] += v
		counts[k*10/n]++
	}
	if n < 10 {
		tenths, counts = middle, nil
	}
	for i := range counts {
		tenths[i] /= counts[i]
	}
	if !finding.Rises(tenths) {
		return nil
	}
	from, slope := finding.Line(middle)
	lost := slope * float64(n) * float64(n-1) / 2 * float64(len(c.units))
	hit := lost / (float64(len(c.units)) * float64(c.length))
	last := from + slope*float64(n-1)
	if level := finding.LevelOf(hit); level != finding.Low && last > 1.1*from {
		text := fmt.Sprintf("Work grows over time: %s of it on a %s in %s and %s in %s, by the line through all; "+
			"were all like the first, %s of work would be saved.",
			view.FormatDuration(from), c.unitWord(), p.List[0].Name, view.FormatDuration(last), p.List[n-1].Name,
			view.FormatDuration(lost))
		c.add(finding.Finding{Kind: finding.Growth, Severity: level, Lost: trace.Time(lost), Hit: hit, Text: text,
			View: "phases", Options: c.phaseOption(),
			Evidence: []finding.Evidence{{Name: "work in " + p.List[0].Name, Value: from, Unit: "ns"},
				{Name: "work in " + p.List[n-1].Name, Value: last, Unit: "ns"},
				{Name: "work beyond the first", Value: lost, Unit: "ns"}}}, nil)
	}
	return nil
}

const (
	// leastCostly is the part of all time from which reading, writing, starting and ending
	// are told though nobody waits for them; mediumCostly and highCostly make them graver.
	leastCostly, mediumCostly, highCostly = 0.05, 0.1, 0.2
)

// findCostly: reading and writing, and starting and ending, that take long on all.
func findCostly(c *court) error {
	a := &audit{court: c}
	tellCostly(c, finding.IO, "Reading and writing takes",
		func(k int32) bool { return c.books.role[k] == trace.RoleIO })
	tellCostly(c, finding.StartUp, "Starting and ending the run takes", a.starts)
	return nil
}

// findUnevenStart: of a profile, units on which starting and ending takes longer than on the
// others; in a profile nothing tells who waited for it.
func findUnevenStart(c *court) error {
	a := &audit{court: c}
	values := make([]float64, len(c.units))
	for k, times := range c.books.work {
		if times != nil && a.starts(int32(k)) {
			for u, t := range times {
				values[u] += float64(t)
			}
		}
	}
	units := finding.Upper(values)
	if len(units) == 0 || len(units)*2 > len(values) {
		return nil
	}
	in, mean := map[int32]bool{}, 0.0
	for _, u := range units {
		in[u] = true
		mean += values[u] / float64(len(units))
	}
	var others []float64
	for u, v := range values {
		if !in[int32(u)] {
			others = append(others, v)
		}
	}
	base := finding.Median(others)
	hit := (mean - base) / float64(c.length)
	if level := finding.LevelOf(hit); level != finding.Low {
		c.add(finding.Finding{Kind: finding.StartUp, Severity: level,
			Lost: trace.Time((mean - base) * float64(len(units))), Hit: hit, View: "boxprofile",
			Options: map[string][]string{"over": {"locations"}},
			Text: fmt.Sprintf("%s %s longer to start and end: %s against %s in the middle of the others.",
				capital(c.named(units)), plural(len(units), "takes", "take"), c.amount(mean), c.amount(base)),
			Evidence: []finding.Evidence{{Name: "starting and ending", Value: mean, Unit: c.unit},
				{Name: "starting and ending on the others, median", Value: base, Unit: c.unit}},
			Selection: finding.Selection{Locations: c.locations(units)}}, units)
	}
	return nil
}

func tellCostly(c *court, kind finding.Kind, lead string, want func(k int32) bool) {
	sum, top, most := trace.Time(0), int32(-1), trace.Time(0)
	for k, times := range c.books.work {
		if times == nil || !want(int32(k)) {
			continue
		}
		own := trace.Time(0)
		for _, t := range times {
			own = trace.AddUp(own, t)
		}
		sum = trace.AddUp(sum, own)
		if own > most {
			top, most = int32(k), own
		}
	}
	hit := float64(sum) / float64(c.books.time)
	if hit < leastCostly ||
		slices.ContainsFunc(c.list, func(f finding.Finding) bool { return f.Kind == kind && f.Lost > sum/2 }) {
		return // who waits for it is told, and costs more
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
		Selection: finding.Selection{Regions: c.books.ids[top]},
		Text: fmt.Sprintf("%s %s of the time of %s, most in %s (%s).", lead, view.FormatShare(hit), whose,
			middle(c.books.regionNames[top]), c.amount(float64(most))),
		Evidence: []finding.Evidence{{Name: "time", Value: float64(sum), Unit: c.unit},
			{Name: "share of the time", Value: hit, Unit: "share"},
			{Name: c.books.regionNames[top], Value: float64(most), Unit: c.unit}}}, nil)
}
