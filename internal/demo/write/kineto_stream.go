package write

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A kinetoStream formats records of one row into a buffer of its own.
type kinetoStream struct {
	f      *kinetoFile
	row    *kinetoRow
	tables lookup
	buffer []byte
	// last is the kind of record that an attribute would belong to.
	last        kinetoLast
	stack       []kinetoOpen
	first, till trace.Time
	err         error
	allocator   allocator
}

type kinetoLast uint8

const (
	lastNone     kinetoLast = iota
	lastInterval            // its args are open at the end of the buffer
	lastEnter               // its args are those of the stack's top
)

// A kinetoOpen is an interval that is not left yet; it is written when it is.
type kinetoOpen struct {
	begin  trace.Time
	region trace.RegionID
	args   []byte
}

func (k *kineto) Stream(id trace.LocationID, _ trace.StreamOptions) trace.Stream {
	f := k.file(id)
	return &kinetoStream{f: f, row: f.open(id), tables: lookup{d: k.definitions}, first: 1 << 62}
}

// settle ends the record before, and passes on the buffer when it is large.
func (s *kinetoStream) settle(t trace.Time) {
	s.first, s.till = min(s.first, t), max(s.till, t)
	if s.last == lastInterval {
		s.buffer = append(trimComma(s.buffer), "}},\n"...)
	}
	s.last = lastNone
	if len(s.buffer) >= kinetoBuffer {
		s.flush()
	}
}

// trimComma takes back the comma after the last member of args.
func trimComma(b []byte) []byte {
	if n := len(b); b[n-1] == ' ' && b[n-2] == ',' {
		return b[:n-2]
	}
	return b
}

func (s *kinetoStream) flush() {
	if err := s.f.write(s.buffer, s.first, s.till); s.err == nil {
		s.err = err
	}
	s.buffer = s.buffer[:0]
}

// appendHead writes an X up to its args, which stay open.
func (s *kinetoStream) appendHead(begin, end trace.Time, id trace.RegionID) {
	r := s.tables.region(id)
	b := append(s.buffer, `  {"ph": "X", `...)
	b = append(append(b, r.json...), ", "...)
	b = append(append(b, s.row.json...), `, "ts": `...)
	b = append(appendTime(b, begin+kinetoStart), `, "dur": `...)
	b = append(appendTime(b, end-begin), `, "args": {`...)
	b = append(b, r.args...)
	if s.row.gpu != nil && r.Category != "gpu_user_annotation" {
		b = append(b, s.row.gpu...)
	}
	s.buffer = b
}

func (s *kinetoStream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.settle(begin)
	s.till = max(s.till, end)
	s.appendHead(begin, end, region)
	s.last = lastInterval
}

func (s *kinetoStream) Enter(t trace.Time, region trace.RegionID) {
	s.settle(t)
	n := len(s.stack)
	if n < cap(s.stack) { // its args may be reused
		s.stack = s.stack[:n+1]
		s.stack[n].begin, s.stack[n].region, s.stack[n].args = t, region, s.stack[n].args[:0]
	} else {
		s.stack = append(s.stack, kinetoOpen{begin: t, region: region})
	}
	s.last = lastEnter
}

func (s *kinetoStream) Leave(t trace.Time, region trace.RegionID) {
	s.settle(t)
	n := len(s.stack) - 1
	if n < 0 || region != trace.NoRegion && s.stack[n].region != region {
		s.f.k.cannotHold("calls that do not nest")
		return
	}
	top := &s.stack[n]
	s.appendHead(top.begin, t, top.region)
	s.buffer = append(s.buffer, top.args...)
	s.buffer = append(trimComma(s.buffer), "}},\n"...)
	s.stack = s.stack[:n]
}

func (s *kinetoStream) Instant(t trace.Time, region trace.RegionID) {
	s.settle(t)
	b := append(s.buffer, `  {"ph": "i", "s": "t", `...)
	b = append(append(b, s.tables.region(region).json...), ", "...)
	b = append(append(b, s.row.json...), `, "ts": `...)
	s.buffer = append(appendTime(b, t+kinetoStart), "},\n"...)
}

// Sample puts counters of GPUs on the process too: the pid of a device is a
// number that only kernels and copies make sense of.
func (s *kinetoStream) Sample(c trace.CounterID, t trace.Time, value float64) {
	s.settle(t)
	if s.memory(c, t, value) {
		return
	}
	b := append(append(s.buffer, `  {"ph": "C", "name": `...), s.tables.counter(c).json...)
	b = strconv.AppendInt(append(b, `, "pid": `...), s.f.pid, 10)
	b = append(appendTime(append(b, `, "ts": `...), t+kinetoStart), `, "args": {"value": `...)
	s.buffer = append(appendNumber(b, value), "}},\n"...)
}

// memory writes allocated and reserved memory of a device as a record of the allocator.
func (s *kinetoStream) memory(id trace.CounterID, t trace.Time, value float64) bool {
	args, taken := s.allocator.sample(s.f.k.definitions, s.tables.counter(id), value)
	if args != "" {
		b := fmt.Appendf(s.buffer,
			`  {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": %d, "tid": %d, "ts": `,
			s.f.pid, s.f.pid)
		s.buffer = append(append(append(appendTime(b, t+kinetoStart), `, "args": `...), args...), "},\n"...)
	}
	return taken
}

func (s *kinetoStream) Attribute(a trace.AttributeID, v trace.Value) {
	switch s.last {
	case lastInterval:
		s.buffer = append(s.buffer, s.tables.attribute(a)...)
		s.buffer = append(appendValue(append(s.buffer, ' '), v), ", "...)
	case lastEnter:
		top := &s.stack[len(s.stack)-1]
		top.args = append(top.args, s.tables.attribute(a)...)
		top.args = append(appendValue(append(top.args, ' '), v), ", "...)
	default:
		s.f.k.cannotHold("attributes of instants")
	}
}

func (s *kinetoStream) Close() error {
	if len(s.stack) > 0 {
		s.f.k.cannotHold("calls that never end")
	}
	s.settle(s.till)
	if len(s.buffer) > 0 {
		s.flush()
	}
	if err := s.f.closeStream(); s.err == nil {
		s.err = err
	}
	s.f.k.fail(s.err)
	return s.err
}
