package diagnose

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// mostUnits is up to how many units are looked at bin by bin.
const mostUnits = 20_000

// findIdle: units that begin to work later, or end earlier, than the others.
func findIdle(c *diagnosis) error {
	if !c.compared || c.profile {
		return nil
	}
	if len(c.units) < 4 || len(c.units) > mostUnits || c.untimed {
		return nil
	}
	g, err := c.store.Groups(c.ctx, c.units, c.window.Begin, c.window.End, binLevel(c))
	if err != nil || g.Bins == 0 {
		return err
	}
	starts, ends := make([]float64, 0, len(c.units)), make([]float64, 0, len(c.units))
	units := []int32{}
	for u := range c.units {
		first, last := -1, -1
		for b := range g.Bins {
			for r := range trace.Role(trace.RoleCount) {
				if r.Busy() && g.Time[(u*g.Bins+b)*trace.RoleCount+int(r)] > 0 {
					if first < 0 {
						first = b
					}
					last = b + 1
				}
			}
		}
		if first >= 0 {
			units = append(units, int32(u))
			starts = append(starts, float64(trace.Time(first)<<g.Level))
			ends = append(ends, float64(c.span)-min(float64(trace.Time(last)<<g.Level), float64(c.span)))
		}
	}
	wordIdle(c, finding.IdleStart, units, starts, "%s %s to work %s after the others", [2]string{"begins", "begin"})
	wordIdle(c, finding.IdleEnd, units, ends, "%s %s work %s before the others", [2]string{"ends its", "end their"})
	return nil
}

func wordIdle(c *diagnosis, kind finding.Kind, units []int32, values []float64, text string, verb [2]string) {
	middleValue := finding.Median(values)
	apart := make([]float64, len(values))
	for i, v := range values {
		apart[i] = math.Abs(v - middleValue)
	}
	unit := 1.4826 * finding.Median(apart)
	var late []int32
	lost := 0.0
	for i, v := range values {
		if d := v - middleValue; d > 2*finding.MediumShare*float64(c.length) && d > finding.Beyond(len(values))*unit {
			late = append(late, units[i])
			lost += v - middleValue
		}
	}
	if len(late) == 0 || float64(len(late)) > 0.4*float64(len(values)) || c.known(late) {
		return
	}
	each := lost / float64(len(late))
	hit := each / float64(c.length)
	c.add(finding.Finding{Kind: kind, Severity: c.unfelt(finding.LevelOf(hit).AtMost(finding.Medium)),
		Lost: trace.Time(lost), Hit: hit, View: "timeline",
		Text: fmt.Sprintf(text, capital(c.named(late)), words.Plural(len(late), verb[0], verb[1]),
			words.FormatDuration(each)) + ".",
		Evidence: []finding.Evidence{{Name: "idle on each", Value: each, Unit: "ns"},
			{Name: "units", Value: float64(len(late)), Unit: "count"}},
		Selection: finding.Selection{Locations: c.locations(late)}}, late)
}
