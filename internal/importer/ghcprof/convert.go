package ghcprof

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A profile is the content of a file.
type profile struct {
	w       trace.Writer
	at      trace.LocationID
	out     *stack.Profile
	tick    float64 // ns
	regions map[centre]trace.RegionID
	open    []trace.RegionID
	nodes   int
}

type centre struct{ name, module, source string }

// add takes a node at a depth below the one before.
func (p *profile) add(depth int, c centre, ticks, bytes float64) {
	p.nodes++
	p.open = p.open[:min(depth, len(p.open))]
	p.open = append(p.open, importer.Once(p.regions, c, func() trace.RegionID {
		r := trace.Region{Name: c.name, Category: c.module}
		if c.name == "IDLE" {
			r.Role = trace.RoleIdle
		}
		if c.source != "" && !strings.HasPrefix(c.source, "<") {
			r.Attributes = []trace.Attribute{{Key: "source", Value: trace.Text(c.source)}}
		}
		return p.w.Region(r)
	}))
	p.out.Add(p.at, p.open, []float64{ticks * p.tick, bytes})
}
