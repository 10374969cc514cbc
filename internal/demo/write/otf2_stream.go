package write

import (
	"encoding/binary"
	"math"
	"os"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Records of a location while they wait: an operation, a number, the time as a
// difference to the one before. Attributes follow their Enter.
const (
	otf2Enter = iota
	otf2Leave
	otf2Sample
	otf2Attribute
)

// An otf2Stream writes the records of one location to a file. Whole intervals
// become Enter and Leave as time goes on.
type otf2Stream struct {
	o      *otf2
	at     trace.LocationID
	file   *os.File
	buffer []byte
	now    trace.Time
	open   []otf2Open
	enter  bool // attributes belong to an Enter
	err    error
}

// An otf2Open is an interval that is open; till is its end, if that is known.
type otf2Open struct {
	region trace.RegionID
	till   trace.Time
	known  bool
}

const otf2Buffer = 64 << 10

func (o *otf2) Stream(id trace.LocationID, options trace.StreamOptions) trace.Stream {
	if options.Unordered || options.ByName {
		o.cannotHold("records out of order, or calls that cross")
	}
	s := &otf2Stream{o: o, at: id}
	s.file, s.err = openFile(o.part(id).path)
	s.put(otf2Leave, 0, 0) // so that appending to a file begins anew
	return s
}

// until closes whole intervals that end by t.
func (s *otf2Stream) until(t trace.Time) {
	for n := len(s.open); n > 0 && s.open[n-1].known && s.open[n-1].till <= t; n-- {
		s.put(otf2Leave, uint32(s.open[n-1].region)+1, s.open[n-1].till)
		s.open = s.open[:n-1]
	}
}

func (s *otf2Stream) put(op byte, id uint32, t trace.Time) {
	if len(s.buffer) > otf2Buffer {
		s.flush()
	}
	s.buffer = append(s.buffer, op)
	s.buffer = binary.AppendUvarint(s.buffer, uint64(id))
	s.buffer = binary.AppendVarint(s.buffer, int64(t-s.now))
	s.now = t
	s.enter = op == otf2Enter
}

func (s *otf2Stream) flush() {
	if s.err == nil {
		_, s.err = s.file.Write(s.buffer)
	}
	s.buffer = s.buffer[:0]
}

func (s *otf2Stream) Enter(t trace.Time, region trace.RegionID) {
	s.until(t)
	s.open = append(s.open, otf2Open{region: region})
	s.put(otf2Enter, uint32(region), t)
}

func (s *otf2Stream) Leave(t trace.Time, region trace.RegionID) {
	s.until(t)
	n := len(s.open) - 1
	if n < 0 || region != trace.NoRegion && s.open[n].region != region {
		s.o.cannotHold("calls that do not nest")
		return
	}
	s.put(otf2Leave, uint32(s.open[n].region)+1, t)
	s.open = s.open[:n]
}

func (s *otf2Stream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.until(begin)
	if n := len(s.open); n > 0 && s.open[n-1].known && s.open[n-1].till < end {
		s.o.cannotHold("intervals that overlap without nesting")
		return
	}
	s.open = append(s.open, otf2Open{region, end, true})
	s.put(otf2Enter, uint32(region), begin)
}

func (s *otf2Stream) Instant(t trace.Time, region trace.RegionID) {
	s.enter = false
	s.o.opening.Lock()
	s.o.markers = append(s.o.markers, otf2Marker{s.at, t, region})
	s.o.opening.Unlock()
}

func (s *otf2Stream) Sample(c trace.CounterID, t trace.Time, v float64) {
	s.until(t)
	s.put(otf2Sample, uint32(c), t)
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, math.Float64bits(v))
}

func (s *otf2Stream) Attribute(a trace.AttributeID, v trace.Value) {
	if !s.enter {
		s.o.cannotHold("attributes of instants")
		return
	}
	s.put(otf2Attribute, uint32(a), s.now)
	s.buffer = append(s.buffer, byte(v.Kind))
	if v.Kind == trace.ValueText {
		text := v.String()
		s.buffer = binary.AppendUvarint(s.buffer, uint64(len(text)))
		s.buffer = append(s.buffer, text...)
	} else {
		s.buffer = binary.LittleEndian.AppendUint64(s.buffer, v.Bits())
	}
	s.enter = true
}

func (s *otf2Stream) Close() error {
	s.until(math.MaxInt64)
	if len(s.open) > 0 {
		s.o.cannotHold("calls that never end")
	}
	if s.file != nil {
		s.flush()
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	s.o.fail(s.err)
	return s.err
}
