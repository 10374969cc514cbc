package storetest

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type operation uint8

const (
	opEnter operation = iota
	opLeave
	opInterval
	opInstant
	opSample
)

// A record is one call of a stream.
type record struct {
	op      operation
	time    trace.Time
	end     trace.Time // of opInterval
	region  trace.RegionID
	counter trace.CounterID
	value   float64
	facts   []fact
	number  int // of opEnter and opInterval: from 1 on
}

type fact struct {
	attribute trace.AttributeID
	value     trace.Value
}

// A track is everything a location's streams were given, in order of arrival.
type track struct {
	records           []record
	open              bool
	unordered, byName bool
	byParent          bool
	rounded           trace.Time
	numbers           int
	parents           map[int]int // with byParent: numbers of children and parents
}

type memoryStream struct {
	memory *Memory
	track  *track
	err    error
}

func (s *memoryStream) add(r record) {
	if r.op == opEnter || r.op == opInterval {
		s.track.numbers++
		r.number = s.track.numbers
	}
	s.track.records = append(s.track.records, r)
}

func (s *memoryStream) Enter(t trace.Time, region trace.RegionID) {
	s.add(record{op: opEnter, time: t, region: region})
}

func (s *memoryStream) Leave(t trace.Time, region trace.RegionID) {
	s.add(record{op: opLeave, time: t, region: region})
}

func (s *memoryStream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.add(record{op: opInterval, time: begin, end: end, region: region})
}

func (s *memoryStream) Instant(t trace.Time, region trace.RegionID) {
	s.add(record{op: opInstant, time: t, region: region})
}

func (s *memoryStream) Sample(c trace.CounterID, t trace.Time, value float64) {
	s.add(record{op: opSample, time: t, counter: c, value: value})
}

func (s *memoryStream) Attribute(a trace.AttributeID, v trace.Value) {
	for i := len(s.track.records) - 1; i >= 0; i-- {
		if r := &s.track.records[i]; r.op == opEnter || r.op == opInterval || r.op == opInstant {
			r.facts = append(r.facts, fact{a, v})
			return
		}
	}
}

func (s *memoryStream) Rounded(most trace.Time) { s.track.rounded = max(s.track.rounded, most) }

func (s *memoryStream) Close() error {
	if s.memory != nil {
		s.memory.mu.Lock()
		s.track.open = false
		s.memory.mu.Unlock()
	}
	return s.err
}

// A span is an interval before it has a lane. Around is the span that was
// innermost when it was entered, -1 for none.
type span struct {
	begin, end trace.Time
	region     trace.RegionID
	facts      []fact
	around     int
	number     int
	unclosed   bool
}

// stackAlone reports whether everything was entered and left by the rule of call
// stacks: then the stack itself is the nesting.
func (k *track) stackAlone() bool {
	return !k.byName && !k.byParent &&
		!slices.ContainsFunc(k.records, func(r record) bool { return r.op == opInterval })
}

// spans pairs enters with leaves, by the rules of trace.StreamOptions. Spans are in the order in which they were
// entered.
func (k *track) spans(last trace.Time, repairs *trace.Repairs) []span {
	var out []span
	var stack []int // indices in out of the open intervals
	now := trace.Time(math.MinInt64)
	forward := func(t trace.Time) trace.Time {
		if t < now {
			repairs.Backwards++
		}
		now = max(now, t)
		return now
	}
	for _, r := range k.inOrder() {
		switch r.op {
		case opEnter:
			s := span{begin: forward(r.time), region: r.region, facts: r.facts, around: -1, number: r.number}
			if len(stack) > 0 {
				s.around = stack[len(stack)-1]
			}
			stack = append(stack, len(out))
			out = append(out, s)
		case opInterval:
			if r.end < r.time {
				repairs.Negative++
			}
			out = append(out,
				span{begin: r.time, end: max(r.time, r.end), region: r.region, facts: r.facts, number: r.number})
		case opLeave:
			t := forward(r.time)
			at := len(stack) - 1
			for at >= 0 && r.region != trace.NoRegion && out[stack[at]].region != r.region {
				at--
			}
			if at < 0 {
				repairs.Stray++
				continue
			}
			if !k.byName {
				for _, i := range stack[at+1:] {
					repairs.Forced++
					out[i].end = t
				}
				stack = stack[:at+1]
			}
			out[stack[at]].end = t
			stack = slices.Delete(stack, at, at+1)
		}
	}
	for _, i := range stack {
		repairs.Unclosed++
		out[i].end = last
		out[i].unclosed = true
	}
	return out
}

// inOrder returns the records by time if the stream was unordered; records of equal time keep their order.
func (k *track) inOrder() []record {
	records := slices.Clone(k.records)
	if k.unordered {
		slices.SortStableFunc(records, func(a, b record) int { return cmp.Compare(a.time, b.time) })
	}
	return records
}
