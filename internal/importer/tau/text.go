package tau

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A textFile is one parsed text profile. Names are slices of data.
type textFile struct {
	data     []byte
	metric   []byte
	metadata []byte
	entries  []entry
	events   []event
	problems []problem
}

// An entry is one line of a function.
type entry struct {
	name, group                           []byte
	calls, subcalls, exclusive, inclusive float64
}

// An event is one line of a user event.
type event struct {
	name                          []byte
	count, max, min, mean, square float64
}

// A problem is something to report, with its line.
type problem struct {
	kind  trace.ReportKind
	what  string
	count int64
	line  int
}

// mostText bounds the size of one text file, since it is read whole: TAU writes
// one for each thread, and those of real runs are below a few megabytes.
const mostText = 1 << 30

// load reads and parses a file into f, whose memory is reused.
func (f *textFile) load(run importer.Run, file string) error {
	r, err := run.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	f.data = f.data[:0]
	for {
		if len(f.data) == cap(f.data) {
			f.data = append(f.data, 0)[:len(f.data)]
		}
		n, err := r.Read(f.data[len(f.data):cap(f.data)])
		f.data = f.data[:len(f.data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(f.data) > mostText {
			return &importer.Error{File: run.Label(file), Cause: "a text profile of more than 1 GiB",
				Hint: "is this the right file?", Kind: importer.ErrUnsupported}
		}
	}
	return f.parse(run.Label(file))
}

// parse splits the file. Parts that differ from the header become a problem.
func (f *textFile) parse(label string) error {
	f.entries, f.events, f.problems, f.metadata, f.metric = f.entries[:0], f.events[:0], f.problems[:0], nil, nil
	l := lines{rest: f.data}
	head, _ := l.next()
	count, kind, _ := bytes.Cut(bytes.TrimSpace(head), []byte(" "))
	want, err := strconv.Atoi(string(count))
	kind, ok := bytes.CutPrefix(kind, []byte("templated_functions"))
	if err != nil || !ok || want < 0 {
		return importer.Malformed(label, "line 1", "want a number and templated_functions, found %q", clip(head))
	}
	f.metric, _ = bytes.CutPrefix(kind, []byte("_MULTI_"))
	if header, ok := l.next(); ok {
		if _, meta, found := bytes.Cut(header, []byte("<metadata>")); found {
			end := bytes.LastIndex(meta, []byte("</metadata>"))
			if end < 0 {
				f.problem(trace.MissingDetails, "metadata that is cut off", 1, l.number)
				end = len(meta)
			}
			f.metadata = meta[:end]
		}
	}
	f.functions(&l, want)
	f.sections(&l)
	if len(f.data) > 0 && f.data[len(f.data)-1] != '\n' {
		f.problem(trace.Guessed, "files whose last line has no end and may be cut", 1, l.number)
	}
	return nil
}

func (f *textFile) problem(kind trace.ReportKind, what string, count int64, line int) {
	f.problems = append(f.problems, problem{kind, what, count, line})
}

// functions reads the lines of functions.
func (f *textFile) functions(l *lines, want int) {
	got := 0
	for got < want {
		line, ok := l.peek()
		if !ok || len(line) > 0 && line[0] >= '0' && line[0] <= '9' &&
			bytes.HasSuffix(bytes.TrimSpace(line), []byte("aggregates")) {
			break
		}
		l.next()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		got++
		e, ok := parseEntry(line)
		if !ok {
			f.problem(trace.MissingValues, "lines of functions that cannot be read", 1, l.number)
			continue
		}
		f.entries = append(f.entries, e)
	}
	if got < want {
		f.problem(trace.MissingValues, "functions that a file announces and does not hold", int64(want-got), l.number)
	}
}

// sections reads the sections after the functions: aggregates, and user events.
func (f *textFile) sections(l *lines) {
	seen := false
	for {
		line, ok := l.next()
		if !ok {
			break
		}
		count, what, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		n, err := strconv.Atoi(string(count))
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case err == nil && n >= 0 && string(what) == "aggregates":
			seen = true
			for range n {
				if _, ok := l.next(); !ok {
					break
				}
			}
			if n > 0 {
				f.problem(trace.MissingValues, "aggregates", int64(n), l.number)
			}
		case err == nil && n >= 0 && string(what) == "userevents":
			f.userEvents(l, n)
		default:
			f.problem(trace.MissingValues, "lines that belong to nothing", 1, l.number)
		}
	}
	if !seen {
		f.problem(trace.MissingValues, "files that end before their aggregates", 1, l.number)
	}
}

func (f *textFile) userEvents(l *lines, want int) {
	got := 0
	for got < want {
		line, ok := l.next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		got++
		e, ok := parseEvent(line)
		if !ok {
			f.problem(trace.MissingValues, "lines of user events that cannot be read", 1, l.number)
			continue
		}
		f.events = append(f.events, e)
	}
	if got < want {
		f.problem(trace.MissingValues, "user events that a file announces and does not hold", int64(want-got), l.number)
	}
}

// parseEntry reads `"name" calls subrs excl incl profilecalls GROUP="A|B"`. Names
// may hold quotes, so the last one before the numbers ends it.
func parseEntry(line []byte) (e entry, ok bool) {
	if i := bytes.LastIndex(line, []byte(` GROUP="`)); i >= 0 {
		e.group = line[i+len(` GROUP="`):]
		if end := bytes.LastIndexByte(e.group, '"'); end >= 0 {
			e.group = e.group[:end]
		}
		line = line[:i]
	}
	var rest []byte
	if e.name, rest, ok = quoted(line); !ok {
		return e, false
	}
	for _, to := range [...]*float64{&e.calls, &e.subcalls, &e.exclusive, &e.inclusive} {
		if *to, rest, ok = number(rest); !ok {
			return e, false
		}
	}
	return e, true
}

// parseEvent reads `"name" count max min mean sumsqr`.
func parseEvent(line []byte) (e event, ok bool) {
	var rest []byte
	if e.name, rest, ok = quoted(line); !ok {
		return e, false
	}
	for _, to := range [...]*float64{&e.count, &e.max, &e.min, &e.mean, &e.square} {
		if *to, rest, ok = number(rest); !ok {
			return e, false
		}
	}
	return e, true
}

func quoted(line []byte) (name, rest []byte, ok bool) {
	end := bytes.LastIndexByte(line, '"')
	if end < 1 || line[0] != '"' {
		return nil, nil, false
	}
	return line[1:end], line[end+1:], true
}

// number reads one number, fast where it is a whole one of few digits.
func number(b []byte) (v float64, rest []byte, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	end := 0
	n, plain := int64(0), true
	for end < len(b) && b[end] != ' ' && b[end] != '\t' && b[end] != '\r' {
		if c := b[end]; c >= '0' && c <= '9' {
			n = n*10 + int64(c-'0')
		} else {
			plain = false
		}
		end++
	}
	switch {
	case end == 0:
		return 0, nil, false
	case plain && end <= 15:
		return float64(n), b[end:], true
	}
	v, err := strconv.ParseFloat(unsafe.String(&b[0], end), 64)
	return v, b[end:], err == nil && v == v && v-v == 0 // neither NaN nor infinite
}

// lines walks lines without copying.
type lines struct {
	rest   []byte
	number int // of the line given last
}

func (l *lines) peek() ([]byte, bool) {
	if len(l.rest) == 0 {
		return nil, false
	}
	if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
		return l.rest[:i], true
	}
	return l.rest, true
}

func (l *lines) next() ([]byte, bool) {
	line, ok := l.peek()
	if !ok {
		return nil, false
	}
	l.rest = l.rest[min(len(line)+1, len(l.rest)):]
	l.number++
	return line, true
}

func clip(b []byte) string { return string(b[:min(len(b), 40)]) }

func place(label string, line int) string { return fmt.Sprintf("%s: line %d", label, line) }
