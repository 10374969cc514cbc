package perfetto

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An eventConverter converts track events, those of the old kind too.
type eventConverter struct {
	linker

	clocks *clocks

	strays int

	event  event
	legacy legacy

	last trace.Time
}

// Numbers of fields of a track event that become attributes.
const (
	eventTask           = 5
	eventLog            = 21
	eventSource         = 33
	eventSourceID       = 34
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
	nameID      uint64
	track       uint64
	name        []byte
	categoryIDs []uint64
	categories  [][]byte
	notes       [][]byte
	value       float64
	valued      bool
	rare        bool // one of the fields below is in use
	rareFields
}

// Numbers of the fields that most events have.
const (
	eventCategoryIDs = 3
	eventAnnotation  = 4
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventCategories  = 22
	eventName        = 23
	eventCounter     = 30
	eventDouble      = 44
)

// rareFields are those that few events have.
type rareFields struct {
	legacy      []byte            `pb:"6"`
	extra       []uint64          `pb:"12"`
	extraTracks []uint64          `pb:"31"`
	oldFlows    []uint64          `pb:"36"`
	oldEnding   []uint64          `pb:"42"`
	dblTracks   []uint64          `pb:"45"`
	doubles     protobuf.Fixed64s `pb:"46"`
	flows       protobuf.Fixed64s `pb:"47"`
	ending      protobuf.Fixed64s `pb:"48"`
	rest        []protobuf.Value  `pb:"5,21,33,34,52,53,54,55,56,57"` // attributes
	unknown     protobuf.Others

	// Events had times and counts of their own before packets had them.
	deltaTime   protobuf.Integer `pb:"1"`  // µs
	time        protobuf.Integer `pb:"16"` // µs
	deltaThread protobuf.Integer `pb:"2"`
	threadTime  protobuf.Integer `pb:"17"`
	deltaCount  protobuf.Integer `pb:"8"`
	threadCount protobuf.Integer `pb:"20"`
}

var rareEventFields = protobuf.TableOf[rareFields]()

// reset empties an event and keeps the memory of its lists.
func (e *event) reset() {
	e.kind, e.track, e.nameID, e.name, e.value, e.valued = 0, 0, 0, nil, 0, false
	e.categoryIDs, e.categories, e.notes = e.categoryIDs[:0], e.categories[:0], e.notes[:0]
	if e.rare {
		e.rare = false
		e.rareFields = rareFields{extra: e.extra[:0], extraTracks: e.extraTracks[:0], oldFlows: e.oldFlows[:0],
			oldEnding: e.oldEnding[:0], dblTracks: e.dblTracks[:0], doubles: e.doubles[:0], flows: e.flows[:0],
			ending: e.ending[:0], rest: e.rest[:0]}
	}
}

// decode reads an event. Frequent fields are read here: a table takes a third longer
// for all of a packet.
func (e *event) decode(b []byte) bool {
	e.reset()
	m := protobuf.Open(b)
	for m.Small() || m.Next() {
		switch m.Number {
		case eventType:
			e.kind = m.Value
		case eventTrack:
			e.track = m.Value
		case eventNameID:
			e.nameID = m.Value
		case eventCategoryIDs:
			e.categoryIDs = m.AppendVarints(e.categoryIDs)
		case eventName:
			e.name = m.Bytes
		case eventCategories:
			e.categories = append(e.categories, m.Bytes)
		case eventAnnotation:
			e.notes = append(e.notes, m.Bytes)
		case eventCounter:
			e.value, e.valued = float64(int64(m.Value)), true
		case eventDouble:
			e.value, e.valued = m.Double(), true
		default:
			e.rare = true
			rareEventFields.Set(&m, &e.rareFields)
		}
	}
	return !m.Broken
}

// categoryID returns the number of the first category; 0 for none.
func (e *event) categoryID() uint64 {
	if len(e.categoryIDs) == 0 {
		return 0
	}
	return e.categoryIDs[0]
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
	if i >= 0 && (e.nameID != 0 || e.name != nil || len(e.categoryIDs) > 0 || len(e.categories) > 0) {
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
	if e.threadTime.Set || e.deltaThread.Set || e.threadCount.Set || e.deltaCount.Set {
		c.oldCounters(s, e, l, at)
	}
}
