package write

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
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
// word, a Sample its value, a fact its value, with its kind in place of the time. Most facts are small numbers, or
// strings, which are numbered: those below 2^32 stand above the kind (8 bits, the highest of them set), and there is no
// further word.
const (
	OpEnter = iota
	OpLeave
	OpLeaveAny
	OpInterval
	OpInstant
	OpSample
	OpFact
	OpWide
)

const (
	OpBits    = 3
	IdBits    = 20
	IdShift   = 1 + OpBits
	TimeShift = IdShift + IdBits
	TimeBits  = 64 - TimeShift
	WordBytes = 8
	maxRecord = 3 * WordBytes

	FactBits  = 8      // of a kind
	FactShort = 1 << 7 // with the value above it
	FactValue = 1<<32 - 1

	HalfBytes  = WordBytes / 2
	HalfID     = 10 // bits
	HalfShift  = 2
	HalfTime   = 32 - HalfShift - HalfID // bits
	HalfTimeAt = HalfShift + HalfID
)

// A Stream packs the records of one location. There is one for each location, also after Close: asking again appends.
// It is small: a million may be open.
type Stream struct {
	w            *Writer
	buf          []byte     // the chunk at hand
	base         trace.Time // of the next difference
	order        trace.Time // time of the last Enter or Leave
	First, Last  trace.Time // of all records; first > last before any
	RoundedTimes trace.Time // see trace.Rounder
	Tail         int64      // the last chunk in the spool, -1 for none
	before       []int64    // likewise, of the parts of a run before the last that has some

	Rows          uint32 // Enter and Interval records
	Instants      uint32
	Samples       uint32
	Facts         uint32 // of intervals
	InstantFacts  uint32
	used          uint32 // bytes of buf
	Location      trace.LocationID
	low           uint16 // regions below are known to be defined
	Unordered     bool
	ByName        bool
	ByParent      bool
	Intervals     bool // has Interval records
	Disordered    bool // an Enter or Leave came before the one before it
	open          bool
	lastIsInstant bool
	late          bool // was used after Close
	Gaps          bool // records were left out
}

// Numbered reports whether the rows of the location are its records, one by one.
func (s *Stream) Numbered() bool {
	return !s.Intervals && !s.ByName && !s.ByParent && !(s.Unordered && s.Disordered)
}

// streamBytes is the memory of a stream next to its chunk.
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
	if int(id) >= len(w.Def.Locations) {
		return refused{fmt.Errorf("stream of location %d: not defined", id)}
	}
	if int(id) >= len(w.Streams) {
		w.Streams = append(w.Streams, make([]*Stream, len(w.Def.Locations)-len(w.Streams))...)
	}
	s := w.Streams[id]
	if s == nil {
		s = &Stream{w: w, Location: id, Tail: -1, order: math.MinInt64, First: math.MaxInt64, Last: math.MinInt64}
		w.Streams[id] = s
	}
	if s.open {
		return refused{fmt.Errorf("stream of location %q: already open", w.Def.Locations[id].Name)}
	}
	s.open = true
	s.Unordered = s.Unordered || o.Unordered
	s.ByName = s.ByName || o.ByName
	s.ByParent = s.ByParent || o.ByParent
	if o.ByParent {
		w.anyByParent.Store(true)
	}
	s.hold(w.Chunks.first())
	s.base = 0
	return s
}

// Enter and Leave write half a word where they can, as they mostly can: in order, after
// some record, soon enough, in a chunk with room. Both say so in full, since a call for
// it takes longer than it does.

// Enter implements trace.Stream.
func (s *Stream) Enter(t trace.Time, region trace.RegionID) {
	d, at := uint64(t-s.base), int(s.used)
	if uint32(region) < uint32(s.low) && d < 1<<HalfTime && t >= s.order && t >= s.First && at+maxRecord <= len(s.buf) {
		binary.LittleEndian.PutUint32(s.buf[at:], 1|uint32(region)<<HalfShift|uint32(d)<<HalfTimeAt)
		s.used = uint32(at + HalfBytes)
		s.base, s.order = t, t
		if t > s.Last {
			s.Last = t
		}
	} else if id, ok := s.known(region); ok {
		s.see(t)
		s.at(OpEnter, id, t)
		s.Rows++
		s.lastIsInstant = false
		s.rename(region)
		return
	} else {
		return
	}
	s.Rows++
	s.lastIsInstant = false
}

// Leave implements trace.Stream.
func (s *Stream) Leave(t trace.Time, region trace.RegionID) {
	d, at := uint64(t-s.base), int(s.used)
	if uint32(region) < uint32(s.low) && d < 1<<HalfTime && t >= s.order && t >= s.First && at+maxRecord <= len(s.buf) {
		binary.LittleEndian.PutUint32(s.buf[at:], 1|OpLeave<<1|uint32(region)<<HalfShift|uint32(d)<<HalfTimeAt)
		s.used = uint32(at + HalfBytes)
		s.base, s.order = t, t
		if t > s.Last {
			s.Last = t
		}
		return
	}
	if region == trace.NoRegion {
		s.see(t)
		s.at(OpLeaveAny, 0, t)
	} else if id, ok := s.known(region); ok {
		s.see(t)
		s.at(OpLeave, id, t)
	}
}

// see follows the order of Enter and Leave.
func (s *Stream) see(t trace.Time) {
	if t < s.order {
		s.Disordered = true
	}
	s.order = t
}

// Interval implements trace.Stream.
func (s *Stream) Interval(begin, end trace.Time, region trace.RegionID) {
	id, ok := s.known(region)
	if !ok {
		return
	}
	s.at(OpInterval, id, begin)
	s.word(uint64(end - begin))
	s.Last = max(s.Last, end)
	s.Rows++
	s.Intervals = true
	s.lastIsInstant = false
	s.rename(region)
}

// Rounded implements trace.Rounder.
func (s *Stream) Rounded(most trace.Time) { s.RoundedTimes = max(s.RoundedTimes, most) }

// Instant implements trace.Stream.
func (s *Stream) Instant(t trace.Time, region trace.RegionID) {
	id, ok := s.known(region)
	if !ok {
		return
	}
	s.at(OpInstant, id, t)
	s.Instants++
	s.lastIsInstant = true
	s.rename(region)
}

// Sample implements trace.Stream.
func (s *Stream) Sample(c trace.CounterID, t trace.Time, value float64) {
	list := s.w.counters.Load()
	if list == nil || int(c) >= len(*list) || (*list)[c].Location != s.Location {
		s.w.Report(trace.MissingValues, "samples of a counter that is not defined on their location", 1, "")
		return
	}
	of := (*list)[c]
	of.Disordered = of.Disordered || t < of.last
	of.last = t
	of.Count++
	s.at(OpSample, uint32(c), t)
	s.word(math.Float64bits(value))
	s.Samples++
}

// Attribute implements trace.Stream.
func (s *Stream) Attribute(a trace.AttributeID, v trace.Value) {
	switch {
	case v.Kind == 0:
		return
	case s.lastIsInstant && s.Instants > 0:
		s.InstantFacts++
	case !s.lastIsInstant && s.Rows > 0:
		s.Facts++
	default:
		s.w.Report(trace.MissingDetails, "attributes before any record of their stream", 1, "")
		return
	}
	kind, bits := v.Kind, v.Bits()
	if kind == trace.ValueText {
		if n, ok := v.Hexadecimal(); ok {
			kind, bits = disk.Hexadecimal, n
		} else {
			bits = s.w.Texts.add(v.String())
		}
	}
	s.fact(a, kind, bits)
}

// fact writes a value of an attribute in its stored form.
func (s *Stream) fact(a trace.AttributeID, kind trace.ValueKind, bits uint64) {
	if bits <= FactValue && a < 1<<IdBits {
		s.head(OpFact, uint32(a), int64(kind)|FactShort|int64(bits)<<FactBits)
		return
	}
	s.head(OpFact, uint32(a), int64(kind))
	s.word(bits)
}

// known returns the number of a region that was defined. One that was not is counted, and its
// record left out.
func (s *Stream) known(region trace.RegionID) (id uint32, ok bool) {
	n := s.w.regions.Load()
	s.low = uint16(min(n, 1<<HalfID))
	if id = uint32(s.w.plain(region)); id < n {
		return id, true
	}
	s.w.Report(trace.MissingEvents, "records with an undefined region", 1, "")
	s.Gaps = true
	return 0, false
}

// at makes room for a record that has a time and writes its head.
func (s *Stream) at(op, id uint32, t trace.Time) {
	if len(s.buf)-int(s.used) < maxRecord {
		s.room()
	}
	d := int64(t - s.base)
	s.base = t
	if t < s.First {
		s.First = t
	}
	if t > s.Last {
		s.Last = t
	}
	if id < 1<<IdBits && uint64(d+1<<(TimeBits-1)) < 1<<TimeBits {
		s.word(uint64(op)<<1 | uint64(id)<<IdShift | uint64(d)<<TimeShift)
		return
	}
	s.wide(op, id, d)
}

// head does for a record without a time.
func (s *Stream) head(op, id uint32, v int64) {
	if len(s.buf)-int(s.used) < maxRecord {
		s.room()
	}
	if id < 1<<IdBits {
		s.word(uint64(op)<<1 | uint64(id)<<IdShift | uint64(v)<<TimeShift)
		return
	}
	s.wide(op, id, v)
}

func (s *Stream) wide(op, id uint32, v int64) {
	s.word(OpWide<<1 | uint64(op)<<IdShift | uint64(id)<<32)
	s.word(uint64(v))
}

// word writes to the chunk in place: its slice stays as it is from record to record.
func (s *Stream) word(w uint64) {
	binary.LittleEndian.PutUint64(s.buf[s.used:], w)
	s.used += WordBytes
}

// hold takes a chunk with its contents.
func (s *Stream) hold(chunk []byte) { s.buf, s.used = chunk[:cap(chunk)], uint32(len(chunk)) }

// room gets space for at least one more record.
func (s *Stream) room() {
	if !s.open {
		s.late = true
		s.hold(make([]byte, 0, minChunk)) // thrown away
		s.base = 0
		return
	}
	chunk, at := s.w.Chunks.room(s.buf[:s.used], s.Tail)
	s.hold(chunk)
	if at != s.Tail {
		s.Tail, s.base = at, 0
	}
}

// Close implements trace.Stream.
func (s *Stream) Close() error {
	s.w.mu.Lock()
	open := s.open
	s.open = false
	s.w.mu.Unlock()
	if open {
		s.Tail = s.w.Chunks.last(s.buf[:s.used], s.Tail)
		s.buf, s.used = nil, 0
	}
	if s.late {
		return errors.New("stream used after Close")
	}
	return s.w.Chunks.failed()
}
