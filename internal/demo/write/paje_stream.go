package write

import (
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A pajeStream formats the records of one location. The last one is held back for
// its attributes.
type pajeStream struct {
	p                *paje
	of               int
	names            lookup
	place, event, at []byte // type and container, as they stand in lines
	held             bool
	last             record
	facts            []record
	open             []trace.Time // ends of the intervals around, where they are given whole
	line             []byte
}

func (s *pajeStream) add(r record) {
	s.flush()
	s.last, s.held, s.facts = r, true, s.facts[:0]
}

func (s *pajeStream) Enter(t trace.Time, region trace.RegionID) {
	s.add(record{kind: recordEnter, id: uint32(region), a: int64(t)})
}

func (s *pajeStream) Leave(t trace.Time, _ trace.RegionID) {
	s.add(record{kind: recordLeave, a: int64(t)})
}

func (s *pajeStream) Interval(begin, end trace.Time, region trace.RegionID) {
	for len(s.open) > 0 && s.open[len(s.open)-1] <= begin {
		s.open = s.open[:len(s.open)-1]
	}
	if len(s.open) > 0 && end > s.open[len(s.open)-1] {
		s.p.cannotHold("intervals that cross")
	}
	s.open = append(s.open, end)
	s.add(record{kind: recordInterval, id: uint32(region), a: int64(begin), b: int64(end)})
}

func (s *pajeStream) Instant(t trace.Time, region trace.RegionID) {
	s.add(record{kind: recordInstant, id: uint32(region), a: int64(t)})
}

func (s *pajeStream) Sample(c trace.CounterID, t trace.Time, value float64) {
	s.add(record{kind: recordSample, id: uint32(c), a: int64(t), b: int64(math.Float64bits(value))})
}

func (s *pajeStream) Attribute(a trace.AttributeID, v trace.Value) {
	if text := v.String(); text != "" { // pj_dump does not see an empty field
		s.facts = append(s.facts, record{id: uint32(a), text: text})
	}
}

func (s *pajeStream) Close() error {
	s.flush()
	return s.p.failed()
}

// flush formats the record that was held back.
func (s *pajeStream) flush() {
	if !s.held {
		return
	}
	s.held = false
	p, r := s.p, &s.last
	p.writing.Lock()
	defer p.writing.Unlock()
	p.end = max(p.end, trace.Time(r.a))
	number := pajePush
	if len(s.facts) > 0 {
		number = p.set(s.facts)
	}
	b := s.line[:0]
	switch r.kind {
	case recordEnter, recordInterval:
		p.states[[2]uint32{uint32(s.of), r.id}] = true
		b = appendSeconds(append(strconv.AppendInt(b, int64(number), 10), ' '), trace.Time(r.a))
		b = strconv.AppendUint(append(append(b, s.place...), " r"...), uint64(r.id), 10)
		b = appendFacts(b, s.facts)
	case recordLeave:
		b = append(appendSeconds(append(b, pajePopText...), trace.Time(r.a)), s.place...)
	case recordInstant:
		p.events[[2]uint32{uint32(s.of), r.id}] = true
		if number++; len(s.facts) == 0 {
			number = pajeNewEvent
		}
		b = appendSeconds(append(strconv.AppendInt(b, int64(number), 10), ' '), trace.Time(r.a))
		b = appendFacts(strconv.AppendUint(append(b, s.event...), uint64(r.id), 10), s.facts)
	case recordSample:
		k := s.names.counter(trace.CounterID(r.id))
		v := numberOf(p.series, pajeSeries{s.of, k.Name, k.Unit})
		b = strconv.AppendInt(append(appendSeconds(append(b, pajeSetText...), trace.Time(r.a)), " v"...), int64(v), 10)
		b = appendNumber(append(b, s.at...), math.Float64frombits(uint64(r.b)))
	}
	p.fail(p.lines.add(r.a, b))
	if r.kind == recordInterval {
		p.end = max(p.end, trace.Time(r.b))
		b = append(appendSeconds(append(b[:0], pajePopText...), trace.Time(r.b)), s.place...)
		p.fail(p.lines.add(r.b, b))
	}
	s.line = b
}

func appendFacts(b []byte, facts []record) []byte {
	for i := range facts {
		b = appendQuoted(append(b, ' '), facts[i].text)
	}
	return b
}

// appendSeconds writes nanoseconds as seconds, exactly.
func appendSeconds(b []byte, t trace.Time) []byte {
	if t < 0 {
		b, t = append(b, '-'), -t
	}
	b = strconv.AppendUint(b, uint64(t)/1e9, 10)
	rest := uint64(t)%1e9 + 1e9
	b = append(b, '.')
	from := len(b) - 1
	b = strconv.AppendUint(b, rest, 10)
	copy(b[from+1:], b[from+2:])
	return b[:len(b)-1]
}

// appendQuoted writes a text in quotes, which it may not hold itself.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"':
			b = append(b, '\'')
		case '\n', '\r':
			b = append(b, ' ')
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
