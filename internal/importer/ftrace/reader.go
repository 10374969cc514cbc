package ftrace

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/sched"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A record is a line.
type record struct {
	task   sched.Task
	tgid   int64 // -1: not printed
	cpu    int64
	time   trace.Time
	event  string
	fields []byte
	// byTask says that the task did it; false: an interrupt did while the task ran, or that is not known.
	byTask bool
}

// interrupt is the place of a flag: "." stands for the task itself, letters for interrupts and for work that the kernel
// puts off until after one, such as timers.
const interrupt = 2

// space is the white space within a line.
const space = "\t\f\r "

// parse reads a line: name-pid [(tgid)] [processor] [flags] seconds: event: fields. A name may hold any character, so
// the last processor counts that a time and an event follow.
func parse(line []byte) (r record, ok bool) {
	for at := bytes.LastIndexByte(line, '['); at >= 0; at = bytes.LastIndexByte(line[:at], '[') {
		digits, tail := number(line[at+1:])
		if digits == nil || len(tail) < 2 || tail[0] != ']' {
			continue
		}
		rest := bytes.TrimLeft(tail[1:], space)
		if len(rest) == len(tail)-1 || !r.when(rest) || !r.who(line[:at]) {
			continue
		}
		r.cpu = valueOf(digits)
		return r, r.time >= 0 && r.task.ID >= 0
	}
	return r, false
}

// when reads what is behind the processor.
func (r *record) when(b []byte) bool {
	r.byTask = false
	if i := bytes.IndexAny(b, space); i >= 4 && i <= 6 && r.timed(bytes.TrimLeft(b[i:], space)) {
		r.byTask = b[interrupt] == '.'
		return true
	}
	return r.timed(b)
}

// timed reads a time, an event and its fields.
func (r *record) timed(b []byte) bool {
	seconds, b := number(b)
	if seconds == nil || len(b) == 0 || b[0] != '.' {
		return false
	}
	fraction, b := number(b[1:])
	if fraction == nil || len(b) < 2 || b[0] != ':' {
		return false
	}
	event := bytes.TrimLeft(b[1:], space)
	end := bytes.IndexAny(event, space)
	if end < 0 {
		end = len(event)
	}
	if len(event) == len(b)-1 || end < 2 || event[end-1] != ':' || !isEvent(event[:end-1]) {
		return false
	}
	r.event, r.fields = string(event[:end-1]), bytes.TrimLeft(event[end:], space)
	whole := valueOf(seconds)
	r.time = trace.Time(whole*1e9 + valueOf([]byte((string(fraction) + "000000000")[:9])))
	if whole < 0 || whole >= 1<<33 {
		r.time = -1
	}
	return true
}

// who reads what is before the processor.
func (r *record) who(b []byte) bool {
	h := bytes.TrimRight(b, space)
	if len(h) == len(b) || len(h) == 0 {
		return false
	}
	r.tgid = -1
	if h[len(h)-1] == ')' {
		open := bytes.LastIndexByte(h, '(')
		if open <= 0 {
			return false
		}
		group := bytes.TrimLeft(h[open+1:len(h)-1], space)
		if digits, rest := number(group); digits != nil && len(rest) == 0 {
			r.tgid = valueOf(digits)
		} else if len(group) == 0 || len(bytes.Trim(group, "-")) > 0 {
			return false
		}
		if h = bytes.TrimRight(h[:open], space); len(h) == open {
			return false
		}
	}
	i := len(h)
	for i > 0 && h[i-1] >= '0' && h[i-1] <= '9' {
		i--
	}
	if i == len(h) || i == 0 || h[i-1] != '-' {
		return false
	}
	name := bytes.Trim(h[:i-1], space)
	r.task = sched.Task{ID: valueOf(h[i:]), Name: string(name)}
	return len(name) > 0
}

// isEvent reports whether b may be the name of an event, with its system.
func isEvent(b []byte) bool {
	for _, c := range b {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("_.:/-", c) < 0 {
			return false
		}
	}
	return true
}

// number splits the digits that b begins with from the rest; nil: there are none.
func number(b []byte) (digits, rest []byte) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == 0 {
		return nil, b
	}
	return b[:i], b[i:]
}

// valueOf is the value of digits; -1: it is too large.
func valueOf(digits []byte) int64 {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
