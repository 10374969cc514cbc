package diagnose

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

func growth(c finding.Course) []finding.Evidence {
	return []finding.Evidence{{Name: "waited in the first tenth of the run", Value: c.First, Unit: "ns"},
		{Name: "waited in the last tenth of the run", Value: c.Last, Unit: "ns"}}
}

// findGrowth: the work of a phase grows from phase to phase on all units alike, so that the run takes
// longer though no unit waits for another. The loss is the work beyond that of the first phase, by the
// straight line through all.
func findGrowth(c *diagnosis) error {
	if !c.followed() {
		return nil
	}
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
			words.FormatDuration(from), c.unitWord(), p.List[0].Name, words.FormatDuration(last), p.List[n-1].Name,
			words.FormatDuration(lost))
		c.add(finding.Finding{Kind: finding.Growth, Severity: level, Lost: trace.Time(lost), Hit: hit, Text: text,
			View: "phases", Options: c.phaseOption(),
			Evidence: []finding.Evidence{{Name: "work in " + p.List[0].Name, Value: from, Unit: "ns"},
				{Name: "work in " + p.List[n-1].Name, Value: last, Unit: "ns"},
				{Name: "work beyond the first", Value: lost, Unit: "ns"}}}, nil)
		c.gainOfRun(lost/float64(len(c.units)), "all phases took as long as the first")
	}
	return nil
}
