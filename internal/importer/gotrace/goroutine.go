package gotrace

import (
	"strconv"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A goroutine is one that lives now.
type goroutine struct {
	row
	state
	id     xtrace.GoID
	on     *processor // nil where it is on none
	start  string     // function; empty while no stack told it
	region trace.RegionID
	own    bool // it works for the runtime; known with start
	memo   [2]stackMemo
	ranges []span

	// What most events do not ask for comes last.
	begin   trace.Time // of its life
	created xtrace.Stack
	open    []span     // user regions
	held    []heldLink // until it has a row, as are
	early   []early    // states
}

// unknownStart groups goroutines of which no stack was ever recorded.
const unknownStart = "(start not recorded)"

// ofRuntime reports whether goroutines that start in a function work for the
// runtime and not for the program.
func ofRuntime(start string) bool {
	return strings.HasPrefix(start, "runtime.") && start != "runtime.main"
}

// learn takes the start function from the goroutine's own stack.
func (g *goroutine) learn(s xtrace.Stack) {
	if g.start == "" {
		g.start = outermost(s)
	}
}

// find gives a goroutine that lives, or one that was not seen before.
func (c *converter) find(id xtrace.GoID) *goroutine {
	g := c.living(id)
	if g == nil {
		g = &goroutine{id: id, begin: c.first, state: state{since: c.first}}
		c.g[id] = g
		c.recent[uint64(id)%recentSize] = g
	}
	return g
}

// recentSize is how many goroutines are found without asking the map: their ids are
// given in order, so those that are busy at one time rarely share a place.
const recentSize = 1 << 12

// living gives a goroutine that lives; nil for others.
func (c *converter) living(id xtrace.GoID) *goroutine {
	place := &c.recent[uint64(id)%recentSize]
	if g := *place; g != nil && g.id == id {
		return g
	}
	g := c.g[id]
	if g != nil {
		*place = g
	}
	return g
}

// forget takes out a goroutine that has ended.
func (c *converter) forget(g *goroutine) {
	delete(c.g, g.id)
	if place := &c.recent[uint64(g.id)%recentSize]; *place == g {
		*place = nil
	}
}

// locate defines the row of a goroutine. It comes as late as possible, since the
// group is the start function. Its life and its states are written as they come, so
// that the writer need not sort them; what may cross them is written whole.
func (c *converter) locate(g *goroutine) {
	if g.stream != nil {
		return
	}
	if g.start == "" {
		g.start = unknownStart
	}
	group, ok := c.groups[g.start]
	if !ok {
		group = c.group(c.goroutines, g.start, 0)
		c.groups[g.start] = group
	}
	role := trace.RoleCompute
	if g.own = ofRuntime(g.start); g.own {
		role = trace.RoleOverhead
	}
	g.region = c.region(g.start, "goroutine", role)
	const word = "goroutine "
	c.text = strconv.AppendInt(append(c.text[:0], word...), int64(g.id), 10)
	name := string(c.text)
	g.at = c.w.Location(trace.Location{Parent: group, Kind: kindGoroutine, Key: name[len(word):], Name: name, Rank: trace.NoRank, Order: int64(g.id)})
	c.located++
	g.stream = c.w.Stream(g.at, trace.StreamOptions{Unordered: true})
	g.stream.Enter(g.begin, g.region) // its life
	if s, ok := c.stackOf(g, g.created); ok {
		g.stream.Attribute(c.attr.created, s)
	}
	for _, e := range g.early {
		c.writeState(e.until, g, &e.state, e.on)
	}
	held := g.held
	g.held, g.early = nil, nil
	for _, l := range held {
		c.join(l)
	}
}

// goroutineMoves takes a change of a goroutine's state. At the edges of
// generations states are repeated: these go on.
func (c *converter) goroutineMoves(t trace.Time, e *xtrace.Event, tr *xtrace.StateTransition) {
	from, to := tr.Goroutine()
	g := c.find(tr.Resource.Goroutine())
	g.learn(tr.Stack)
	if from == xtrace.GoNotExist {
		c.create(t, e, g)
	}
	if from.Executing() && e.Goroutine() == g.id {
		g.learn(e.Stack())
	}
	if from == to {
		return
	}
	c.endState(t, g)
	c.countStates(t, from, to)
	if from == xtrace.GoWaiting && to == xtrace.GoRunnable {
		c.link(trace.LinkWake, e.Goroutine(), g, t)
	}
	if from == xtrace.GoUndetermined {
		t = c.first // it has been in this state since the trace began
	}
	g.is, g.since, g.reason, g.stopped = to, t, tr.Reason, tr.Stack
	c.place(t, e.Proc(), g, from, to)
	if to == xtrace.GoNotExist {
		c.endGoroutine(t, g)
		c.forget(g)
	}
}

// create begins the life of a goroutine.
func (c *converter) create(t trace.Time, e *xtrace.Event, g *goroutine) {
	g.begin, g.since, g.created = t, t, e.Stack()
	if creator := c.living(e.Goroutine()); creator != nil {
		creator.learn(e.Stack())
	}
	c.link(trace.LinkSpawn, e.Goroutine(), g, t)
}

// link joins what one goroutine did to another.
func (c *converter) link(kind trace.LinkKind, from xtrace.GoID, to *goroutine, t trace.Time) {
	cause := c.living(from)
	if cause == nil || cause == to {
		return // the network poller, a timer, a signal
	}
	c.join(heldLink{kind, cause, to, t})
}

// join writes a link, or holds it.
func (c *converter) join(l heldLink) {
	cause, to := l.from, l.to
	if cause.stream == nil {
		if cause.start == "" {
			cause.held = append(cause.held, l)
			return
		}
		c.locate(cause)
	}
	if to.stream == nil {
		if to.start == "" {
			to.held = append(to.held, l)
			return
		}
		c.locate(to)
	}
	out := trace.Link{
		Kind: l.kind, Size: -1, Communicator: trace.NoCommunicator,
		From: trace.End{Location: cause.at, Time: l.at, Region: trace.NoRegion}, To: trace.End{Location: to.at, Time: l.at, Region: trace.NoRegion},
	}
	if l.kind == trace.LinkSpawn { // from life to life, so that creations make a tree
		out.From.Region, out.To.Region = cause.region, to.region
	}
	c.w.Link(out)
}

// endGoroutine ends the life of a goroutine and what is open in it.
func (c *converter) endGoroutine(t trace.Time, g *goroutine) {
	c.locate(g)
	c.endState(t, g)
	g.is = xtrace.GoNotExist
	for _, r := range g.ranges {
		g.stream.Interval(r.begin, t, c.rangeRegion(r.name, onGoroutine))
	}
	for i := len(g.open) - 1; i >= 0; i-- {
		c.writeRegion(t, g, g.open[i])
	}
	g.stream.Leave(t, g.region)
	c.keep(g.stream.Close())
}
