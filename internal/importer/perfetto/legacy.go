package perfetto

import (
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A legacy holds the fields of events that are written in the older form, where a
// phase says what they are: the letters of Chrome's trace event format.
type legacy struct {
	phase          byte
	duration       int64 // µs
	lasting        bool
	id             uint64
	scope          byte // of the id: 'u', 'l' or 'g'; 0 for none
	idScope        []byte
	bind           uint64
	direction      uint64
	bound          bool
	pid, tid       int64
	hasPid, hasTid bool
	nameID         uint64
}

func (g *legacy) decode(b []byte) {
	*g = legacy{}
	m := open(b)
	for m.next() {
		switch m.number {
		case legacyName:
			g.nameID = m.value
		case legacyPhase:
			g.phase = byte(m.value)
		case legacyDuration:
			g.duration, g.lasting = int64(m.value), true
		case legacyUnscopedID:
			g.id, g.scope = m.value, 'u'
		case legacyScope:
			g.idScope = m.bytes
		case legacyBind:
			g.bind, g.bound = m.value, true
		case legacyLocalID:
			g.id, g.scope = m.value, 'l'
		case legacyGlobalID:
			g.id, g.scope = m.value, 'g'
		case legacyDirection:
			g.direction = m.value
		case legacyPid:
			g.pid, g.hasPid = int64(int32(m.value)), true
		case legacyTid:
			g.tid, g.hasTid = int64(int32(m.value)), true
		}
	}
}

// legacyEvent takes an event of the older form.
func (c *eventConverter) legacyEvent(s *sequence, e *event, l *lane, p *packet, at trace.Time) {
	if e.legacy == nil {
		c.tally.Add(noType, p.at)
		return
	}
	g := &c.legacy
	g.decode(e.legacy)
	if e.nameID == 0 && e.name == nil {
		e.nameID = g.nameID
	}
	if g.hasTid && e.track == 0 {
		l = c.threadLane(s, p.machine, c.pidOf(s, g), g.tid)
	}
	switch g.phase {
	case 'B':
		c.begin(s, e, l, at)
	case 'E':
		c.end(s, e, l, at)
	case 'X':
		region := c.region(s, e)
		if !g.lasting {
			c.tally.Add(noDuration, p.at)
		}
		c.interval(l.track, at, at+trace.Time(g.duration*1000), region, c.facts(s, e))
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
		key := newHash().text(c.categoryOf(s, e)).text(c.nameOf(s, e)).number(g.id)
		c.flows = append(c.flows,
			flowPoint{id: uint64(key), at: at, track: l.track, region: trace.NoRegion, legacy: true,
				starts: g.phase == 's', ends: g.phase == 'f'})
	case 'M':
		c.tally.Add(metadata, p.at)
	default:
		c.tally.Add(unknownPhase, p.at)
	}
}

// bindPoints notes the flow of an event that says it goes in, out, or through.
func (c *linker) bindPoints(g *legacy, t *track, at trace.Time, region trace.RegionID) {
	if g.bound && g.direction > 0 {
		c.flows = append(c.flows,
			flowPoint{id: g.bind, at: at, track: t, region: region, legacy: true, starts: g.direction == 2,
				aside: g.direction == 1})
	}
}

func (c *eventConverter) pidOf(s *sequence, g *legacy) int64 {
	switch {
	case g.hasPid:
		return g.pid
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
	if g.hasPid {
		pid = g.pid
	}
	h := newHash().text("async").text(c.categoryOf(s, e)).text(string(g.idScope)).number(g.id)
	if g.phase == 'S' || g.phase == 'F' || g.phase == 'T' || g.phase == 'p' {
		h = h.text(name) // activities of the oldest form nest by id and name
	}
	global := g.scope == 'g' || pid == 0
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
	o := &oldThread{machine: p.machine}
	var name string
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case threadPid:
			o.pid = int64(int32(m.value))
		case threadTid:
			o.tid = int64(m.value)
		case threadName:
			name = string(m.bytes)
		case threadTime:
			o.time = int64(m.value)
		case threadCPUTime:
			o.threadTime = int64(m.value)
		case threadInstructions:
			o.count = int64(m.value)
		}
	}
	s.thread = o
	c.nameThread(p.machine, o.pid, o.tid, name)
	return !m.broken
}

func (c *eventConverter) oldLane(s *sequence) *lane {
	return c.threadLane(s, s.thread.machine, s.thread.pid, s.thread.tid)
}

// oldTimes are the times that an event itself says, as events did before packets.
type oldTimes struct {
	delta, absolute             int64 // µs
	hasDelta, hasAbsolute       bool
	threadDelta, threadAbsolute int64
	hasThread, hasThreadDelta   bool
	countDelta, countAbsolute   int64
	hasCount, hasCountDelta     bool
}

func (o *oldTimes) take(m *message) {
	v := int64(m.value)
	switch m.number {
	case eventDeltaTime:
		o.delta, o.hasDelta = v, true
	case eventTime:
		o.absolute, o.hasAbsolute = v, true
	case eventDeltaThread:
		o.threadDelta, o.hasThreadDelta = v, true
	case eventThreadTime:
		o.threadAbsolute, o.hasThread = v, true
	case eventDeltaCount:
		o.countDelta, o.hasCountDelta = v, true
	case eventThreadCount:
		o.countAbsolute, o.hasCount = v, true
	}
}

func (o *oldTimes) counts() bool {
	return o.hasThread || o.hasThreadDelta || o.hasCount || o.hasCountDelta
}

// oldTime is the time of an event whose packet has none, on the monotonic clock.
func (c *eventConverter) oldTime(s *sequence, p *packet, e *event) (trace.Time, bool) {
	var us int64
	switch {
	case e.old.hasAbsolute:
		us = e.old.absolute
	case e.old.hasDelta && s.thread != nil:
		s.thread.time += e.old.delta
		us = s.thread.time
	default:
		return 0, false
	}
	return c.time(s, p, clockMono, uint64(us*1000)), true
}

// oldCounters takes the thread's own time and instructions, which old events hold.
func (c *eventConverter) oldCounters(s *sequence, e *event, l *lane, at trace.Time) {
	o := &e.old
	if s.thread != nil {
		if o.hasThreadDelta {
			s.thread.threadTime += o.threadDelta
			o.threadAbsolute, o.hasThread = s.thread.threadTime, true
		}
		if o.hasCountDelta {
			s.thread.count += o.countDelta
			o.countAbsolute, o.hasCount = s.thread.count, true
		}
	}
	if o.hasThread {
		c.sample(c.oldCounter(l, "thread_time", "ns"), at, float64(o.threadAbsolute)*1000)
	}
	if o.hasCount {
		c.sample(c.oldCounter(l, "thread_instruction_count", ""), at, float64(o.countAbsolute))
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
