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
	rest        string // what follows the event
}

// who, pid/tid, [cpu], flags, time, period, event: the name may hold blanks.
var sampleLine = regexp.MustCompile(
	`^\s*(\S.*?)\s+(?:(-?\d+)/)?(-?\d+)\s+(?:\[(\d+)\]\s+)?(?:[a-zA-Z.]{4,5}\s+)?` +
		`(?:(\d+)\.(\d+):\s+)?(?:(\d+)\s+)?([\w.\-:/,=]*[\w/]):(?:[a-zA-Z]{1,6}:)?(?:\s+(.*))?$`,
)

// eventName knows the usual events, and trace points by their colon: where neither time nor
// period nor processor is printed, little else tells a sample.
var eventName = regexp.MustCompile(
	`^(?:cpu-clock|task-clock|cpu-cycles|cycles|ref-cycles|bus-cycles|instructions|` +
		`branch(?:es|-misses|-instructions)|cache-(?:references|misses)|(?:L1|LLC|dTLB|iTLB)[\w-]*|` +
		`(?:page|minor|major)-faults|faults|context-switches|cs|cpu-migrations|\w+:\w+)(?:[:/]\w*/?)?$`,
)

func parseSample(line []byte) (s sample, ok bool) {
	if len(line) > 4096 {
		return s, false
	}
	m := sampleLine.FindSubmatch(line)
	if m == nil || m[5] == nil && m[7] == nil && m[4] == nil && m[2] == nil && !eventName.Match(m[8]) {
		return s, false // a word, a number and a colon are not enough
	}
	number := func(b []byte) int64 {
		n, err := strconv.ParseInt(string(b), 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	s = sample{comm: string(m[1]), pid: number(m[2]), tid: number(m[3]), cpu: number(m[4]), event: string(m[8]),
		rest: string(m[9])}
	if m[5] != nil {
		s.time, s.timed = parseTime(m[5], m[6])
	}
	if m[7] != nil {
		s.period, _ = strconv.ParseFloat(string(m[7]), 64)
		s.weighed = true
	}
	return s, true
}

// parseTime reads seconds and their fraction without loss.
func parseTime(seconds, fraction []byte) (trace.Time, bool) {
	digits := (string(fraction) + "000000000")[:9]
	sec, err := strconv.ParseInt(string(seconds), 10, 64)
	ns, err2 := strconv.ParseInt(digits, 10, 64)
	return trace.Time(sec*1e9 + ns), err == nil && err2 == nil && sec < 1<<33
}

// parseFrame reads "address symbol+offset (object)".
func parseFrame(line []byte) (symbol, object string, ok bool) {
	line = bytes.TrimSpace(line)
	address, rest, found := bytes.Cut(line, []byte(" "))
	if !found || len(address) == 0 || len(bytes.Trim(address, "0123456789abcdefABCDEF")) > 0 {
		return "", "", false
	}
	text := strings.TrimSpace(string(rest))
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
			// perf ends every line, and a frame with the object it lies in: half a
			// name is not another function.
			c.w.Report(trace.Skipped, "a line in the middle of which the file ends", 1, place())
		case len(bytes.TrimSpace(line)) == 0:
			c.end()
		case line[0] == '#':
			c.comment(string(line))
		case c.open && (line[0] == ' ' || line[0] == '\t') && c.frame(line):
		default:
			s, ok := parseSample(line)
			if !ok {
				c.w.Report(trace.Skipped, "lines that are neither a sample nor a frame of one", 1, place())
				continue
			}
			c.end()
			c.begin(s)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.open && len(c.frames) > 0 {
		c.w.Report(trace.Guessed, "a sample without the empty line that ends it: the file may be cut", 1, place())
	}
	c.end()
	var packed *importer.Error
	switch err := scan.Err(); {
	case err != nil && c.samples == 0 && errors.As(err, &packed):
		return packed
	case err != nil:
		c.w.Report(trace.Skipped, "the rest of a file with a line that is too long or cannot be unpacked", 1,
			fmt.Sprintf("%s: after line %d", label, number))
	}
	if c.samples == 0 {
		return importer.Malformed(label, "", "no line is a sample of perf script")
	}
	return nil
}
