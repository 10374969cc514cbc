package timeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// inks give things their colours by the chosen meaning of colours.
type inks struct {
	by        string // --colour
	palette   string
	durations durationScale
	regions   []trace.Region
	colours   *view.Colours
	known     []scene.Colour // of regions, None: not looked up yet
}

func newInks(in *input, c *content, colours *view.Colours) *inks {
	return &inks{by: in.opt.colour, palette: in.opt.palette, durations: durationRange(c.leaves), regions: in.regions,
		colours: colours, known: slices.Repeat([]scene.Colour{scene.None}, len(in.regions))}
}

// span returns the colour of a span.
func (k *inks) span(s *span) scene.Colour {
	switch {
	case k.by == "duration":
		return scene.Ramp(k.palette, k.durations.share(s.longest))
	case k.by == "role" || k.by == "busy" || s.region == trace.NoRegion:
		return k.role(s.role)
	}
	return k.region(s.region)
}

// alike reports whether two aggregates look alike.
func (k *inks) alike(a, b *span) bool { return k.span(a) == k.span(b) && cover(a) == cover(b) }

// region looks a region's colour up once.
func (k *inks) region(id trace.RegionID) scene.Colour {
	if k.known[id] == scene.None {
		k.known[id] = k.colours.Of(&k.regions[id])
	}
	return k.known[id]
}

// role returns the colour of a role; with --colour busy there are two.
func (k *inks) role(role trace.Role) scene.Colour {
	if k.by == "busy" {
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

// durationRange spans the durations that are drawn.
func durationRange(leaves []*strips) (d durationScale) {
	eachSpan(leaves, func(s *span) {
		if t := s.longest; t > 0 {
			if d.low == 0 || t < d.low {
				d.low = t
			}
			d.high = max(d.high, t)
		}
	})
	return d
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
func legend(c *content, inks *inks) []scene.LegendEntry {
	var out []scene.LegendEntry
	switch inks.by {
	case "duration":
		if inks.durations.high > 0 {
			out = append(out, plot.RampKey("duration", inks.palette, view.FormatTime(inks.durations.low),
				view.FormatTime(inks.durations.high)))
		}
	case "busy":
		return []scene.LegendEntry{plot.Key("busy", inks.role(trace.RoleCompute)),
			plot.Key("not busy", inks.role(trace.RoleIdle))}
	}
	out = append(out, roleLegend(c, inks)...)
	if inks.by == "region" {
		out = regionLegend(out, c.totals, inks)
	}
	return out
}

// roleLegend lists the roles that are drawn as such.
func roleLegend(c *content, inks *inks) (out []scene.LegendEntry) {
	used := [trace.RoleCount]bool{}
	for _, g := range c.groups {
		if g != nil {
			for i, t := range g.time {
				used[i%trace.RoleCount] = used[i%trace.RoleCount] || t > 0
			}
		}
	}
	if inks.by == "role" {
		eachSpan(c.leaves, func(s *span) { used[s.role] = true })
	}
	for _, role := range roleOrder {
		if used[role] {
			out = append(out, plot.Key(role.String(), inks.role(role)))
		}
	}
	return out
}

// regionLegend adds regions by time to the roles listed; those of one name are one
// entry, and so are a role and a region that share name and colour.
func regionLegend(roles []scene.LegendEntry, totals []total, inks *inks) []scene.LegendEntry {
	out := roles
	names := map[string]bool{}
	more := 0
	for _, t := range totals {
		name, colour := inks.regions[t.region].Name, inks.region(t.region)
		if names[name] {
			continue
		}
		names[name] = true
		same := func(e scene.LegendEntry) bool { return e.Label == name && e.Colour == colour }
		if i := slices.IndexFunc(roles, same); i >= 0 {
			out[i].Region = uint32(t.region)
			continue
		}
		if len(out) == len(roles)+mostEntries {
			more++
			continue
		}
		e := plot.Key(name, colour)
		e.Region = uint32(t.region)
		out = append(out, e)
	}
	if more > 0 {
		out = append(out, plot.Key(fmt.Sprintf("+ %s more", view.Thousands(int64(more))), scene.None))
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
