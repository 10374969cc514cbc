package diagnose

// Fault: units begin to work later, or end earlier, than the others.

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
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
	e, err := c.edgesIn(binLevel(c), busyRoles)
	if err != nil || e == nil {
		return err
	}
	starts, ends := make([]float64, 0, len(c.units)), make([]float64, 0, len(c.units))
	units := []int32{}
	for u := range int32(len(c.units)) {
		if e.first[u] >= 0 {
			units = append(units, u)
			starts, ends = append(starts, e.begins(u)), append(ends, e.ends(c, u))
		}
	}
	late, early := apartFrom(c, units, starts), apartFrom(c, units, ends)
	if late == nil && early == nil {
		return nil
	}
	if e, err = c.finer(e); err != nil || e == nil {
		return err
	}
	wordIdle(c, finding.IdleStart, e, late, units, "%s %s to work %s after the others", [2]string{"begins", "begin"})
	wordIdle(c, finding.IdleEnd, e, early, units, "%s %s work %s before the others",
		[2]string{"ends its", "end their"})
	return nil
}

// busyRoles are those of work.
var busyRoles = []trace.Role{trace.RoleCompute, trace.RoleIO, trace.RoleCopy}

// apartFrom returns the units whose value lies far above the others'; nil where these are none, or many.
func apartFrom(c *diagnosis, units []int32, values []float64) (late []int32) {
	if len(values) == 0 {
		return nil
	}
	middleValue, unit := orderstat.Deviation(slices.Clone(values))
	for i, v := range values {
		if d := v - middleValue; d > 2*finding.MediumShare*float64(c.length) && d > finding.Beyond(len(values))*unit {
			late = append(late, units[i])
		}
	}
	if float64(len(late)) > 0.4*float64(len(values)) {
		return nil
	}
	return late
}

func wordIdle(c *diagnosis, kind finding.Kind, e *edges, late, units []int32, text string, verb [2]string) {
	if len(late) == 0 || c.known(late) {
		return
	}
	value := e.begins
	if kind == finding.IdleEnd {
		value = func(u int32) float64 { return e.ends(c, u) }
	}
	all, each := make([]float64, len(units)), 0.0
	for i, u := range units {
		all[i] = value(u)
	}
	middleValue := orderstat.Median(all)
	for _, u := range late {
		each += (value(u) - middleValue) / float64(len(late))
	}
	lost := each * float64(len(late))
	hit := each / float64(c.length)
	c.add(finding.Finding{Kind: kind, Severity: c.unfelt(finding.LevelOf(hit).AtMost(finding.Medium)),
		Lost: trace.Time(lost), Hit: hit, View: "timeline",
		Text: fmt.Sprintf(text, capital(c.named(late)), words.Plural(len(late), verb[0], verb[1]),
			words.FormatDuration(each)) + ".",
		Evidence: []finding.Evidence{{Name: "idle on each", Value: each, Unit: "ns",
			From: c.apartQueryOf(e, late, kind == finding.IdleEnd)},
			{Name: "units", Value: float64(len(late)), Unit: "count"}},
		Selection: finding.Selection{Locations: c.locations(late)}}, late)
}
