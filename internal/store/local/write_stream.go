package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Records of a stream are words, so that packing and unpacking them is a shift each:
// numbers of variable length took as much room and four times as long. Most are an
// Enter or a Leave of a region with a low number, soon after the record before. They
// are half a word, 32 bits:
//
//	1 | Leave (1 bit) | id (10 bits) | time since the record before in the chunk (20 bits)
//
// The first word of any other record is
//
//	0 | op (3 bits) | id (20 bits) | time since the record before in the chunk (40 bits, signed)
//
// or, where id or time do not fit, 0 | opWide (3 bits) | op (3 bits) | … | id (high 32
// bits), and the time in a word of its own. An Interval has its duration in a further
// word, a Sample its value, a fact its value, with its kind in place of the time.
const (
	opEnter = iota
	opLeave
	opLeaveAny
	opInterval
	opInstant
	opSample
	opFact
	opWide
)

const (
	opBits    = 3
	idBits    = 20
	idShift   = 1 + opBits
	timeShift = idShift + idBits
	timeBits  = 64 - timeShift
	wordBytes = 8
	maxRecord = 3 * wordBytes

	halfBytes  = wordBytes / 2
	halfID     = 10 // bits
	halfShift  = 2
	halfTime   = 32 - halfShift - halfID // bits
	halfTimeAt = halfShift + halfID
)

// A stream packs what happens on one location. There is one for each location,
// also after Close: asking again appends. It is small: a million may be open.
type stream struct {
	w           *Writer
	buf         []byte     // the chunk at hand
	base        trace.Time // of the next difference
	order       trace.Time // time of the last Enter or Leave
	first, last trace.Time // of all records; first > last before any
	rounded     trace.Time // see trace.Rounder
	tail        int64      // the last chunk in the spool, -1 for none

	rows          uint32 // Enter and Interval records
	instants      uint32
	samples       uint32
	facts         uint32 // of intervals
	instantFacts  uint32
	used          uint32 // bytes of buf
	location      trace.LocationID
	low           uint16 // regions below are known to be defined
	unordered     bool
	byName        bool
	byParent      bool
	intervals     bool // has Interval records
	disordered    bool // an Enter or Leave came before the one before it
	open          bool
	lastIsInstant bool
	late          bool // was used after Close
	gaps          bool // records were left out
}

// numbered reports whether the rows of the location are its records, one by one.
func (s *stream) numbered() bool {
	return !s.intervals && !s.byName && !s.byParent && !(s.unordered && s.disordered)
}

// streamBytes is what a stream takes beside its chunk.
const streamBytes = 120

// A refused stream takes no records and gives its error at Close.
type refused struct{ err error }

func (refused) Enter(trace.Time, trace.RegionID)                {}
func (refused) Leave(trace.Time, trace.RegionID)                {}
func (refused) Interval(trace.Time, trace.Time, trace.RegionID) {}
func (refused) Instant(trace.Time, trace.RegionID)              {}
func (refused) Sample(trace.CounterID, trace.Time, float64)     {}
func (refused) Attribute(trace.AttributeID, trace.Value)        {}
func (r refused) Close() error                                  { return r.err }

// Stream implements trace.Writer.
func (w *Writer) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	if int(id) >= len(w.def.locations) {
		return refused{fmt.Errorf("stream of location %d: not defined", id)}
	}
	if int(id) >= len(w.streams) {
		w.streams = append(w.streams, make([]*stream, len(w.def.locations)-len(w.streams))...)
	}
	s := w.streams[id]
	if s == nil {
		s = &stream{w: w, location: id, tail: -1, order: math.MinInt64, first: math.MaxInt64, last: math.MinInt64}
		w.streams[id] = s
	}
	if s.open {
		return refused{fmt.Errorf("stream of location %q: already open", w.def.locations[id].Name)}
	}
	s.open = true
	s.unordered = s.unordered || o.Unordered
	s.byName = s.byName || o.ByName
	s.byParent = s.byParent || o.ByParent
	s.hold(w.chunks.first())
	s.base = 0
	return s
}

// Enter and Leave write half a word where they can, as they mostly can: in order, after
// some record, soon enough, in a chunk with room. Both say so in full, since a call for
// it takes longer than it does.

// Enter implements trace.Stream.
func (s *stream) Enter(t trace.Time, region trace.RegionID) {
	d, at := uint64(t-s.base), int(s.used)
	if uint32(region) < uint32(s.low) && d < 1<<halfTime && t >= s.order && t >= s.first && at+maxRecord <= len(s.buf) {
		binary.LittleEndian.PutUint32(s.buf[at:], 1|uint32(region)<<halfShift|uint32(d)<<halfTimeAt)
		s.used = uint32(at + halfBytes)
		s.base, s.order = t, t
		if t > s.last {
			s.last = t
		}
	} else if s.known(region) {
		s.see(t)
		s.at(opEnter, uint32(region), t)
	} else {
		return
	}
	s.rows++
	s.lastIsInstant = false
}

// Leave implements trace.Stream.
func (s *stream) Leave(t trace.Time, region trace.RegionID) {
	d, at := uint64(t-s.base), int(s.used)
	if uint32(region) < uint32(s.low) && d < 1<<halfTime && t >= s.order && t >= s.first && at+maxRecord <= len(s.buf) {
		binary.LittleEndian.PutUint32(s.buf[at:], 1|opLeave<<1|uint32(region)<<halfShift|uint32(d)<<halfTimeAt)
		s.used = uint32(at + halfBytes)
		s.base, s.order = t, t
		if t > s.last {
			s.last = t
		}
		return
	}
	if region == trace.NoRegion {
		s.see(t)
		s.at(opLeaveAny, 0, t)
	} else if s.known(region) {
		s.see(t)
		s.at(opLeave, uint32(region), t)
	}
}

// see follows the order of Enter and Leave.
func (s *stream) see(t trace.Time) {
	if t < s.order {
		s.disordered = true
	}
	s.order = t
}

// Interval implements trace.Stream.
func (s *stream) Interval(begin, end trace.Time, region trace.RegionID) {
	if !s.known(region) {
		return
	}
	s.at(opInterval, uint32(region), begin)
	s.word(uint64(end - begin))
	s.last = max(s.last, end)
	s.rows++
	s.intervals = true
	s.lastIsInstant = false
}

// Rounded implements trace.Rounder.
func (s *stream) Rounded(most trace.Time) { s.rounded = max(s.rounded, most) }

// Instant implements trace.Stream.
func (s *stream) Instant(t trace.Time, region trace.RegionID) {
	if !s.known(region) {
		return
	}
	s.at(opInstant, uint32(region), t)
	s.instants++
	s.lastIsInstant = true
}

// Sample implements trace.Stream.
func (s *stream) Sample(c trace.CounterID, t trace.Time, value float64) {
	if places := s.w.counters.Load(); places == nil || int(c) >= len(*places) || (*places)[c] != s.location {
		s.w.Report(trace.Skipped, "samples of a counter that is not defined on their location", 1, "")
		return
	}
	s.at(opSample, uint32(c), t)
	s.word(math.Float64bits(value))
	s.samples++
}

// Attribute implements trace.Stream.
func (s *stream) Attribute(a trace.AttributeID, v trace.Value) {
	switch {
	case v.Kind == 0:
		return
	case s.lastIsInstant && s.instants > 0:
		s.instantFacts++
	case !s.lastIsInstant && s.rows > 0:
		s.facts++
	default:
		s.w.Report(trace.Skipped, "attributes before any record of their stream", 1, "")
		return
	}
	bits := v.Bits()
	if v.Kind == trace.ValueText {
		bits = s.w.texts.add(v.String())
	}
	s.head(opFact, uint32(a), int64(v.Kind))
	s.word(bits)
}

// known reports whether a region was defined. One that was not is counted, and its
// record left out.
func (s *stream) known(region trace.RegionID) bool {
	n := s.w.regions.Load()
	s.low = uint16(min(n, 1<<halfID))
	if uint32(region) < n {
		return true
	}
	s.w.Report(trace.Skipped, "records with an undefined region", 1, "")
	s.gaps = true
	return false
}

// at makes room for a record that has a time and writes its head.
func (s *stream) at(op, id uint32, t trace.Time) {
	if len(s.buf)-int(s.used) < maxRecord {
		s.room()
	}
	d := int64(t - s.base)
	s.base = t
	if t < s.first {
		s.first = t
	}
	if t > s.last {
		s.last = t
	}
	if id < 1<<idBits && uint64(d+1<<(timeBits-1)) < 1<<timeBits {
		s.word(uint64(op)<<1 | uint64(id)<<idShift | uint64(d)<<timeShift)
		return
	}
	s.wide(op, id, d)
}

// head does for a record without a time.
func (s *stream) head(op, id uint32, v int64) {
	if len(s.buf)-int(s.used) < maxRecord {
		s.room()
	}
	if id < 1<<idBits {
		s.word(uint64(op)<<1 | uint64(id)<<idShift | uint64(v)<<timeShift)
		return
	}
	s.wide(op, id, v)
}

func (s *stream) wide(op, id uint32, v int64) {
	s.word(opWide<<1 | uint64(op)<<idShift | uint64(id)<<32)
	s.word(uint64(v))
}

// word writes to the chunk in place: its slice stays as it is from record to record.
func (s *stream) word(w uint64) {
	binary.LittleEndian.PutUint64(s.buf[s.used:], w)
	s.used += wordBytes
}

// hold takes a chunk with what is in it.
func (s *stream) hold(chunk []byte) { s.buf, s.used = chunk[:cap(chunk)], uint32(len(chunk)) }

// room gets space for at least one more record.
func (s *stream) room() {
	if !s.open {
		s.late = true
		s.hold(make([]byte, 0, minChunk)) // thrown away
		s.base = 0
		return
	}
	chunk, at := s.w.chunks.room(s.buf[:s.used], s.tail)
	s.hold(chunk)
	if at != s.tail {
		s.tail, s.base = at, 0
	}
}

// Close implements trace.Stream.
func (s *stream) Close() error {
	s.w.mu.Lock()
	open := s.open
	s.open = false
	s.w.mu.Unlock()
	if open {
		s.tail = s.w.chunks.last(s.buf[:s.used], s.tail)
		s.buf, s.used = nil, 0
	}
	if s.late {
		return errors.New("stream used after Close")
	}
	return s.w.chunks.failed()
}
