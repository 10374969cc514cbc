package strace

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type kind uint8

const (
	call kind = iota
	unfinished
	resumed
	signal
	exit
)

// A record is a line.
type record struct {
	kind      kind
	pid       int64 // -1: unknown
	timed     bool
	clock     bool // the time is that of a day
	time      trace.Time
	name      string
	arguments []byte
	result    string
	length    trace.Time // -1: unknown
}

var (
	front = regexp.MustCompile(`^(?:\[pid +(\d+)\] +|(\d+) +)?` +
		`(?: *(\d+)\.(\d+) +|(\d\d):(\d\d):(\d\d)(?:\.(\d+))? +)?(?:\(\+ *[\d.]+\) +)?`)
	body   = regexp.MustCompile(`^(?:<\.\.\. (\w+) resumed>,? ?|(\w+)\()`)
	length = regexp.MustCompile(` <(\d+)\.(\d+)>$`)
	result = regexp.MustCompile(`\) += +(.*)$`)
)

// A joiner puts lines together that a message of strace interrupted on a terminal.
type joiner struct{ held []byte }

// line returns a whole line, or nil while it is not whole, and the task that a message names.
func (j *joiner) line(line []byte) (whole []byte, pid int64) {
	pid = -1
	m := attached.FindSubmatchIndex(line)
	if m != nil {
		pid, _ = strconv.ParseInt(string(line[m[2]:m[3]]), 10, 64)
		line = line[:m[0]]
	}
	if len(j.held) > 0 {
		line = append(j.held, line...)
		j.held = nil
	}
	if m != nil {
		j.held = bytes.Clone(line)
		return nil, pid
	}
	return line, pid
}

// parse reads a line; false: it is none of strace's.
func parse(line []byte) (r record, ok bool) {
	m := front.FindSubmatch(line)
	r.pid, r.length = -1, -1
	for _, b := range m[1:3] {
		if len(b) > 0 {
			r.pid, _ = strconv.ParseInt(string(b), 10, 64)
		}
	}
	switch {
	case len(m[3]) > 0:
		r.time, r.timed = seconds(m[3], m[4]), true
	case len(m[5]) > 0:
		hours, minutes := seconds(m[5], nil)*3600, seconds(m[6], nil)*60
		r.time, r.timed, r.clock = hours+minutes+seconds(m[7], m[8]), true, true
	}
	rest := line[len(m[0]):]
	switch {
	case bytes.HasPrefix(rest, []byte("--- ")) && bytes.HasSuffix(rest, []byte(" ---")):
		r.kind, r.name = signal, firstWord(rest[4:])
		r.arguments = rest[4 : len(rest)-4]
		return r, true
	case bytes.HasPrefix(rest, []byte("+++ ")) && bytes.HasSuffix(rest, []byte(" +++")) && len(rest) >= 8:
		r.kind, r.name, r.arguments = exit, firstWord(rest[4:]), rest[4:len(rest)-4]
		return r, true
	}
	return r, r.call(rest)
}

// call reads the text after the time of a system call.
func (r *record) call(text []byte) bool {
	m := body.FindSubmatch(text)
	if m == nil {
		return false
	}
	r.name = string(m[2])
	if len(m[1]) > 0 {
		r.kind, r.name = resumed, string(m[1])
	}
	text = text[len(m[0]):]
	if cut, ok := bytes.CutSuffix(text, []byte("<unfinished ...>")); ok {
		if r.kind == call {
			r.kind = unfinished
		} else {
			r.kind, r.result = unfinished, "again"
		}
		r.arguments = bytes.TrimRight(cut, " ,")
		return true
	}
	if d := length.FindSubmatchIndex(text); d != nil {
		r.length = seconds(text[d[2]:d[3]], text[d[4]:d[5]])
		text = text[:d[0]]
	}
	at := result.FindSubmatchIndex(text)
	if at == nil {
		return r.kind == resumed
	}
	r.arguments, r.result = text[:at[0]], string(text[at[2]:at[3]])
	return true
}

func firstWord(b []byte) string {
	word, _, _ := bytes.Cut(b, []byte(" "))
	return string(word)
}

// seconds reads seconds and their fraction without loss.
func seconds(whole, fraction []byte) trace.Time {
	s, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || s > 1<<33 {
		return 0
	}
	ns, _ := strconv.ParseInt((string(fraction) + "000000000")[:9], 10, 64)
	return trace.Time(s*1e9 + ns)
}
