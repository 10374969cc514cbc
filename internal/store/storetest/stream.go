package storetest

import (
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
}

type memoryStream struct {
	memory *Memory
	track  *track
	err    error
}

func (s *memoryStream) add(r record) { s.track.records = append(s.track.records, r) }

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

func (s *memoryStream) Close() error {
	if s.memory != nil {
		s.memory.mu.Lock()
		s.track.open = false
		s.memory.mu.Unlock()
	}
	return s.err
}

// A span is an interval before it has a lane.
type span struct {
	begin, end trace.Time
	region     trace.RegionID
	facts      []fact
}

// Repairs that a store makes and counts.
const (
	strayLeave     = "leave without enter"
	innerFrame     = "interval closed by an outer leave"
	unclosed       = "interval still open at the end of the trace"
	endBeforeBegin = "interval that ends before it begins"
)

// spans pairs what was entered with what was left, by the rules of
// trace.StreamOptions. Spans are in the order in which they were entered.
func (k *track) spans(last trace.Time, report *[]trace.ReportEntry) []span {
	var out []span
	var stack []int // indices in out of what is open
	closeAt := func(i int, t trace.Time) {
		if t < out[i].begin {
			addReport(report, trace.Repaired, endBeforeBegin, 1, "")
			t = out[i].begin
		}
		out[i].end = t
	}
	for _, r := range k.inOrder() {
		switch r.op {
		case opEnter:
			stack = append(stack, len(out))
			out = append(out, span{begin: r.time, region: r.region, facts: r.facts})
		case opInterval:
			out = append(out, span{begin: r.time, region: r.region, facts: r.facts})
			closeAt(len(out)-1, r.end)
		case opLeave:
			at := len(stack) - 1
			for at >= 0 && r.region != trace.NoRegion && out[stack[at]].region != r.region {
				at--
			}
			if at < 0 {
				addReport(report, trace.Skipped, strayLeave, 1, "")
				continue
			}
			if !k.byName {
				for _, i := range stack[at+1:] {
					addReport(report, trace.Repaired, innerFrame, 1, "")
					closeAt(i, r.time)
				}
				stack = stack[:at+1]
			}
			closeAt(stack[at], r.time)
			stack = slices.Delete(stack, at, at+1)
		}
	}
	for _, i := range stack {
		addReport(report, trace.Repaired, unclosed, 1, "")
		closeAt(i, last)
	}
	return out
}

// inOrder gives the records by time where the stream was unordered; records of
// equal time keep their order.
func (k *track) inOrder() []record {
	records := slices.Clone(k.records)
	if k.unordered {
		slices.SortStableFunc(records, func(a, b record) int { return compareTime(a.time, b.time) })
	}
	return records
}

func compareTime(a, b trace.Time) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
