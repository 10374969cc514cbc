package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An eventConverter says what track events mean, those of the old kind too.
type eventConverter struct {
	linker

	clocks *clocks

	strays int

	event  event
	legacy legacy

	last trace.Time
}

// Numbers of the fields of a track event.
const (
	eventDeltaTime      = 1
	eventDeltaThread    = 2
	eventCategoryIDs    = 3
	eventAnnotation     = 4
	eventTask           = 5
	eventLegacy         = 6
	eventDeltaCount     = 8
	eventType           = 9
	eventNameID         = 10
	eventTrack          = 11
	eventExtraValues    = 12
	eventTime           = 16
	eventThreadTime     = 17
	eventThreadCount    = 20
	eventLog            = 21
	eventCategories     = 22
	eventName           = 23
	eventCounter        = 30
	eventExtraTracks    = 31
	eventSource         = 33
	eventSourceID       = 34
	eventOldFlows       = 36
	eventOldEnding      = 42
	eventDouble         = 44
	eventDoubleTracks   = 45
	eventDoubleValues   = 46
	eventFlows          = 47
	eventEnding         = 48
	eventCorrelation    = 52
	eventCorrelationStr = 53
	eventCorrelationID  = 54
	eventStack          = 55
	eventStackID        = 56
	eventWeight         = 57
)

// Types of events.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
	typeState   = 5
)

// An event is one track event, decoded. Its slices view the packet or are used
// again for the next.
type event struct {
	kind        uint64
	track       uint64
	nameID      uint64
	name        []byte
	categoryID  uint64
	categoryIDs []uint64 // where there are several
	category    []byte
	categories  int // how many are given as text
	value       float64
	valued      bool
	extraTracks []uint64
	extra       []uint64
	dblTracks   []uint64
	doubles     []uint64
	flows       []uint64
	ending      []uint64
	notes       [][]byte
	legacy      []byte
	rest        []keptField // of less common kinds
	old         oldTimes
	unknown     int
	rare        bool // a list other than of categories and notes, or old, is in use
}

// A keptField is a field that becomes an attribute.
type keptField struct {
	number int32
	value  uint64
	bytes  []byte
}

// reset forgets an event; the memory of its lists is kept. It touches little of
// an event that had little.
func (e *event) reset() {
	e.kind, e.track, e.nameID, e.categoryID = 0, 0, 0, 0
	e.name, e.category, e.categories, e.legacy = nil, nil, 0, nil
	e.value, e.valued, e.unknown = 0, false, 0
	e.categoryIDs, e.notes = e.categoryIDs[:0], e.notes[:0]
	if e.rare {
		e.rare = false
		e.extraTracks, e.extra, e.dblTracks, e.doubles = e.extraTracks[:0], e.extra[:0], e.dblTracks[:0], e.doubles[:0]
		e.flows, e.ending, e.rest, e.old = e.flows[:0], e.ending[:0], e.rest[:0], oldTimes{}
	}
}

func (e *event) decode(b []byte) bool {
	e.reset()
	m := open(b)
	for m.small() || m.next() {
		switch m.number {
		case eventType:
			e.kind = m.value
		case eventTrack:
			e.track = m.value
		case eventNameID:
			e.nameID = m.value
		case eventCategoryIDs:
			e.categoryIDs = m.list(e.categoryIDs)
		case eventName:
			e.name = m.bytes
		case eventCategories:
			e.category = m.bytes
			e.categories++
		case eventAnnotation:
			e.notes = append(e.notes, m.bytes)
		case eventCounter:
			e.value, e.valued = float64(int64(m.value)), true
		case eventDouble:
			e.value, e.valued = m.double(), true
		default:
			e.decodeRare(&m)
		}
	}
	if len(e.categoryIDs) > 0 {
		e.categoryID = e.categoryIDs[0]
	}
	return !m.broken
}

func (e *event) decodeRare(m *message) {
	e.rare = true
	switch m.number {
	case eventFlows:
		e.flows = m.fixedList(e.flows)
	case eventOldFlows:
		e.flows = m.list(e.flows)
	case eventEnding:
		e.ending = m.fixedList(e.ending)
	case eventOldEnding:
		e.ending = m.list(e.ending)
	case eventExtraValues:
		e.extra = m.list(e.extra)
	case eventExtraTracks:
		e.extraTracks = m.list(e.extraTracks)
	case eventDoubleTracks:
		e.dblTracks = m.list(e.dblTracks)
	case eventDoubleValues:
		e.doubles = m.fixedList(e.doubles)
	case eventLegacy:
		e.legacy = m.bytes
	case eventTask, eventLog, eventSource, eventSourceID, eventCorrelation, eventCorrelationStr, eventCorrelationID,
		eventStack, eventStackID, eventWeight:
		e.rest = append(e.rest, keptField{m.number, m.value, m.bytes})
	case eventDeltaTime, eventTime, eventDeltaThread, eventThreadTime, eventDeltaCount, eventThreadCount:
		e.old.take(m)
	default:
		if m.kind == protowire.BytesType {
			e.unknown++
		}
	}
}

// trackEvent takes an event of a track.
func (c *eventConverter) trackEvent(s *sequence, p *packet, at trace.Time, timed bool) bool {
	e := &c.event
	if !e.decode(p.payload) {
		return false
	}
	if !timed {
		if at, timed = c.oldTime(s, p, e); !timed {
			c.tally.Add(noTime, p.at)
			return true
		}
	}
	c.last = max(c.last, at)
	if e.unknown > 0 {
		c.tally.AddN(typedArguments, int64(e.unknown), p.at)
	}
	l := c.lane(s, e, p)
	if l.name == "" && l.hint == "" && l.row == nil {
		l.hint = c.nameOf(s, e)
	}
	c.extraCounters(s, e, l, at)
	switch e.kind {
	case typeBegin:
		c.begin(s, e, l, at)
	case typeEnd:
		c.end(s, e, l, at)
	case typeInstant:
		region := c.region(s, e)
		c.instant(l.track, at, region, c.facts(s, e))
		c.flowPoints(e, l.track, at, trace.NoRegion)
	case typeCounter:
		c.count(s, e, l, at)
	case typeState:
		c.state(s, e, l, at)
	default:
		c.legacyEvent(s, e, l, p, at)
	}
	return true
}

// lane finds where an event of a sequence is: on the track that it names, else on
// the sequence's default, else on the thread that the sequence writes for.
func (c *eventConverter) lane(s *sequence, e *event, p *packet) *lane {
	uuid := e.track
	if uuid == 0 {
		uuid = s.track
	}
	if l := s.last; l != nil && l.uuid == uuid && uuid != 0 {
		return l
	}
	if uuid == 0 {
		if s.thread != nil {
			return c.oldLane(s)
		}
		if c.tracks[0] == nil {
			t := c.track(0)
			t.kind, t.name = ofProgram, "default track"
		}
	}
	l := s.lanes[uuid]
	if l == nil {
		l = c.newLane(c.track(uuid))
		s.lanes[uuid] = l
	}
	s.last = l
	return l
}

func (c *eventConverter) newLane(t *track) *lane {
	l := &lane{track: t}
	t.lanes = append(t.lanes, l)
	return l
}

func (c *eventConverter) begin(s *sequence, e *event, l *lane, at trace.Time) {
	region := c.region(s, e)
	o := l.push()
	o.begin, o.region = at, region
	o.facts = append(o.facts, c.facts(s, e)...)
	c.flowPoints(e, l.track, at, region)
}

// end closes the innermost interval that the end may mean.
func (c *eventConverter) end(s *sequence, e *event, l *lane, at trace.Time) {
	i := l.used - 1
	if i >= 0 && (e.nameID != 0 || e.name != nil || e.categoryID != 0 || e.category != nil) {
		name, category := c.nameOf(s, e), c.categoryOf(s, e)
		i = c.find(l, name, category)
	}
	if i < 0 {
		c.stray(l.track, stray{at, append([]fact(nil), c.facts(s, e)...)})
		return
	}
	o := &l.open[i]
	o.facts = append(o.facts, c.facts(s, e)...)
	c.flowPoints(e, l.track, o.begin, o.region)
	c.close(l, i, at)
}

// mostStrays bounds the ends that are kept to be matched at the end of the file.
const mostStrays = 1 << 20

func (c *eventConverter) stray(t *track, e stray) {
	if c.strays++; c.strays > mostStrays {
		c.tally.Add(strayEnds, nowhere)
		return
	}
	t.strays = append(t.strays, e)
}

// state begins a state, which lasts until the track's next.
func (c *eventConverter) state(s *sequence, e *event, l *lane, at trace.Time) {
	if o := l.current; o != nil {
		c.interval(l.track, o.begin, max(at, o.begin), o.region, o.facts)
		l.current = nil
	}
	if e.nameID == 0 && len(e.name) == 0 {
		return
	}
	l.current = &openSlice{begin: at, region: c.region(s, e), facts: append([]fact(nil), c.facts(s, e)...)}
}

// count takes a value of a counter.
func (c *eventConverter) count(s *sequence, e *event, l *lane, at trace.Time) {
	if !e.valued {
		c.tally.Add(noValue, nowhere)
		return
	}
	c.value(s, l.track, at, e.value)
}

// value writes a value of a counter's track: in its unit, and added up where the
// track holds differences.
func (c *eventConverter) value(s *sequence, t *track, at trace.Time, v float64) {
	if t.incremental {
		if s.sums == nil {
			s.sums = map[uint64]float64{}
		}
		v += s.sums[t.uuid]
		s.sums[t.uuid] = v
	}
	if v *= t.factor; math.IsNaN(v) {
		c.tally.Add(noValue, nowhere)
		return
	}
	c.sample(t, at, v)
}

// extraCounters takes values of counters that come along with another event.
func (c *eventConverter) extraCounters(s *sequence, e *event, l *lane, at trace.Time) {
	if len(e.extra) > 0 {
		tracks := e.extraTracks
		if len(tracks) == 0 {
			tracks = s.extra
		}
		for i, v := range e.extra {
			if i >= len(tracks) {
				c.tally.Add(noCounter, nowhere)
				break
			}
			c.value(s, c.track(tracks[i]), at, float64(int64(v)))
		}
	}
	if len(e.doubles) > 0 {
		tracks := e.dblTracks
		if len(tracks) == 0 {
			tracks = s.extraDouble
		}
		for i, v := range e.doubles {
			if i >= len(tracks) {
				c.tally.Add(noCounter, nowhere)
				break
			}
			c.value(s, c.track(tracks[i]), at, math.Float64frombits(v))
		}
	}
	if e.old.counts() {
		c.oldCounters(s, e, l, at)
	}
}
