package diagnose

// How the computing of GPUs varies from rank to rank within steps.

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// leastVariation is from when on the computing of one step varies from rank to rank: with inputs of one length it
	// varies by 2 or 3 %.
	leastVariation = 0.05
	// variedShare is the part of the waiting that this must explain.
	variedShare = 0.5
)

// A variation is how the computing of GPUs varies from rank to rank within steps.
type variation struct {
	kind  string     // of the rows of GPUs
	cv    float64    // coefficient of variation, mean over steps
	lost  trace.Time // by which steps would be shorter if each dealt its work evenly, times ranks
	steps int
	each  spread // of what is lost, over steps
}

// variationOf returns the variation of a GPU job with steps; false if it is no such job.
func (c *diagnosis) variationOf() (v variation, ok bool) {
	n := len(c.phases.List)
	if c.alike.what != "GPUs" || c.phases.Sliced || n < fewestSteps || len(c.units) < 3 {
		return v, false
	}
	busy := make([]float64, len(c.units)*n)
	for row, id := range c.rows {
		if k := c.tree.Kind[id]; k != trace.KindStream && k != trace.KindDevice {
			continue
		}
		if v.kind != "" && v.kind != c.class[row] {
			return v, false
		}
		v.kind = c.class[row]
		for k := range n {
			busy[int(c.unitOf[id])*n+k] += float64(c.cells.Busy[row*n+k])
		}
	}
	lost := 0.0
	for k := range n {
		most, sum, squares := 0.0, 0.0, 0.0
		for u := range c.units {
			if c.phases.Span(u, k).Absent() {
				return v, false
			}
			x := busy[u*n+k]
			most, sum, squares = max(most, x), sum+x, squares+x*x
		}
		if sum == 0 {
			continue
		}
		units := float64(len(c.units))
		mean := sum / units
		v.cv += math.Sqrt(max(squares/units-mean*mean, 0)) / mean
		lost += units*most - sum
		v.each.add(units*most - sum)
		v.steps++
	}
	v.cv /= float64(max(v.steps, 1))
	v.lost = trace.Time(lost)
	return v, v.steps > 0
}

// fewestSteps is how many steps tell whether each varies.
const fewestSteps = 4

// variationQuery asks for something of the steps: the most m, the mean a, and the mean square q of the computing of a
// unit, and the number n of units.
func (c *diagnosis) variationQuery(v *variation, what string) string {
	phases := c.phaseTable()
	if phases == "" {
		return ""
	}
	return fmt.Sprintf("with s as (select number, max(busy) as m, avg(busy) as a, avg(1.0 * busy * busy) as q, "+
		"count(*) as n from %s where kind = %s group by 1) select %s from s where a > 0", phases, quoted(v.kind), what)
}

// wordLengths words steps whose computing varies from rank to rank, now on one and now on another: they wait for the
// one with most to compute. It reports whether that explains the waiting.
func wordLengths(c *diagnosis, waited trace.Time, region trace.RegionID) bool {
	v, ok := c.variationOf()
	hit := float64(v.lost) / (float64(len(c.units)) * float64(c.length))
	if !ok || v.cv < leastVariation || float64(v.lost) < variedShare*float64(waited) ||
		finding.LevelOf(hit) == finding.Low {
		return false
	}
	c.add(finding.Finding{Kind: finding.Imbalance, Severity: finding.LevelOf(hit), Lost: v.lost, Hit: hit,
		View:    "phases",
		Options: c.phaseOption(), Next: "Give inputs of similar length to all ranks in each step, or pack them.",
		Text: fmt.Sprintf("The work of a step is spread unevenly, and in each step another %s has the most, as with "+
			"inputs of different length. Computing varies by %s within a step (coefficient of variation), and the "+
			"others wait in %s. Spread evenly, all %ss together would need %s less.", c.unitWord(),
			words.FormatShare(v.cv),
			words.Middle(c.regions[region].Name), c.unitWord(), words.FormatTime(v.lost)),
		Evidence: []finding.Evidence{
			{Name: "beyond the mean of each step", Value: float64(v.lost), Unit: "ns",
				From: c.variationQuery(&v, "total(n * (m - a))")},
			{Name: "coefficient of variation", Value: v.cv, Unit: "share",
				From: c.variationQuery(&v, "avg(sqrt(max(q - a * a, 0)) / a)")},
			{Name: "steps", Value: float64(v.steps), Unit: "count", From: c.variationQuery(&v, "count(*)")}},
		Selection: finding.Selection{Regions: []trace.RegionID{region}}}, nil)
	c.gainOfRun(float64(v.lost)/float64(len(c.units)), "the work of each step were spread evenly", v.each)
	return true
}
