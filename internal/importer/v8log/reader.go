package v8log

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/addresses"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A code is an object in memory. Most of it is in no tick.
type code struct{ name, kind string }

// A logReader follows where code lies while it reads lines.
type logReader struct {
	*converter
	code      addresses.Map[code]
	libraries addresses.Map[string]
	fields    []string
}

// line takes a record.
func (l *logReader) line(n int, line []byte) {
	kind, _, _ := bytes.Cut(line, []byte(","))
	switch string(kind) {
	case "tick", "code-creation", "code-move", "shared-library", "timer-event-start", "timer-event-end",
		"timer-event-current", "function", "code-deopt", "v8-version":
	case "":
		return
	default:
		l.add(otherRecord, n)
		return
	}
	f := l.split(string(line))
	ok := true
	switch string(kind) {
	case "v8-version":
		l.w.Property("V8 version", strings.Trim(strings.Join(f[1:min(len(f), 5)], "."), "."))
	case "tick":
		ok = l.tick(f)
	case "code-creation": // type, kind, time, start, size, name
		if ok = len(f) >= 7; ok {
			begin, length := address(f[4]), address(f[5])
			if ok = length > 0; ok {
				l.code.Put(begin, length, code{f[6], f[1]})
			}
		}
	case "code-move":
		if ok = len(f) >= 3; ok {
			l.code.Move(address(f[1]), address(f[2]))
		}
	case "shared-library": // name, begin, end
		if ok = len(f) >= 4 && address(f[3]) > address(f[2]); ok {
			l.libraries.Put(address(f[2]), address(f[3])-address(f[2]), f[1])
		}
	case "timer-event-start", "timer-event-end":
		if ok = len(f) >= 3; ok {
			t, valid := micros(f[2])
			if ok = valid; ok {
				l.timer(f[1], t, string(kind) == "timer-event-start")
			}
		}
	case "function": // event, script, start, end, length in ms, time, name
		if ok = len(f) >= 8; ok {
			length, err := strconv.ParseFloat(f[5], 64)
			t, valid := micros(f[6])
			if ok = err == nil && valid; ok {
				l.work(f[1], f[7], t, trace.Time(min(max(length, 0), 1e9)*1e6))
			}
		}
	case "code-deopt": // time, size, code, inlining, offset, kind, position, reason
		if ok = len(f) >= 9; ok {
			t, valid := micros(f[1])
			if ok = valid; ok {
				l.deopt(t, f[6], f[7], f[8])
			}
		}
	}
	if !ok {
		l.add(brokenRecord, n)
	}
}

// tick: program counter, time, whether it is in a callback, that callback or the top of the stack, state, frames.
func (l *logReader) tick(f []string) bool {
	if len(f) < 6 {
		return false
	}
	t, ok := micros(f[2])
	if !ok {
		return false
	}
	pc, top := address(f[1]), address(f[4])
	var frames []trace.RegionID
	if f[3] == "1" { // the counter may be anywhere in the callback
		pc, top = top, 0
	}
	frames = append(frames, l.at(pc))
	if caller, known := l.code.Find(top); known && top != 0 && inFile.MatchString(caller.name) { // without a frame
		frames = append(frames, l.function(caller))
	}
	before := pc
	for _, text := range f[6:] {
		switch {
		case text == "overflow" || text == "":
			continue
		case text[0] == '+':
			before += address(text[1:])
		case text[0] == '-':
			before -= address(text[1:])
		default:
			before = address(text)
		}
		frames = append(frames, l.at(before))
	}
	state, _ := strconv.Atoi(f[5])
	l.sample(t, state, frames)
	return true
}

// at is the region of an address.
func (l *logReader) at(address uint64) trace.RegionID {
	if found, ok := l.code.Find(address); ok {
		return l.function(found)
	}
	name, _ := l.libraries.Find(address)
	return l.library(name)
}

// split divides a record into its fields, without escapes.
func (l *logReader) split(line string) []string {
	l.fields = l.fields[:0]
	for more := true; more; {
		var f string
		f, line, more = strings.Cut(line, ",")
		l.fields = append(l.fields, unescape(f))
	}
	return l.fields
}

// unescape reads \xNN, \uNNNN, \n and \\.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4}[s[i]]
		switch code, err := strconv.ParseUint(s[min(i+1, len(s)):min(i+1+digits, len(s))], 16, 32); {
		case digits > 0 && err == nil:
			b.WriteRune(rune(code))
			i += digits
		case s[i] == 'n':
			b.WriteByte('\n')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func address(s string) uint64 {
	v, _ := strconv.ParseUint(s, 0, 64)
	return v
}

// micros is a time in the log.
func micros(s string) (trace.Time, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return trace.Time(v) * 1000, err == nil && v >= 0 && v < math.MaxInt64/2000
}

// ticks reads the JSON of --preprocess.
type ticks struct {
	*jsonstream.Reader
	*converter
	code []code
}

func (j *ticks) member(name string) error {
	switch name {
	case "code":
		return j.Array(func() error { _, err := j.Take(j.entry); return err })
	case "ticks":
		return j.Array(func() error { _, err := j.Take(j.tick); return err })
	}
	return j.Skip()
}

func (j *ticks) entry(c *jsonstream.Cursor) {
	entry := code{}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "name":
			entry.name = c.Text()
		case "type":
			entry.kind = c.Text()
		}
	}
	j.code = append(j.code, entry)
}

// tick: tm is its time, vm the state, s pairs of code and offset, from the innermost on.
func (j *ticks) tick(c *jsonstream.Cursor) {
	t, state := int64(-1), int64(0)
	var frames []trace.RegionID
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "tm":
			t, _ = c.Whole()
		case "vm":
			state, _ = c.Whole()
		case "s":
			for i, ok := 0, c.Open('['); ok && c.More(']'); i++ {
				v, _ := c.Whole()
				if i%2 == 1 {
					continue
				}
				frames = append(frames, j.at(v))
			}
		}
	}
	if t < 0 || t > math.MaxInt64/2000 || len(frames) == 0 {
		j.Leave(trace.MissingSamples, "ticks without a time or a frame")
		return
	}
	j.sample(trace.Time(t)*1000, int(state), frames)
}

// at is the region of code by its number.
func (j *ticks) at(number int64) trace.RegionID {
	if number < 0 || number >= int64(len(j.code)) {
		return j.library("")
	}
	if j.code[number].kind == "SHARED_LIB" {
		return j.library(j.code[number].name)
	}
	return j.function(j.code[number])
}
