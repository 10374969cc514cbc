package gotrace

import (
	"maps"
	"math"
	"slices"
	"strconv"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A processor is a P of the scheduler. Its rows are written in order of time, so
// that the writer need not sort them: the state when it begins, and the stay of a
// goroutine when it ends, with the intervals inside it.
type processor struct {
	row
	id      xtrace.ProcID
	state   xtrace.ProcState
	since   trace.Time // of the state
	late    bool       // the state is to be written when it ends
	written trace.Time // up to here rows are written
	g       *goroutine // which it runs; nil for none
	stay    trace.Time // when that began
	begun   bool       // the stay is written up to written
	inner   []inner    // that ended in the stay and are not written yet
	facts   []fact     // of them
	open    []openInner
	syscall trace.Time // when its system call began
	calling bool       // the goroutine is in a system call and still holds the P
	ranges  []span
}

// A processorTable finds Ps by their ids, which are small numbers.
type processorTable struct {
	near []*processor // by id
	far  map[xtrace.ProcID]*processor
}

const nearProcessors = 1 << 10

func (t *processorTable) get(id xtrace.ProcID) *processor {
	if uint64(id) < uint64(len(t.near)) {
		return t.near[id]
	}
	return t.far[id]
}

func (t *processorTable) put(p *processor) {
	if uint64(p.id) >= nearProcessors {
		if t.far == nil {
			t.far = map[xtrace.ProcID]*processor{}
		}
		t.far[p.id] = p
		return
	}
	for len(t.near) <= int(p.id) {
		t.near = append(t.near, nil)
	}
	t.near[p.id] = p
}

// all returns the Ps by id.
func (t *processorTable) all() (list []*processor) {
	for _, p := range t.near {
		if p != nil {
			list = append(list, p)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.far)) {
		list = append(list, t.far[id])
	}
	return list
}

// processor returns a P, which gets its row when it is first seen.
func (c *actors) processor(id xtrace.ProcID) *processor {
	p := c.p.get(id)
	if p == nil {
		number := strconv.FormatInt(int64(id), 10)
		p = &processor{id: id, written: math.MinInt64}
		p.at = c.w.Location(trace.Location{Parent: c.processors, Kind: trace.KindProcessor, Key: number,
			Name: "P " + number, Rank: trace.NoRank, Order: int64(id)})
		p.stream = c.w.Stream(p.at, trace.StreamOptions{Unordered: true})
		c.p.put(p)
	}
	return p
}

// processorMoves takes a change of a P's state. A P that stops, or is taken away,
// runs nothing from then on.
func (c *actors) processorMoves(t trace.Time, tr *xtrace.StateTransition) {
	from, to := tr.Proc()
	p := c.processor(tr.Resource.Proc())
	if from == to && p.state == to {
		return
	}
	ran := p.g != nil || p.written > math.MinInt64
	c.endProcessor(t, p)
	if from == xtrace.ProcUndetermined && (!c.untold || ran) {
		t = c.first // it has been in this state since the trace began
	}
	p.state, p.since = to, t
	region := c.processorRegion(p)
	if p.late = t < p.written; !p.late && region != trace.NoRegion {
		p.stream.Enter(t, region)
		p.written = t
	}
}

// processorRegion returns the region of a P's state.
func (c *dictionary) processorRegion(p *processor) trace.RegionID {
	switch p.state {
	case xtrace.ProcRunning:
		return c.fix(&c.fixed.scheduling, "scheduling", "processor", trace.RoleOverhead)
	case xtrace.ProcIdle:
		return c.fix(&c.fixed.idle, "idle", "processor", trace.RoleIdle)
	}
	return trace.NoRegion
}

// endProcessor ends the state that a P leaves.
func (c *actors) endProcessor(t trace.Time, p *processor) {
	if p.g != nil {
		c.leaveProcessor(t, p.g)
	}
	for _, r := range p.ranges {
		p.stream.Interval(r.begin, t, c.rangeRegion(r.name, onProcessor))
	}
	if region := c.processorRegion(p); region != trace.NoRegion && p.late {
		p.stream.Interval(p.since, t, region)
	} else if region != trace.NoRegion {
		p.stream.Leave(t, region)
		p.written = t
	}
	p.state, p.ranges = xtrace.ProcUndetermined, nil
}

// place follows a goroutine on and off the Ps. In a system call it keeps its P,
// until the P is taken away.
func (c *actors) place(t trace.Time, e *xtrace.Event, g *goroutine, to xtrace.GoState) {
	if p := g.on; p != nil && p.calling {
		c.endSyscall(t, p)
	}
	if !to.Executing() {
		c.leaveProcessor(t, g)
		return
	}
	if g.on == nil {
		if id := e.Proc(); id != xtrace.NoProc {
			c.enterProcessor(t, c.processor(id), g)
		}
	}
	if p := g.on; p != nil && to == xtrace.GoSyscall {
		p.calling, p.syscall = true, t
	}
}

func (c *actors) enterProcessor(t trace.Time, p *processor, g *goroutine) {
	if p.g != nil {
		c.leaveProcessor(t, p.g)
	}
	p.g, p.stay, p.begun, g.on = g, t, false, p
	ranges := g.ranges()
	for i := range ranges {
		ranges[i].onP = t
	}
}

// leaveProcessor writes a goroutine's stay on its P, with the intervals inside it.
func (c *actors) leaveProcessor(t trace.Time, g *goroutine) {
	p := g.on
	if p == nil {
		return
	}
	if p.calling {
		c.endSyscall(t, p)
	}
	for _, r := range g.ranges() {
		c.happened(p, inner{begin: r.onP, end: t, region: c.rangeRegion(r.name, onProcessor)})
	}
	c.endStay(t, p)
	p.g, g.on = nil, nil
}

func (c *actors) endSyscall(t trace.Time, p *processor) {
	c.happened(p, inner{begin: p.syscall, end: t, region: c.fix(&c.fixed.syscall, "syscall", "state", trace.RoleIO)})
	p.calling = false
}
