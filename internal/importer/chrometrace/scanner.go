package chrometrace

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	// The buffer begins small, for the many small files of a large run.
	firstBuffer = 32 << 10
	bufferSize  = 512 << 10
	// longestRecord bounds the buffer: a longer record is passed over and counted.
	longestRecord = 64 << 20
	// longestSection bounds what is kept of a top-level member beside the records.
	longestSection = 1 << 20
	mostSections   = 256
	// A broken stretch is searched for the next record by trying; the tries
	// together read at most retryBudget bytes and retryFactor times the file.
	longestRetry = 1 << 20
	retryBudget  = 64 << 20
	retryFactor  = 2
)

// A scanner reads records from a file of trace events. It takes what the
// writers of such files produce, which is not always JSON:
//
//	[ {…}, {…} ]                     an array; the end may be missing
//	{ "traceEvents": […], … }        an object, with other members before and after
//	[ ⏎ {…} ⏎ {…}                    one a line, without commas
//	{…} ⏎ {…}                        the same without a bracket
//
// Memory is one buffer that holds at least the current record. A record that
// does not end in the buffer is parsed again after more is read; since the
// buffer doubles, that costs at most twice the bytes.
type scanner struct {
	r    io.Reader
	buf  []byte
	pos  int   // of the next byte to look at
	base int64 // file offset of buf[0]
	err  error // why reading ended: io.EOF or worse

	state    state
	object   bool // the records are inside of {"traceEvents": …}
	lists    int  // of records that were met
	listed   bool // a record of the current list was read
	sections []section

	retried int64
	damage  damage
}

// A section is a top-level member beside the records.
type section struct {
	key   string
	raw   []byte // the value; cut at longestSection
	items int    // of a list or object
}

// damage counts what was wrong with the text.
type damage struct {
	broken      int64 // stretches that are no records
	brokenAt    int64 // offset of the first
	brokenBytes int64
	commas      int64 // records without a comma before them
	oversized   int64
	cut         bool  // the file ends inside a record or member
	unclosed    bool  // … or before its last bracket
	trailing    int64 // bytes after the end
}

type state uint8

const (
	atStart state = iota
	inRecords
	inMembers // of the top-level object
	inLines   // records without brackets around them
	atEnd
)

func newScanner(r io.Reader) *scanner {
	return &scanner{r: r, buf: make([]byte, 0, firstBuffer)}
}

// scanHead is a scanner of data that is in memory.
func scanHead(data []byte) *scanner { return &scanner{buf: data, err: io.EOF} }

// offset is the place in the file of the next byte.
func (s *scanner) offset() int64 { return s.base + int64(s.pos) }

// fill reads more behind what is there, from pos on. It says false at the end.
func (s *scanner) fill() bool {
	if s.err != nil {
		return false
	}
	if s.pos > 0 && (s.pos >= len(s.buf) || len(s.buf) == cap(s.buf)) {
		n := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
		s.base += int64(s.pos)
		s.buf, s.pos = s.buf[:n], 0
	}
	if len(s.buf) == cap(s.buf) || s.base > 0 && cap(s.buf) < bufferSize {
		s.grow()
	}
	for tries := 0; ; tries++ {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.err = err
		if n > 0 {
			return true
		}
		if err != nil || tries == 100 {
			if err == nil {
				s.err = io.ErrNoProgress
			}
			return false
		}
	}
}

// grow makes the buffer larger. Buffers of the usual size are used again: a run
// may have ten thousand files.
func (s *scanner) grow() {
	old := s.buf
	if cap(old) < bufferSize {
		b := buffers.Get().(*[]byte)
		s.buf = append((*b)[:0], old...)
		return
	}
	s.buf = append(make([]byte, 0, 2*cap(old)), old...)
	s.release(old)
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, bufferSize); return &b }}

// release gives a buffer back. Records that were read are not valid after it.
func (s *scanner) release(b []byte) {
	if cap(b) == bufferSize {
		buffers.Put(&b)
	}
}

// close ends the use of the scanner.
func (s *scanner) close() {
	s.release(s.buf)
	s.buf, s.pos, s.state = nil, 0, atEnd
}

// peek gives the next byte that is no space, or 0 at the end.
func (s *scanner) peek() byte {
	for {
		s.pos = skipSpace(s.buf, s.pos)
		if s.pos < len(s.buf) {
			return s.buf[s.pos]
		}
		if !s.fill() {
			return 0
		}
	}
}

// next reads the next record; false: there are no more.
func (s *scanner) next(r *record) bool {
	for {
		switch s.state {
		case atStart:
			s.start(r)
		case inRecords, inLines:
			if s.record(r) {
				return true
			}
		case inMembers:
			s.member()
		case atEnd:
			s.finish()
			return false
		}
	}
}

// start finds out which of the forms the file has.
func (s *scanner) start(r *record) {
	if s.peek() == 0xEF && s.more(3) && string(s.buf[s.pos:s.pos+3]) == "\xEF\xBB\xBF" {
		s.pos += 3
	}
	switch s.peek() {
	case '[':
		s.pos++
		s.state = inRecords
	case '{':
		if s.linesOfRecords(r) {
			s.state = inLines
			return
		}
		s.pos++
		s.state, s.object = inMembers, true
	default:
		s.state = atEnd
	}
}

// more makes sure that n bytes from pos on are in the buffer.
func (s *scanner) more(n int) bool {
	for len(s.buf)-s.pos < n {
		if !s.fill() {
			return false
		}
	}
	return true
}

// linesOfRecords tries whether the first object is itself a record.
func (s *scanner) linesOfRecords(r *record) bool {
	for {
		r.reset()
		_, status := parseRecord(s.buf, s.pos, r)
		if status == short && r.phase == 0 && len(s.buf)-s.pos < bufferSize && s.fill() {
			continue
		}
		return r.phase != 0
	}
}

// record reads one record, or finds the end of the list.
func (s *scanner) record(r *record) bool {
	comma := false
	for {
		switch c := s.peek(); {
		case c == ',':
			s.pos++
			comma = true
			continue
		case c == '{':
			r.reset()
			if s.parse(r) {
				if !comma && s.listed && s.state == inRecords {
					s.damage.commas++
				}
				s.listed = true
				return true
			}
			return false
		case c == 0:
			s.damage.unclosed = s.state == inRecords
			s.state = atEnd
			return false
		case c == ']' && s.state == inRecords:
			s.pos++
			s.state = atEnd
			if s.object {
				s.state = inMembers
			}
			return false
		}
		s.recover()
		return false
	}
}

// parse reads the record at pos. Where it cannot, it moves on: false.
func (s *scanner) parse(r *record) bool {
	for {
		end, status := parseRecord(s.buf, s.pos, r)
		if status == complete {
			r.offset = s.offset()
			s.pos = end
			return true
		}
		if status == broken {
			s.recover()
			return false
		}
		if len(s.buf)-s.pos >= longestRecord {
			s.damage.oversized++
			s.skipValue(nil)
			return false
		}
		at := s.offset()
		if !s.fill() {
			s.cutOff(r, at)
			return false
		}
		r.reset()
	}
}

// cutOff deals with a record that the end of the file cuts: it may be cut, or
// have lost a quote long before; then the rest is searched.
func (s *scanner) cutOff(r *record, at int64) {
	s.damage.cut = true
	s.recover()
	if s.state == atEnd && s.damage.brokenAt == at {
		s.damage.broken-- // the cut record is not counted twice
		s.damage.brokenBytes = 0
	}
}

// recover moves from a place that is no record to the next one that is, and
// counts what lies between.
func (s *scanner) recover() {
	begin := s.offset()
	if s.damage.broken == 0 {
		s.damage.brokenAt = begin
	}
	s.damage.broken++
	s.listed = false // whether there is a comma after it cannot be told
	var try record
	for s.pos++; s.toBrace(); s.pos++ {
		if s.tryRecord(&try) {
			s.damage.brokenBytes += s.offset() - begin
			return
		}
		if s.retried > retryBudget+retryFactor*s.offset() {
			break
		}
	}
	s.damage.brokenBytes += s.offset() - begin
	s.damage.cut = true
	s.state = atEnd
}

// toBrace moves to the next opening brace.
func (s *scanner) toBrace() bool {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:], '{'); i >= 0 {
			s.pos += i
			return true
		}
		s.pos = len(s.buf)
		if !s.fill() {
			return false
		}
	}
}

// tryRecord reports whether a whole record with a phase begins at pos.
func (s *scanner) tryRecord(r *record) bool {
	for {
		r.reset()
		end, status := parseRecord(s.buf, s.pos, r)
		s.retried += int64(end - s.pos)
		switch {
		case status == complete:
			return r.phase != 0
		case status == broken || len(s.buf)-s.pos > longestRetry || !s.fill():
			return false
		}
	}
}

// member reads one member of the top-level object. Records are left to record.
func (s *scanner) member() {
	c := s.peek()
	for ; c == ','; c = s.peek() {
		s.pos++
	}
	switch c {
	case '}':
		s.pos++
		s.state = atEnd
		return
	case 0:
		s.damage.unclosed = true
		s.state = atEnd
		return
	}
	key, ok := s.key()
	if !ok {
		s.brokenMember()
		return
	}
	if key == "traceEvents" && s.peek() == '[' {
		s.pos++
		s.state, s.listed = inRecords, false
		s.lists++
		return
	}
	sec := section{key: key}
	if !s.skipValue(&sec) {
		s.brokenMember()
	}
	if len(s.sections) < mostSections {
		s.sections = append(s.sections, sec)
	}
}

// brokenMember ends the top-level object where it cannot be read on, or where
// the file is cut; what was read before stands.
func (s *scanner) brokenMember() {
	s.damage.cut = true
	if s.damage.broken == 0 {
		s.damage.brokenAt = s.offset()
	}
	if s.peek() != 0 {
		s.damage.broken++
	}
	s.state = atEnd
}

// key reads a key and its colon.
func (s *scanner) key() (string, bool) {
	for {
		key, i, status := parseKey(s.buf, s.pos)
		if status == complete && key.kind == text {
			s.pos = i
			return string(key.plain(nil)), true
		}
		if status != short || len(s.buf)-s.pos > longestSection || !s.fill() {
			return "", false
		}
	}
}

// skipValue passes over a value of any length in bounded memory. With sec, its
// beginning is kept and its items are counted. False: the file ends within it,
// or there is no value.
func (s *scanner) skipValue(sec *section) bool {
	depth, quoted, escape, something := 0, false, false, false
	s.peek()
	for {
		begin := s.pos
		for ; s.pos < len(s.buf); s.pos++ {
			c := s.buf[s.pos]
			switch {
			case escape:
				escape = false
			case quoted:
				escape = c == '\\'
				quoted = c != '"'
			case c == '"':
				quoted = true
			case class[c]&opens != 0:
				depth++
			case depth == 0 && (c == ',' || class[c]&(closes|space) != 0):
				sec.keep(s.buf[begin:s.pos])
				return something
			case class[c]&closes != 0:
				depth--
			case c == ',' && depth == 1 && sec != nil:
				sec.items++
			}
			if sec != nil && depth == 1 && sec.items == 0 && something && class[c]&(space|opens) == 0 {
				sec.items = 1
			}
			something = true
			if depth == 0 && !quoted && (class[c]&closes != 0 || c == '"') && !escape {
				s.pos++
				sec.keep(s.buf[begin:s.pos])
				return true
			}
		}
		sec.keep(s.buf[begin:s.pos])
		if !s.fill() {
			return false
		}
	}
}

// keep adds to what is kept of a value.
func (sec *section) keep(b []byte) {
	if sec != nil {
		sec.raw = append(sec.raw, b[:min(len(b), longestSection-len(sec.raw))]...)
	}
}

// finish looks at what follows the end.
func (s *scanner) finish() {
	if s.damage.cut || s.damage.unclosed {
		return
	}
	for s.peek() != 0 {
		s.damage.trailing += int64(len(s.buf) - s.pos)
		s.pos = len(s.buf)
	}
}

// section gives the kept text of a top-level member.
func (s *scanner) section(key string) []byte {
	for i := range s.sections {
		if s.sections[i].key == key {
			return bytes.TrimSpace(s.sections[i].raw)
		}
	}
	return nil
}

// byteAt names an offset for messages.
func byteAt(offset int64) string { return fmt.Sprintf("byte %d", offset) }

// readFailure gives why reading ended before the end of the file, or nil.
func (s *scanner) readFailure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// textOf gives the text of a section that is a scalar, without quotes.
func textOf(raw []byte) string {
	t := strings.TrimSpace(string(raw))
	if len(t) >= 2 && t[0] == '"' && t[len(t)-1] == '"' {
		return string(unescape(nil, []byte(t[1:len(t)-1])))
	}
	return t
}
