package gotrace

import (
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A state is what a goroutine does from a time on.
type state struct {
	is      xtrace.GoState
	since   trace.Time
	reason  string
	stopped xtrace.Stack // where it stopped running
}

// An early state is one that ended before any stack of its goroutine was seen.
type early struct {
	state
	until trace.Time
	on    *processor
}

// mostEarly bounds how many states wait for a stack.
const mostEarly = 16

// A heldLink waits for a goroutine of which no stack was seen yet: the row that it
// would get now is not the one where it belongs.
type heldLink struct {
	kind trace.LinkKind
	from *goroutine
	to   *goroutine
	at   trace.Time
}

// endState writes the state that a goroutine leaves.
func (c *converter) endState(t trace.Time, g *goroutine) {
	if g.is == xtrace.GoUndetermined || g.is == xtrace.GoNotExist {
		return
	}
	if g.stream == nil && g.start == "" && len(g.early) < mostEarly {
		g.early = append(g.early, early{g.state, t, g.on})
		return
	}
	c.locate(g)
	c.writeState(t, g, &g.state, g.on)
}

func (c *converter) writeState(t trace.Time, g *goroutine, s *state, on *processor) {
	region := c.stateRegion(g, s)
	g.stream.Enter(s.since, region)
	if s.is != xtrace.GoRunning {
		if text, ok := c.stackOf(g, s.stopped); ok {
			g.stream.Attribute(c.attr.stack, text)
		}
	}
	if s.is == xtrace.GoRunnable && s.reason != "" {
		g.stream.Attribute(c.attr.reason, trace.Text(s.reason))
	}
	if s.is == xtrace.GoRunning && on != nil {
		g.stream.Attribute(c.attr.processor, trace.Integer(int64(on.id)))
	}
	g.stream.Leave(t, region)
}

func (c *converter) stateRegion(g *goroutine, s *state) trace.RegionID {
	switch s.is {
	case xtrace.GoRunning:
		if g.own {
			return c.fix(&c.fixed.working, "runtime running", "runtime", trace.RoleOverhead)
		}
		return c.fix(&c.fixed.running, "running", "state", trace.RoleCompute)
	case xtrace.GoRunnable:
		return c.fix(&c.fixed.runnable, "runnable", "state", trace.RoleIdle)
	case xtrace.GoSyscall:
		return c.fix(&c.fixed.syscall, "syscall", "state", trace.RoleIO)
	case xtrace.GoWaiting:
		return c.waitRegion(s.reason, g.own)
	}
	return c.region(strings.ToLower(s.is.String()), "state", trace.RoleAnnotation)
}

// waitRegion gives the region of waiting for a reason; own is for goroutines of the
// runtime.
func (c *converter) waitRegion(reason string, own bool) trace.RegionID {
	if w := &c.lastWait; w.own == own && w.reason == reason && w.known {
		return w.region
	}
	waits, category, name, role := c.waits[0], "state", "waiting", waitingRole(reason)
	if own {
		waits, category, name, role = c.waits[1], "runtime", "runtime waiting", trace.RoleIdle
	}
	id, ok := waits[reason]
	if !ok {
		if reason != "" {
			name += ": " + reason
		}
		id = c.region(name, category, role)
		waits[reason] = id
	}
	c.lastWait = wait{region: id, reason: reason, own: own, known: true}
	return id
}

// waitingRole tells what a goroutine of the program waits for.
func waitingRole(reason string) trace.Role {
	switch {
	case reason == "network" || reason == "IO wait":
		return trace.RoleCommunication
	case reason == "sleep" || reason == "forever" || reason == "" || strings.HasPrefix(reason, "system goroutine"):
		return trace.RoleIdle
	case strings.Contains(reason, "GC") || reason == "preempted":
		return trace.RoleOverhead
	}
	return trace.RoleSynchronization
}
