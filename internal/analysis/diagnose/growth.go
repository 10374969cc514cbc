package diagnose

// Fault: the work of a phase grows from phase to phase.

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

func (a *culprits) growth(f *fault, c finding.Course) []finding.Evidence {
	const first, last = (budget.Bins + 9) / 10, (9*budget.Bins + 9) / 10 // bins
	return []finding.Evidence{{Name: "waited in the first tenth of the run", Value: c.First, Unit: "ns",
		From: a.untilQuery(f, first, "x")},
		{Name: "waited in the last tenth of the run", Value: c.Last, Unit: "ns", From: a.untilQuery(f, last,
			"time - x")}}
}

// untilQuery asks for something of the waits for a fault, of which x is the part until the begin of a bin.
func (a *culprits) untilQuery(f *fault, bin int, what string) string {
	edge := float64(bin) * (float64(a.window.End-a.window.Begin) / budget.Bins)
	upto := fmt.Sprintf("iif(\"end\" - %d <= %.17g, time, iif(begin - %d >= %.17g, 0, cast(min(time * (%.17g - "+
		"(begin - %d)) / (\"end\" - begin), time) as integer)))", a.window.Begin, edge, a.window.Begin, edge, edge,
		a.window.Begin)
	waits := a.waitQuery(f, "time, "+upto+" as x", " and kind <> 'wait at the end'")
	if waits == "" {
		return ""
	}
	return fmt.Sprintf("with w as (%s) select total(%s) from w", waits, what)
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
	n, rows := len(p.List), c.peerRows()
	middle := make([]float64, n)
	busy := make([]float64, len(c.units))
	for k := range n {
		clear(busy)
		for _, row := range rows {
			busy[c.unitOf[c.rows[row]]] += float64(c.cells.Busy[int(row)*n+k])
		}
		middle[k] = orderstat.Median(busy)
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
		text := fmt.Sprintf("Work grows over time: a %[2]s works for %[1]s in %[3]s and for %[4]s in %[5]s (linear "+
			"fit of "+
			"all phases). If all phases took as long as the first, all would work %[6]s less.",
			words.FormatDuration(from), c.unitWord(), p.List[0].Name, words.FormatDuration(last), p.List[n-1].Name,
			words.FormatDuration(lost))
		c.add(finding.Finding{Kind: finding.Growth, Severity: level, Lost: trace.Time(lost), Hit: hit, Text: text,
			View: "phases", Options: c.phaseOption(),
			Evidence: []finding.Evidence{{Name: "work in " + p.List[0].Name, Value: from, Unit: "ns",
				From: c.lineQuery("a")},
				{Name: "work in " + p.List[n-1].Name, Value: last, Unit: "ns",
					From: c.lineQuery(fmt.Sprintf("a + b * %d", n-1))},
				{Name: "work beyond the first", Value: lost, Unit: "ns",
					From: c.lineQuery(fmt.Sprintf("b * %d * %d / 2 * %d", n, n-1, len(c.units)))}}}, nil)
		c.gainOfRun(lost/float64(len(c.units)), "all phases took as long as the first",
			spread{})
		g := c.list[len(c.list)-1].Gain
		g.Parts = n
		g.Error = trace.Time(2 * slopeError(middle, from, slope) * float64(n) * float64(n-1) / 2)
	}
	return nil
}

// lineQuery asks for something of the straight line a + b x through the median work of units, by phase x.
func (c *diagnosis) lineQuery(what string) string {
	phases := c.phaseTable()
	if phases == "" {
		return ""
	}
	return fmt.Sprintf("with u as (select number as x, unit, total(busy) as y from %s group by 1, 2), m as (select x, "+
		"median(y) as y from u group by 1), e as (select avg(x) as mx, avg(y) as my from m), l as (select total((x - "+
		"mx) * (y - my)) / total((x - mx) * (x - mx)) as b, mx, my from m, e), k as (select my - b * mx as a, b from "+
		"l) select %s from k", phases, what)
}

// slopeError is the standard error of the slope of a line through values.
func slopeError(values []float64, from, slope float64) float64 {
	n, rest := float64(len(values)), 0.0
	for x, v := range values {
		d := v - from - slope*float64(x)
		rest += d * d
	}
	return math.Sqrt(rest / (n - 2) / (n * (n*n - 1) / 12))
}
