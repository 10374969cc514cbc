package tau

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A packedReader reads the output of Java's DataOutputStream: big endian, strings in modified UTF-8.
type packedReader struct{ *wire.Cursor }

func (p packedReader) int() int { return int(p.Int32()) }

// count reads how many things follow.
func (p packedReader) count(what string) int {
	n := p.int()
	if n < 0 {
		p.Fail(fmt.Errorf("number of %s is %d", what, n))
	}
	return max(n, 0)
}

// index reads a number below n.
func (p packedReader) index(what string, n int) int {
	i := p.int()
	if i < 0 || i >= n {
		p.Fail(fmt.Errorf("%s %d of %d", what, i, n))
	}
	if p.Failed() {
		return 0
	}
	return i
}

// string reads a text; the slice is valid until the next one.
func (p packedReader) string() []byte { return fromJava(p.Take(int(p.Uint16()))) }

// fromJava turns modified UTF-8 into UTF-8: zero is two bytes there, and characters
// beyond 16 bits are two surrogates of three bytes each.
func fromJava(b []byte) []byte {
	if !bytes.Contains(b, []byte{0xc0, 0x80}) && bytes.IndexByte(b, 0xed) < 0 {
		return b
	}
	var out []byte
	for len(b) > 0 {
		if len(b) > 1 && b[0] == 0xc0 && b[1] == 0x80 {
			out, b = append(out, 0), b[2:]
			continue
		}
		if hi, ok := surrogate(b); ok {
			if lo, ok := surrogate(b[3:]); ok {
				if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
					out, b = utf8.AppendRune(out, r), b[6:]
					continue
				}
			}
		}
		out, b = append(out, b[0]), b[1:]
	}
	return out
}

func surrogate(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}

// readPacked reads a packed profile: definitions, then one thread after the other.
func readPacked(ctx context.Context, run importer.Run, file string, c *converter) error {
	f, err := run.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	p := packedReader{wire.From(f, 1<<18).Big()}
	s := packedFile{p: p, c: c, label: run.Label(file)}
	s.definitions()
	if p.Failed() {
		return s.failure()
	}
	return s.threads(ctx)
}

// A packedFile is being read.
type packedFile struct {
	p     packedReader
	c     *converter
	label string

	facts     map[node][]pair
	metrics   []metric
	functions []*function
	counters  []counter
}

func (s *packedFile) failure() error {
	var known *importer.Error
	switch err := s.p.Err(); {
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return importer.Malformed(s.label, s.place(), "the packed profile ends early")
	default:
		return importer.Malformed(s.label, s.place(), "%v", err)
	}
}

func (s *packedFile) place() string { return fmt.Sprintf("byte %d", s.p.Offset()) }

// definitions reads everything in front of the threads.
func (s *packedFile) definitions() {
	p := s.p
	p.Skip(6) // "PPK", two bytes a letter
	version, compatible := p.int(), p.int()
	if !p.Failed() && compatible != 1 {
		p.Fail(fmt.Errorf("version %d, which readers of version 1 cannot read", version))
	}
	size := p.count("bytes of metadata")
	s.header(size)
	for range p.count("metrics") {
		name := string(p.string())
		if p.Failed() {
			return
		}
		s.metrics = append(s.metrics, s.c.metric(name))
	}
	var names []string
	for range p.count("groups") {
		names = append(names, string(p.string()))
		if p.Failed() {
			return
		}
	}
	s.readFunctions(names)
	for range p.count("user events") {
		name := p.string()
		if p.Failed() {
			return
		}
		s.counters = append(s.counters, s.c.counter(name))
	}
}

// readFunctions defines flat functions before call paths, since those know the groups.
func (s *packedFile) readFunctions(groupNames []string) {
	p := s.p
	var names, members [][]byte
	for range p.count("functions") {
		name := bytes.Clone(p.string())
		var group []byte
		for range p.count("groups of a function") {
			i := p.index("group", len(groupNames))
			if p.Failed() {
				return
			}
			if group != nil {
				group = append(group, '|')
			}
			group = append(group, groupNames[i]...)
		}
		if p.Failed() {
			return
		}
		names, members = append(names, name), append(members, group)
	}
	s.functions = make([]*function, len(names))
	for _, paths := range []bool{false, true} {
		for i, n := range names {
			if bytes.Contains(n, []byte(separator)) == paths {
				s.functions[i] = s.c.function(n, members[i])
			}
		}
	}
}

// header reads the metadata, which older readers skip by its size.
func (s *packedFile) header(size int) {
	if s.p.Failed() || size == 0 {
		return
	}
	p := packedReader{s.p.Sub(size)}
	s.facts = map[node][]pair{}
	known := p.int() == 0
	var trial []pair
	if known {
		trial = s.pairs(p)
		for range p.count("threads with metadata") {
			at := node{p.int(), p.int(), p.int()}
			facts := s.pairs(p)
			if p.Failed() {
				break
			}
			s.facts[at] = facts
			s.c.expect(at)
		}
	}
	if !known || p.Failed() {
		s.c.w.Report(trace.MissingDetails, "metadata of a packed profile that cannot be read", 1, s.label)
	}
	for _, t := range trial {
		s.c.w.Property(t.key, t.value)
	}
	s.c.trialHost = hostOf(trial)
}

func (s *packedFile) pairs(p packedReader) (out []pair) {
	for range p.count("facts") {
		key := string(p.string())
		value := string(p.string())
		if p.Failed() {
			return out
		}
		if key != "" {
			out = append(out, pair{key, value})
		}
	}
	return out
}

// threads reads the values. A file that breaks off keeps the threads before.
func (s *packedFile) threads(ctx context.Context) error {
	p := s.p
	n := p.count("threads")
	if p.Failed() {
		return s.failure()
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.thread()
		if p.Failed() {
			if i == 0 {
				return s.failure()
			}
			s.c.w.Report(trace.MissingLocations, "threads of a packed profile that is cut off or damaged", int64(n-i),
				s.label+": "+s.place())
			return nil
		}
	}
	if p.More() {
		s.c.w.Report(trace.MissingValues, "bytes behind the last thread of a packed profile", 1, s.label+": "+s.place())
	}
	return nil
}

func (s *packedFile) thread() {
	p, c := s.p, s.c
	at := node{p.int(), p.int(), p.int()}
	n := p.count("function profiles")
	if p.Failed() {
		return
	}
	facts := s.facts[at]
	if at.thread != 0 && s.facts[at] == nil {
		c.expect(at)
	}
	location := c.location(at, hostOf(facts))
	c.begin()
	for range n {
		i := p.index("function", len(s.functions))
		calls, subcalls := p.Float64(), p.Float64()
		for _, m := range s.metrics {
			exclusive, inclusive := p.Float64(), p.Float64()
			if p.Failed() {
				return
			}
			c.add(location, s.functions[i], m, calls, subcalls, exclusive, inclusive)
		}
		if p.Failed() {
			return
		}
	}
	events := make([]packedEvent, 0, 16)
	for range p.count("user event profiles") {
		i := p.index("user event", len(s.counters))
		e := event{count: float64(p.int())}
		e.min, e.max, e.mean, e.square = p.Float64(), p.Float64(), p.Float64(), p.Float64()
		if p.Failed() {
			return
		}
		events = append(events, packedEvent{s.counters[i], e})
	}
	if p.Failed() {
		return
	}
	c.end()
	for _, e := range events {
		c.event(location, e.counter, e.event)
	}
	c.meta.add(c.w, location, facts)
}

type packedEvent struct {
	counter counter
	event   event
}
