package timeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// spanColour gives the colour of a span by what colours mean.
func (r *painter) spanColour(s *span) scene.Colour {
	switch r.opt.colour {
	case "duration":
		return scene.Ramp(r.opt.palette, r.durations.share(s.longest))
	case "role", "busy":
		return r.roleColour(s.role)
	}
	if s.region == trace.NoRegion {
		return r.roleColour(s.role)
	}
	return r.regionColour(s.region)
}

// regionColour looks a region's colour up once.
func (r *painter) regionColour(id trace.RegionID) scene.Colour {
	if r.known == nil {
		r.known = slices.Repeat([]scene.Colour{scene.None}, len(r.regions))
	}
	if r.known[id] == scene.None {
		r.known[id] = r.colours.Of(&r.regions[id])
	}
	return r.known[id]
}

// roleColour gives the colour of a role; with --colour busy there are two.
func (r *painter) roleColour(role trace.Role) scene.Colour {
	if r.opt.colour == "busy" {
		if role.Busy() {
			return scene.RoleColour(uint8(trace.RoleCompute))
		}
		return scene.RoleColour(uint8(trace.RoleIdle))
	}
	return scene.RoleColour(uint8(role))
}

// A durationScale maps durations to [0, 1] by their logarithm.
type durationScale struct{ low, high trace.Time }

func (d *durationScale) share(t trace.Time) float64 {
	if t <= d.low || d.low <= 0 {
		return 0
	}
	if d.high <= d.low {
		return 1
	}
	return math.Log(float64(t)/float64(d.low)) / math.Log(float64(d.high)/float64(d.low))
}

// A total is the innermost time of a region in the rows shown.
type total struct {
	region trace.RegionID
	time   trace.Time
	calls  int64
}

// mostEntries is how many regions the legend lists.
const mostEntries = 20

// legend explains colours: roles where groups are drawn, then regions by their
// time in the window.
func (r *painter) legend() []scene.LegendEntry {
	var out []scene.LegendEntry
	switch r.opt.colour {
	case "duration":
		if r.durations.high > 0 {
			section := scene.RampSection(r.opt.palette)
			out = append(out, scene.LegendEntry{
				Label: "duration", Colour: section.At(0), RampEnd: section.At(section.Length - 1), Region: scene.NoID,
				Parent:  scene.NoID,
				RampLow: view.FormatTime(r.durations.low), RampHigh: view.FormatTime(r.durations.high),
			})
		}
	case "busy":
		return []scene.LegendEntry{entry("busy", r.roleColour(trace.RoleCompute)),
			entry("not busy", r.roleColour(trace.RoleIdle))}
	}
	out = append(out, r.roleLegend()...)
	if r.opt.colour == "region" {
		out = r.regionLegend(out)
	}
	return out
}

func entry(label string, c scene.Colour) scene.LegendEntry {
	return scene.LegendEntry{Label: label, Colour: c, Region: scene.NoID, Parent: scene.NoID}
}

// roleLegend lists the roles that are drawn as such.
func (r *painter) roleLegend() (out []scene.LegendEntry) {
	used := [trace.RoleCount]bool{}
	for _, g := range r.groups {
		if g != nil {
			for i, t := range g.time {
				used[i%trace.RoleCount] = used[i%trace.RoleCount] || t > 0
			}
		}
	}
	if r.opt.colour == "role" {
		for _, l := range r.leaves {
			if l != nil {
				for _, s := range l.list {
					for i := range s.spans {
						used[s.spans[i].role] = true
					}
				}
			}
		}
	}
	for _, role := range roleOrder {
		if used[role] {
			out = append(out, entry(role.String(), r.roleColour(role)))
		}
	}
	return out
}

// regionLegend adds regions by time to the roles listed; those of one name are one
// entry, and so are a role and a region that share name and colour.
func (r *painter) regionLegend(roles []scene.LegendEntry) []scene.LegendEntry {
	out := roles
	names := map[string]bool{}
	more := 0
	for _, t := range r.totals {
		g := &r.regions[t.region]
		if names[g.Name] {
			continue
		}
		names[g.Name] = true
		if i := slices.IndexFunc(roles,
			func(e scene.LegendEntry) bool {
				return e.Label == g.Name &&
					e.Colour == r.regionColour(t.region)
			}); i >= 0 {
			out[i].Region = uint32(t.region)
			continue
		}
		if len(out) == len(roles)+mostEntries {
			more++
			continue
		}
		e := entry(g.Name, r.regionColour(t.region))
		e.Region = uint32(t.region)
		out = append(out, e)
	}
	if more > 0 {
		out = append(out, entry(fmt.Sprintf("+ %s more", view.Thousands(int64(more))), scene.None))
	}
	return slices.Clip(out)
}

func counterRange(c *series) string {
	low, high := view.FormatCount(c.min), view.FormatCount(c.max)
	if low == high {
		return high + " " + c.unit
	}
	return low + " – " + high + " " + c.unit
}
