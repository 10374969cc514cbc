package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A legacy holds the fields of events that are written in the older form, where a
// phase gives their type: the letters of Chrome's trace event format.
type legacy struct {
	nameID    uint64           `pb:"1"`
	phase     uint32           `pb:"2"`
	duration  protobuf.Integer `pb:"3"`       // µs
	id        protobuf.Value   `pb:"6,10,11"` // without scope, local or global
	idScope   []byte           `pb:"7"`
	bind      protobuf.Integer `pb:"8"`
	direction uint64           `pb:"13"`
	pid       protobuf.Integer `pb:"18"`
	tid       protobuf.Integer `pb:"19"`
}

// globalID is the number of the field for an id that holds in all processes.
const globalID = 11

var legacyTable = protobuf.TableOf[legacy]()

// legacyEvent takes an event of the older form.
func (c *eventConverter) legacyEvent(s *sequence, e *event, l *lane, p *packet, at trace.Time) {
	if e.legacy == nil {
		c.tally.Add(noType, p.at)
		return
	}
	g := &c.legacy
	*g = legacy{}
	legacyTable.Decode(e.legacy, g)
	if e.nameID == 0 && e.name == nil {
		e.nameID = g.nameID
	}
	if g.tid.Set && e.track == 0 {
		l = c.threadLane(s, p.machine, c.pidOf(s, g), int64(int32(g.tid.Value)))
	}
	switch byte(g.phase) {
	case 'B':
		c.begin(s, e, l, at)
	case 'E':
		c.end(s, e, l, at)
	case 'X':
		region := c.region(s, e)
		if !g.duration.Set {
			c.tally.Add(noDuration, p.at)
		}
		c.interval(l.track, at, at+trace.Time(g.duration.Value*1000), region, c.facts(s, e))
		c.bindPoints(g, l.track, at, region)
		c.flowPoints(e, l.track, at, region)
	case 'i', 'I', 'R':
		c.instant(l.track, at, c.region(s, e), c.facts(s, e))
		c.flowPoints(e, l.track, at, trace.NoRegion)
	case 'b', 'S':
		c.begin(s, e, c.asyncLane(s, e, g, l, p), at)
	case 'e', 'F':
		c.end(s, e, c.asyncLane(s, e, g, l, p), at)
	case 'n', 'T', 'p':
		c.instant(c.asyncLane(s, e, g, l, p).track, at, c.region(s, e), c.facts(s, e))
	case 's', 't', 'f':
		key := newHash().text(c.categoryOf(s, e)).text(c.nameOf(s, e)).number(g.id.Bits)
		c.flows = append(c.flows,
			flowPoint{id: uint64(key), at: at, track: l.track, region: trace.NoRegion, legacy: true,
				starts: byte(g.phase) == 's', ends: byte(g.phase) == 'f'})
	case 'M':
		c.tally.Add(metadata, p.at)
	default:
		c.tally.Add(unknownPhase, p.at)
	}
}

// bindPoints notes the flow of an event that says it goes in, out, or through.
func (c *linker) bindPoints(g *legacy, t *track, at trace.Time, region trace.RegionID) {
	if g.bind.Set && g.direction > 0 {
		c.flows = append(c.flows,
			flowPoint{id: uint64(g.bind.Value), at: at, track: t, region: region, legacy: true,
				starts: g.direction == 2, aside: g.direction == 1})
	}
}

func (c *eventConverter) pidOf(s *sequence, g *legacy) int64 {
	switch {
	case g.pid.Set:
		return int64(int32(g.pid.Value))
	case s.thread != nil:
		return s.thread.pid
	}
	return 0
}

// asyncLane is where an asynchronous activity of the older form is: a track for
// each id, below its process where the id is the process's own.
func (c *eventConverter) asyncLane(s *sequence, e *event, g *legacy, at *lane, p *packet) *lane {
	name := c.nameOf(s, e)
	pid := at.pid
	if g.pid.Set {
		pid = int64(int32(g.pid.Value))
	}
	h := newHash().text("async").text(c.categoryOf(s, e)).text(string(g.idScope)).number(g.id.Bits)
	if phase := byte(g.phase); phase == 'S' || phase == 'F' || phase == 'T' || phase == 'p' {
		h = h.text(name) // activities of the oldest form nest by id and name
	}
	global := g.id.Number == globalID || pid == 0
	if !global {
		h = h.number(uint64(pid))
	}
	l := s.lanes[uint64(h)]
	if l != nil {
		return l
	}
	t := c.track(uint64(h))
	if t.row == nil {
		above := c.root
		if !global {
			above = c.processRow(p.machine, pid).At
		}
		t.kind, t.name = ofProgram, name
		t.row = c.programRow(t, above)
	}
	l = c.newLane(t)
	s.lanes[uint64(h)] = l
	return l
}

// threadLane is where events are that name their thread themselves.
func (c *eventConverter) threadLane(s *sequence, machine uint32, pid, tid int64) *lane {
	h := uint64(newHash().text("thread").number(uint64(machine)).number(uint64(pid)).number(uint64(tid)))
	l := s.lanes[h]
	if l == nil {
		t := c.track(h)
		t.kind, t.machine, t.pid, t.tid = ofThread, machine, pid, tid
		l = c.newLane(t)
		s.lanes[h] = l
	}
	return l
}

// An oldThread is the thread that a sequence writes for, in traces from before
// tracks, and the times that its differences count from.
type oldThread struct {
	machine    uint32
	pid, tid   int64
	time       int64 // µs
	threadTime int64 // µs
	count      int64
}

// describeOldThread takes the description of a sequence's thread.
func (c *eventConverter) describeOldThread(s *sequence, p *packet) bool {
	d, ok := threadDescriptors.Of(p.payload)
	s.thread = &oldThread{machine: p.machine, pid: int64(d.pid), tid: d.tid, time: d.time, threadTime: d.cpuTime,
		count: d.instructions}
	c.nameThread(p.machine, s.thread.pid, d.tid, d.name)
	return ok
}

func (c *eventConverter) oldLane(s *sequence) *lane {
	return c.threadLane(s, s.thread.machine, s.thread.pid, s.thread.tid)
}

// oldTime is the time of an event whose packet has none, on the monotonic clock.
func (c *eventConverter) oldTime(s *sequence, p *packet, e *event) (trace.Time, bool) {
	var us int64
	switch {
	case e.time.Set:
		us = e.time.Value
	case e.deltaTime.Set && s.thread != nil:
		s.thread.time += e.deltaTime.Value
		us = s.thread.time
	default:
		return 0, false
	}
	return c.time(s, p, clockMono, uint64(us*1000)), true
}

// oldCounters takes the thread's own time and instructions, which old events hold.
func (c *eventConverter) oldCounters(s *sequence, e *event, l *lane, at trace.Time) {
	threadTime, count := e.threadTime, e.threadCount
	if s.thread != nil {
		if e.deltaThread.Set {
			s.thread.threadTime += e.deltaThread.Value
			threadTime = protobuf.Integer{Value: s.thread.threadTime, Set: true}
		}
		if e.deltaCount.Set {
			s.thread.count += e.deltaCount.Value
			count = protobuf.Integer{Value: s.thread.count, Set: true}
		}
	}
	if threadTime.Set {
		c.sample(c.oldCounter(l, "thread_time", "ns"), at, float64(threadTime.Value)*1000)
	}
	if count.Set {
		c.sample(c.oldCounter(l, "thread_instruction_count", ""), at, float64(count.Value))
	}
}

func (c *eventConverter) oldCounter(l *lane, name, unit string) *track {
	t := c.track(uint64(newHash().text(name).number(l.uuid)))
	if t.kind == undescribed {
		t.kind, t.name, t.unit, t.parent = ofCounter, name, unit, l.uuid
	}
	return t
}

// A hash makes numbers of tracks that have none, by FNV-1a.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h hash) text(s string) hash {
	for i := 0; i < len(s); i++ {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return (h ^ 0xff) * 1099511628211
}

func (h hash) number(n uint64) hash { return h.text(strconv.FormatUint(n, 16)) }
