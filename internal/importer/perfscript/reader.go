package perfscript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sample is the line that begins one.
type sample struct {
	comm, event string
	pid, tid    int64 // pid -1: not printed
	cpu         int64 // -1: not printed
	time        trace.Time
	timed       bool
	period      float64
	weighed     bool   // the period is printed
	rest        string // the text after the event
	byTask      bool   // the thread did it itself, and no interrupt while it ran; strings do not record that
	whole       bool   // its one frame is on the line
}

// A sample is found from its time on, since the name before it may hold blanks and numbers ("CPU 0/KVM", "work 1").
var (
	timeField = regexp.MustCompile(`\s(\d+)\.(\d+):(?:\s|$)`)
	// whoField matches the fields before the time: name, pid/tid, [cpu], flags.
	whoField = regexp.MustCompile(`^\s*(\S.*?)\s+(?:(-?\d+)/)?(-?\d+)(?:\s+\[(\d+)\])?(?:\s+[a-zA-Z.]{4,5})?\s*$`)
	// countedField is whoField with a period behind it, which perf pads to ten columns.
	countedField = regexp.MustCompile(`^(.*\S)\s(\s*\d+)\s*$`)
	// eventField is a period and an event; either may be missing.
	eventField = regexp.MustCompile(`^\s*(?:(\d+)\s+)?([\w.\-:/,=@+]*[\w/]):(?:[a-zA-Z]{1,6}:)?(?:\s+(.*))?$`)
	// untimedField splits a line without time before its event.
	untimedField = regexp.MustCompile(`^(.*\s)([\w.\-:/,=@+]*[\w/]:(?:[a-zA-Z]{1,6}:)?(?:\s+.*)?)$`)
)

// eventName recognises the usual events, and trace points by their colon: where neither time nor
// period nor processor is printed, little else tells a sample.
var eventName = regexp.MustCompile(
	`^(?:cpu-clock|task-clock|cpu-cycles|cycles|ref-cycles|bus-cycles|instructions|` +
		`branch(?:es|-misses|-instructions)|cache-(?:references|misses)|(?:L1|LLC|dTLB|iTLB)[\w-]*|` +
		`(?:page|minor|major)-faults|faults|context-switches|cs|cpu-migrations|\w+:\w+)(?:[:/]\w*/?)?$`,
)

// A lineKind is the kind of a line.
type lineKind uint8

const (
	otherLine  lineKind = iota
	sampleLine          // it has a time, or an event
	recordLine          // PERF_RECORD_…: a switch, a mapping
	nameLine            // only who: a sample if frames follow
)

// parseLine reads the line that begins a sample.
func parseLine(line []byte) (s sample, kind lineKind) {
	if len(line) > 4096 {
		return s, otherLine
	}
	if at := timeField.FindSubmatchIndex(line); at != nil {
		if !s.who(line[:at[0]]) {
			return s, otherLine
		}
		s.time, s.timed = parseTime(line[at[2]:at[3]], line[at[4]:at[5]])
		return s, s.what(line[at[1]:])
	}
	if m := untimedField.FindSubmatch(line); m != nil {
		return s, s.untimed(m[1], m[2])
	}
	if s.who(line) {
		return s, nameLine
	}
	return s, otherLine
}

// who reads name, process, thread and processor.
func (s *sample) who(text []byte) bool {
	m := whoField.FindSubmatch(text)
	if m == nil {
		return false
	}
	s.comm, s.pid, s.tid, s.cpu = string(m[1]), number(m[2]), number(m[3]), number(m[4])
	return true
}

// what reads the fields after the time.
func (s *sample) what(text []byte) lineKind {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("PERF_RECORD_")) {
		return recordLine
	}
	if m := eventField.FindSubmatch(text); m != nil {
		s.setPeriod(m[1])
		s.event, s.rest = string(m[2]), string(m[3])
		return sampleLine
	}
	period, rest := bytes.TrimSpace(text), []byte(nil)
	if _, _, ok := parseFrame(period); ok {
		period, rest = nil, period
	}
	if len(bytes.Trim(period, "0123456789")) > 0 {
		return otherLine
	}
	s.setPeriod(period)
	s.rest = string(rest)
	return sampleLine
}

// untimed reads a line without time: the number before the event is the thread, unless it is padded as a period is.
func (s *sample) untimed(who, event []byte) lineKind {
	m := countedField.FindSubmatch(who)
	if m != nil && len(m[2]) >= periodWidth && s.who(m[1]) {
		who = m[1]
		event = append(append(bytes.TrimSpace(m[2]), ' '), event...)
	}
	if !s.who(who) {
		return otherLine
	}
	kind := s.what(event)
	if !s.weighed && s.cpu < 0 && s.pid < 0 && !eventName.MatchString(s.event) {
		return otherLine // a word, a number and a colon are not enough
	}
	return kind
}

// periodWidth is how wide perf prints a period at least.
const periodWidth = 10

func (s *sample) setPeriod(text []byte) {
	if len(text) > 0 {
		s.period, _ = strconv.ParseFloat(string(text), 64)
		s.weighed = true
	}
}

// number is that of a field, or -1.
func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// parseTime reads seconds and their fraction without loss.
func parseTime(seconds, fraction []byte) (trace.Time, bool) {
	digits := (string(fraction) + "000000000")[:9]
	sec, err := strconv.ParseInt(string(seconds), 10, 64)
	ns, err2 := strconv.ParseInt(digits, 10, 64)
	return trace.Time(sec*1e9 + ns), err == nil && err2 == nil && sec < 1<<33
}

// parseFrame reads "address symbol+offset (object)"; simpleperf puts a tab behind the address.
func parseFrame(line []byte) (symbol, object string, ok bool) {
	line = bytes.TrimSpace(line)
	end := bytes.IndexAny(line, " \t")
	if end <= 0 || len(bytes.Trim(line[:end], "0123456789abcdefABCDEF")) > 0 {
		return "", "", false
	}
	text := strings.TrimSpace(string(line[end:]))
	text = strings.TrimSuffix(text, " (inlined)")
	if i := strings.LastIndex(text, " ("); i >= 0 && strings.HasSuffix(text, ")") {
		text, object = text[:i], text[i+2:len(text)-1]
	} else if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
		text, object = "[unknown]", text[1:len(text)-1]
	}
	if i := strings.LastIndex(text, "+0x"); i > 0 {
		text = text[:i]
	}
	return text, object, text != ""
}

// parsePlace reads the line that -F +srcline puts after a frame: "  solve.c:12".
func parsePlace(line []byte) (file string, number int, ok bool) {
	text := string(bytes.TrimSpace(line))
	colon := strings.LastIndexByte(text, ':')
	if colon <= 0 || strings.ContainsAny(text, " \t") || strings.HasPrefix(text, "?") {
		return "", 0, false
	}
	number, err := strconv.Atoi(text[colon+1:])
	return text[:colon], number, err == nil && number > 0
}

// maybeSample is a cheap test for a sign that frames do not have: a colon after a word or number, not that of a
// C++ name.
func maybeSample(line []byte) bool {
	for rest := line; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			return false
		}
		if i+1 == len(rest) || rest[i+1] == ' ' || rest[i+1] == '\t' {
			return true
		}
		rest = rest[i+1:]
		if rest[0] == ':' {
			rest = rest[1:]
		}
	}
}

// line takes a line that begins a sample, or is none.
func (c *converter) line(line []byte, place func() string) {
	s, kind := parseLine(line)
	switch {
	case kind == sampleLine, kind == nameLine && !c.open:
		c.end()
		c.begin(s)
	case kind == recordLine:
		c.end()
		c.w.Report(trace.Redundant, "records of perf that are no samples (PERF_RECORD_…)",
			1, place())
	case c.open && c.frame(line):
	default:
		c.w.Report(trace.MissingSamples, "lines that are neither a sample nor a frame of one", 1, place())
	}
}

// longest bounds a line: names of templates may be long.
const longest = 1 << 20

// script reads a file, sample by sample.
func script(ctx context.Context, f io.Reader, label string, c *converter) error {
	scan := bufio.NewScanner(f)
	scan.Buffer(make([]byte, 64<<10), longest)
	unended := false // the present line is the last and has no end
	scan.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, token, err := bufio.ScanLines(data, atEOF)
		unended = atEOF && advance == len(data) && len(data) > 0 && data[len(data)-1] != '\n'
		return advance, token, err
	})
	number := 0
	place := func() string { return fmt.Sprintf("%s: line %d", label, number) }
	for scan.Scan() {
		if number%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		number++
		line := scan.Bytes()
		switch {
		case unended && !bytes.HasSuffix(line, []byte(")")):
			// perf ends every line, and a frame with the object it is in: half a
			// name is not another function.
			c.w.Report(trace.MissingRest, "a line in the middle of which the file ends", 1, place())
		case len(bytes.TrimSpace(line)) == 0:
			c.end()
		case line[0] == '#':
			c.comment(string(line))
		case c.open && !maybeSample(line) && c.frame(line):
		default:
			c.line(line, place)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.open && len(c.keys) > 0 && !c.now.whole {
		c.w.Report(trace.Guessed, "a sample without the empty line that ends it: the file may be cut", 1, place())
	}
	c.end()
	var packed *importer.Error
	switch err := scan.Err(); {
	case err != nil && c.samples == 0 && errors.As(err, &packed):
		return packed
	case err != nil:
		c.w.Report(trace.MissingRest, "the rest of a file with a line that is too long or cannot be unpacked", 1,
			fmt.Sprintf("%s: after line %d", label, number))
	}
	if c.samples == 0 {
		return importer.Malformed(label, "", "no line is a sample of perf script")
	}
	return nil
}
