package gotrace

import (
	"strconv"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An actors holds goroutines and processors, their states, and the links between them.
type actors struct {
	levels

	processors trace.LocationID
	untold     bool // the trace does not say in which state Ps are when it begins

	g          herd
	spare      []*goroutine // that ended
	spareEarly *unplaced
	p          processorTable
	links      []trace.Link // yet to be given
	attr       attributes
	failed     error
}

// A goroutine is one that lives now.
type goroutine struct {
	id     xtrace.GoID
	stream trace.Stream // nil until it has a row
	on     *processor   // nil if it is on none
	start  *function    // nil while no stack told it
	begin  trace.Time   // of its life
	at     trace.LocationID
	rows   uint32 // given to the stream
	state  uint32 // which of them is the state that is open; 0 for none
	// stopped is where it waits since a time; nil while it does not, or for the runtime.
	stopped *halt
	since   trace.Time
	region  trace.RegionID // of that state
	held    int32          // links of others that wait for a row and name this one
	marks   *marks         // nil if there was none
	early   *unplaced      // nil once it has a row
}

// marks are the ranges open on a goroutine next to its states.
type marks struct {
	ranges  []span
	regions []span // of the program
}

// An unplaced holds the states and links of a goroutine until its row is known.
type unplaced struct {
	created xtrace.Stack
	states  []earlyState
	links   []heldLink
}

// life is the row of a goroutine's life: the first one that is given.
const life = 1

// newGoroutine returns one that is not yet in any state. Ended goroutines are used again.
func (c *actors) newGoroutine(id xtrace.GoID) *goroutine {
	if len(c.spare) == 0 {
		block := make([]goroutine, 32)
		for i := range block {
			c.spare = append(c.spare, &block[i])
		}
	}
	n := len(c.spare) - 1
	g := c.spare[n]
	c.spare = c.spare[:n]
	*g = goroutine{id: id, begin: c.first, early: c.spareEarly}
	if c.spareEarly = nil; g.early == nil {
		g.early = new(unplaced)
	}
	return g
}

// mark returns the marks of a goroutine, to be changed.
func (g *goroutine) mark() *marks {
	if g.marks == nil {
		g.marks = new(marks)
	}
	return g.marks
}

// ranges are those that are open on a goroutine.
func (g *goroutine) ranges() []span {
	if g.marks == nil {
		return nil
	}
	return g.marks.ranges
}

// marked reports whether something is within the state that is open.
func (g *goroutine) marked() bool {
	return g.marks != nil && len(g.marks.ranges)+len(g.marks.regions) > 0
}

func (g *goroutine) enter(t trace.Time, region trace.RegionID) {
	g.rows++
	g.stream.Enter(t, region)
}

func (g *goroutine) interval(begin, end trace.Time, region trace.RegionID) {
	g.rows++
	g.stream.Interval(begin, end, region)
}

// locate defines the row of a goroutine. It comes as late as possible, since the
// group is the start function. Its life and its states are written as they come, so
// that the writer need not sort them; intervals that may cross them are written
// whole.
func (c *actors) locate(g *goroutine) {
	if g.stream != nil {
		return
	}
	if g.start == nil {
		g.start = c.function(unknownStart)
	}
	c.define(g.start)
	const word = "goroutine "
	c.text = strconv.AppendInt(append(c.text[:0], word...), int64(g.id), 10)
	name := string(c.text)
	g.at = c.w.Location(trace.Location{Parent: g.start.group, Kind: trace.KindGoroutine, Key: name[len(word):],
		Name: name, Rank: trace.NoRank, Order: int64(g.id)})
	g.stream = c.w.Stream(g.at, trace.StreamOptions{Unordered: true})
	g.enter(g.begin, g.start.region)
	early := g.early
	g.early = nil
	if s := c.stackOf(g, early.created); s != nil {
		g.stream.Attribute(c.attr.created, s.text)
	}
	for i := range early.states {
		c.enterState(g, &early.states[i].state)
		if early.states[i].ended {
			c.leaveState(early.states[i].until, g)
		}
	}
	for _, l := range early.links {
		l.release()
		c.join(l, false)
	}
	clear(early.states)
	clear(early.links)
	*early = unplaced{states: early.states[:0], links: early.links[:0]}
	c.spareEarly = early
}

// goroutineMoves takes a change of a goroutine's state. At the edges of
// generations states are repeated: these go on.
func (c *actors) goroutineMoves(t trace.Time, e *xtrace.Event, tr *xtrace.StateTransition) {
	from, to := tr.Goroutine()
	g := c.find(tr.Resource.Goroutine())
	if g.start == nil {
		c.learn(g, tr.Stack)
	}
	if from == xtrace.GoNotExist {
		c.create(t, e, g)
	}
	if g.start == nil && from.Executing() && e.Goroutine() == g.id {
		c.learn(g, e.Stack())
	}
	if from == to {
		return
	}
	c.endState(t, g)
	c.countStates(t, from, to)
	woke := xtrace.NoStack
	if from == xtrace.GoWaiting && to == xtrace.GoRunnable {
		if by := c.running(e.Goroutine()); by != nil && by != g {
			c.link(trace.LinkWake, by, g, t)
			woke = e.Stack()
		}
	}
	if from == xtrace.GoUndetermined {
		t = c.first // it has been in this state since the trace began
	}
	c.place(t, e, g, to)
	if to == xtrace.GoNotExist {
		c.endGoroutine(t, g)
		c.forget(g)
		return
	}
	c.beginState(g, &state{is: to, since: t, reason: tr.Reason, stopped: tr.Stack, woke: woke, on: g.on})
}

// create begins the life of a goroutine.
func (c *actors) create(t trace.Time, e *xtrace.Event, g *goroutine) {
	g.begin = t
	if g.early != nil {
		g.early.created = e.Stack()
	}
	creator := c.running(e.Goroutine())
	if creator != nil && creator.start == nil {
		c.learn(creator, e.Stack())
	}
	c.link(trace.LinkSpawn, creator, g, t)
}

// endGoroutine ends the life of a goroutine and all that is open in it.
func (c *actors) endGoroutine(t trace.Time, g *goroutine) {
	c.locate(g)
	c.endState(t, g)
	if g.marks != nil {
		for _, r := range g.marks.ranges {
			g.interval(r.begin, t, c.rangeRegion(r.name, onGoroutine))
		}
		for i := len(g.marks.regions) - 1; i >= 0; i-- {
			c.writeRegion(t, g, g.marks.regions[i])
		}
		g.marks = nil
	}
	g.stream.Leave(t, g.start.region)
	c.keep(g.stream.Close())
}
