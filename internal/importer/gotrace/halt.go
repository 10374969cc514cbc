package gotrace

import (
	"slices"

	xtrace "golang.org/x/exp/trace"

	sums "github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Places are the lines at which goroutines of the program stopped, for how long and how often, and those at which the
// CPU profiler met them. They become rows of a profile and of source lines. Goroutines come and go, so all count for
// the process.
type places struct {
	order          []*halt       // with time that is not in the sums yet, in the order of their first use
	blocked, found *sums.Profile // nil while there is nothing to add
}

// A halt is a call stack in regions: it outlives the handle of the stack.
type halt struct {
	frames []sums.Frame // outermost first
	time   trace.Time
	times  int
	listed bool
}

// haltOf is the place of a stack; nil for one without frames.
func (c *dictionary) haltOf(known *stack) *halt {
	if known.halt == nil {
		known.halt = &halt{}
		frames(known.of, func(f xtrace.StackFrame) bool {
			region := c.regionOf(f.Func, f.File)
			known.halt.frames = append(known.halt.frames, sums.Frame{Region: region, Line: int(f.Line)})
			return true
		})
		slices.Reverse(known.halt.frames)
	}
	if len(known.halt.frames) == 0 {
		return nil
	}
	return known.halt
}

// regionOf is the region of a function, one for each name.
func (c *dictionary) regionOf(name, file string) trace.RegionID {
	id, ok := c.functionRegions[name]
	if !ok {
		role := trace.RoleCompute
		if ofRuntime(name) {
			role = trace.RoleOverhead
		}
		id = c.w.Region(trace.Region{Name: name, Category: "goroutine", File: file, Role: role})
		c.functionRegions[name] = id
	}
	return id
}

// stopAt keeps where a goroutine of the program waits or is in the system.
func (c *actors) stopAt(g *goroutine, s *state, at *stack) {
	if at != nil && !g.start.own && (s.is == xtrace.GoWaiting || s.is == xtrace.GoSyscall) {
		g.stopped, g.since = c.haltOf(at), s.since
	}
}

// goOn counts the time that a goroutine was stopped.
func (c *actors) goOn(t trace.Time, g *goroutine) {
	p := g.stopped
	if p == nil {
		return
	}
	g.stopped = nil
	p.time += t - g.since
	p.times++
	if !p.listed {
		p.listed = true
		c.places.order = append(c.places.order, p)
	}
}

// addPlaces puts the time of places into the sums.
func (c *dictionary) addPlaces(process trace.LocationID) {
	if c.places.blocked == nil && len(c.places.order) > 0 {
		c.places.blocked = sums.New(c.w, trace.Metric{Name: "blocked time", Unit: "ns", Integer: true, Default: true},
			trace.Metric{Name: "blocks", Integer: true})
	}
	for _, p := range c.places.order {
		c.places.blocked.AddFrames(process, p.frames, []float64{float64(p.time), float64(p.times)})
		p.time, p.times, p.listed = 0, 0, false
	}
	c.places.order = c.places.order[:0]
}

// finishPlaces writes the sums.
func (c *dictionary) finishPlaces(process trace.LocationID) {
	c.addPlaces(process)
	for _, p := range []*sums.Profile{c.places.blocked, c.places.found} {
		if p != nil {
			p.Finish()
		}
	}
}

// findAt keeps where the CPU profiler met the program.
func (c *converter) findAt(known *stack) {
	p := c.haltOf(known)
	if p == nil {
		return
	}
	if c.places.found == nil {
		c.places.found = sums.New(c.w, trace.Metric{Name: "samples", Integer: true})
	}
	c.places.found.AddFrames(c.process, p.frames, []float64{1})
}
