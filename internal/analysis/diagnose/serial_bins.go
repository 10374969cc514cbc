package diagnose

// Fault: one unit works and all others do not, in runs whose waits are not followed one by one.

import (
	"fmt"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// bins is over how many bins of time the run is looked at.
const bins = 64

func binLevel(c *diagnosis) int { return bits.Len64(uint64(max(c.span-1, 1) / bins)) }

// findSerial: stretches in which one unit works and all others do not. At the end of a
// run one unit is always last, so it takes twice as much to be grave.
func findSerial(c *diagnosis) error {
	if !c.summed() {
		return nil
	}
	if len(c.units) < 4 || c.untimed {
		return nil
	}
	tops := c.window.Locations
	if tops == nil {
		c.tree.Children(trace.NoLocation, func(id trace.LocationID) { tops = append(tops, id) })
	}
	g, err := c.store.Groups(c.ctx, tops, c.window.Begin, c.window.End, binLevel(c))
	if err != nil || g.Bins == 0 {
		return err
	}
	width := float64(int64(1) << g.Level)
	busy := make([]float64, g.Bins)
	for k := range tops {
		for b := range g.Bins {
			for r := range trace.Role(trace.RoleCount) {
				if r.Busy() {
					busy[b] += float64(g.Time[(k*g.Bins+b)*trace.RoleCount+int(r)]) / width
				}
			}
		}
	}
	first, last := longestSerial(busy)
	length := trace.Time(last-first) << g.Level
	begin := max(g.Begin+trace.Time(first)<<g.Level, c.window.Begin)
	hit := float64(length) / float64(c.length)
	if first < 0 || hit < 2*finding.MediumShare {
		return nil
	}
	t, err := c.totals(c.ctx, store.Window{Begin: begin, End: begin + length, Locations: c.window.Locations})
	if err != nil {
		return err
	}
	alone, share := mostBusy(c, t)
	if share < 0.6 || c.known([]int32{alone}) {
		return nil
	}
	lost := trace.Time(float64(length) * float64(len(c.units)-1))
	text := fmt.Sprintf("%s works alone from %s to %s (%s of the run) while the other %s wait.",
		capital(c.names[alone]), words.FormatTime(begin), words.FormatTime(begin+length), words.FormatShare(hit),
		words.Thousands(int64(len(c.units)-1)))
	c.add(finding.Finding{Kind: finding.Serial, Severity: finding.LevelOf(hit / 2), Lost: lost, Hit: hit, Text: text,
		View: "timeline",
		Evidence: []finding.Evidence{{Name: "length", Value: float64(length), Unit: "ns"},
			{Name: "share of the run", Value: hit, Unit: "share", From: c.aloneQuery(begin, begin+length, g.Level)},
			{Name: "others", Value: float64(len(c.units) - 1), Unit: "count", From: c.countQuery(c.allUnits(alone))},
			{Name: "share of the work done by it", Value: share, Unit: "share"}},
		Selection: finding.Selection{Begin: begin, End: begin + length}}, []int32{alone})
	return nil
}

// longestSerial is the longest run of bins with about one location busy.
func longestSerial(busy []float64) (first, last int) {
	first, last = -1, -1
	for i := 0; i < len(busy); i++ {
		k := i
		for k < len(busy) && busy[k] >= 0.3 && busy[k] <= 1.25 {
			k++
		}
		if k-i > last-first || first < 0 && k > i {
			first, last = i, k
		}
		i = k
	}
	return first, last
}

// mostBusy is the unit with the most busy time, and its part of all.
func mostBusy(c *diagnosis, t *totals) (int32, float64) {
	busy := make([]float64, len(c.units))
	sum := 0.0
	for i, row := range t.row {
		if c.regions[t.region[i]].Role.Busy() {
			busy[c.unitOf[c.rows[row]]] += t.exclusive[i]
			sum += t.exclusive[i]
		}
	}
	best := 0
	for u, v := range busy {
		if v > busy[best] {
			best = u
		}
	}
	if sum == 0 {
		return 0, 0
	}
	return int32(best), busy[best] / sum
}

// aloneQuery asks for the part of the run between two times in which about one location is busy, by bins.
func (c *diagnosis) aloneQuery(begin, end trace.Time, level int) string {
	if c.window.Begin != 0 || c.window.Locations != nil {
		return ""
	}
	width := int64(1) << level
	return fmt.Sprintf("with b as (select begin, total(busy) / %d as v from busy(%d, %d, %d) group by 1) select "+
		"count(*) * %d.0 / %d from b where begin >= %d and begin < %d and v between 0.3 and 1.25", width, width,
		c.window.Begin,
		c.window.End, width, c.length, begin, end)
}
