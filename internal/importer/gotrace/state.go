package gotrace

import (
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A state is the state of a goroutine from a time on.
type state struct {
	is      xtrace.GoState
	since   trace.Time
	reason  string
	stopped xtrace.Stack // where it stopped running
	woke    xtrace.Stack // where another was that made it able to run
	on      *processor   // nil for none
}

// An earlyState is one that began before any stack of its goroutine was seen.
type earlyState struct {
	state
	until trace.Time // where it has ended
	ended bool
}

// mostEarly bounds how many states wait for a stack.
const mostEarly = 16

// beginState writes the state that a goroutine comes into.
func (c *actors) beginState(g *goroutine, s *state) {
	if g.stream == nil && g.start == nil {
		g.early.states = append(g.early.states, earlyState{state: *s})
		return
	}
	c.locate(g)
	c.enterState(g, s)
}

// endState writes that a goroutine leaves its state, if it is in any.
func (c *actors) endState(t trace.Time, g *goroutine) {
	if g.stream != nil {
		c.leaveState(t, g)
		return
	}
	n := len(g.early.states)
	if n == 0 {
		return
	}
	if last := &g.early.states[n-1]; !last.ended {
		last.until, last.ended = t, true
	}
	if n > mostEarly {
		c.locate(g)
	}
}

// enterState gives the begin of a state and all that is known of it.
func (c *actors) enterState(g *goroutine, s *state) {
	g.region = c.stateRegion(g, s)
	g.enter(s.since, g.region)
	g.state = g.rows
	if s.is == xtrace.GoRunning {
		if s.on != nil {
			g.stream.Attribute(c.attr.processor, trace.Integer(int64(s.on.id)))
		}
		return
	}
	if at := c.stackOf(g, s.stopped); at != nil {
		g.stream.Attribute(c.attr.stack, at.text)
		c.stopAt(g, s, at)
	}
	if s.woke != xtrace.NoStack {
		if at := c.textOf(s.woke).orNone(); at != nil {
			g.stream.Attribute(c.attr.woken, at.text)
		}
	}
	if s.is == xtrace.GoRunnable && s.reason != "" {
		g.stream.Attribute(c.attr.reason, trace.Text(s.reason))
	}
}

func (c *actors) leaveState(t trace.Time, g *goroutine) {
	if g.state != 0 {
		g.stream.Leave(t, g.region)
		g.state = 0
		c.goOn(t, g)
	}
}

func (c *dictionary) stateRegion(g *goroutine, s *state) trace.RegionID {
	switch s.is {
	case xtrace.GoRunning:
		if g.start.own {
			return c.fix(&c.fixed.working, "runtime running", "runtime", trace.RoleOverhead)
		}
		return c.fix(&c.fixed.running, "running", "state", trace.RoleCompute)
	case xtrace.GoRunnable:
		return c.fix(&c.fixed.runnable, "runnable", "state", trace.RoleIdle)
	case xtrace.GoSyscall:
		return c.fix(&c.fixed.syscall, "syscall", "state", trace.RoleIO)
	case xtrace.GoWaiting:
		return c.waitRegion(s.reason, g.start.own)
	}
	return c.region(strings.ToLower(s.is.String()), "state", trace.RoleAnnotation)
}

// waitRegion returns the region of waiting for a reason; own is for goroutines of the
// runtime.
func (c *dictionary) waitRegion(reason string, own bool) trace.RegionID {
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

// waitingRole returns the role of a goroutine's wait by its reason.
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
