package gotrace

import (
	"slices"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A side is whose row an interval of a range is on.
type side int

const (
	onRuntime side = iota
	onProcessor
	onGoroutine
)

// rangeRegion returns the region of a range. On a goroutine's row it lies next to the states, which tell the time's
// role; globally it is a phase, not work.
func (c *dictionary) rangeRegion(name string, at side) trace.RegionID {
	last := &c.lastRange[at]
	if last.name != name {
		switch last.name = name; at {
		case onProcessor:
			last.region = c.region(name, "range", trace.RoleOverhead)
		case onGoroutine:
			last.region = c.region(name, "goroutine range", trace.RoleAnnotation)
		default:
			last.region = c.region(name, "phase", trace.RoleOverhead)
		}
	}
	return last.region
}

// A lastRange is the region that was last found for a range.
type lastRange struct {
	name   string
	region trace.RegionID
}

// scope returns the open ranges of the resource that a range belongs to.
func (c *converter) scope(id xtrace.ResourceID) (open *[]span, at side, ok bool) {
	switch id.Kind {
	case xtrace.ResourceNone:
		if c.runtime == nil {
			c.runtime = c.w.Stream(c.group(c.process, "runtime", 2), trace.StreamOptions{Unordered: true})
		}
		return &c.ranges, onRuntime, true
	case xtrace.ResourceGoroutine:
		return &c.find(id.Goroutine()).mark().ranges, onGoroutine, true
	case xtrace.ResourceProc:
		return &c.processor(id.Proc()).ranges, onProcessor, true
	}
	return nil, 0, false
}

func (c *converter) rangeBegins(t trace.Time, e *xtrace.Event, active bool) {
	r := e.Range()
	open, _, ok := c.scope(r.Scope)
	if !ok {
		c.skip(trace.MissingIntervals, "ranges of resources that are neither goroutines nor Ps")
		return
	}
	if findSpan(*open, r.Name) >= 0 {
		return // said again at the edge of a generation
	}
	if active {
		t = c.first // it has been there since the trace began
	}
	*open = append(*open, span{name: r.Name, begin: t, onP: t})
}

func (c *converter) rangeEnds(t trace.Time, e *xtrace.Event) {
	r := e.Range()
	open, at, ok := c.scope(r.Scope)
	i := -1
	if ok {
		i = findSpan(*open, r.Name)
	}
	if i < 0 {
		c.skip(trace.MissingIntervals, "ends of ranges that did not begin")
		return
	}
	s := (*open)[i]
	*open = slices.Delete(*open, i, i+1)
	region := c.rangeRegion(s.name, at)
	stream := c.runtime
	switch at {
	case onProcessor:
		p := c.processor(r.Scope.Proc())
		held := p.heldFacts()
		p.facts = c.facts(p.facts, e.RangeAttributes())
		c.happened(p, inner{s.begin, t, region, p.facts[held:]})
		return
	case onGoroutine:
		g := c.find(r.Scope.Goroutine())
		c.locate(g)
		g.interval(s.begin, t, region)
		if stream = g.stream; g.on != nil {
			c.happened(g.on, inner{begin: s.onP, end: t, region: c.rangeRegion(s.name, onProcessor)})
		}
	default:
		stream.Interval(s.begin, t, region)
	}
	for _, f := range c.facts(nil, e.RangeAttributes()) {
		stream.Attribute(f.id, f.value)
	}
}

// facts appends the attributes of a range to room.
func (c *dictionary) facts(room []fact, list []xtrace.RangeAttribute) []fact {
	for _, a := range list {
		v := trace.Value{}
		if a.Value.Kind() == xtrace.ValueUint64 {
			v = trace.Integer(int64(a.Value.Uint64()))
		} else {
			v = trace.Text(a.Value.String())
		}
		room = append(room, fact{c.factNames.ID(a.Name), v})
	}
	return room
}

// findSpan finds the innermost span of a name; -1 for none.
func findSpan(open []span, name string) int {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i].name == name {
			return i
		}
	}
	return -1
}
