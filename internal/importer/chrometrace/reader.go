package chrometrace

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// The buffer begins small, for the many small files of a large run, and stays small enough for the processor's
	// cache.
	firstBuffer = 32 << 10
	bufferSize  = 128 << 10
	// longestFirst bounds the part of the first object that is searched to identify it.
	longestFirst = 512 << 10
	// longestRecord bounds the buffer: a longer record is passed over and counted.
	longestRecord = 64 << 20
	// longestSection bounds the kept bytes of a top-level member next to the records.
	longestSection = 1 << 20
	mostSections   = 256
	// A broken part is searched for the next record by trying; the tries
	// together read at most retryBudget bytes and retryFactor times the file.
	longestRetry = 1 << 20
	retryBudget  = 64 << 20
	retryFactor  = 2
)

// A scanner reads records from a file of trace events. It accepts the output of
// the writers of such files, which is not always JSON:
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

	clean int64 // file offset up to which there is no zero

	state    state
	object   bool // the records are inside of {"traceEvents": …}
	template *recordTemplate
	lists    int  // of records that were met
	listed   bool // a record of the current list was read
	sampled  bool // the current list holds samples, which have no phase
	sections []section

	retried int64
	damage  damage

	batch        int   // bytes of a batch
	batchesAt    int64 // offset from which on batches are tried
	batchesPause int64 // before they are tried again
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
	return &scanner{r: r, buf: make([]byte, 0, firstBuffer), template: &recordTemplate{}, batch: batchSize,
		batchesAt: batchesFrom}
}

// scanHead is a scanner of data that is in memory.
func scanHead(data []byte) *scanner {
	return &scanner{buf: data, template: &recordTemplate{}, err: io.EOF}
}

// next reads the next record; false: there are no more.
func (s *scanner) next(r *record) bool {
	for {
		switch s.state {
		case atStart:
			s.start()
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
func (s *scanner) start() {
	if s.peek() == 0xEF && s.more(3) && string(s.buf[s.pos:s.pos+3]) == "\xEF\xBB\xBF" {
		s.pos += 3
	}
	switch s.peek() {
	case '[':
		s.pos++
		s.state = inRecords
	case '{':
		if s.linesOfRecords() {
			s.state = inLines
			return
		}
		s.pos++
		s.state, s.object = inMembers, true
	default:
		s.state = atEnd
	}
}

// linesOfRecords tries whether the first object is itself a record: it has a phase, and no list of records.
func (s *scanner) linesOfRecords() bool {
	for {
		phase, status := phaseAt(s.buf, s.pos)
		if status == short && len(s.buf)-s.pos < longestFirst && s.fill() {
			continue
		}
		return phase
	}
}

// phaseAt reports whether the object that begins at b[i] has a phase.
func phaseAt(b []byte, i int) (bool, status) {
	for {
		key, at, s := parseKey(b, i+1)
		if s != complete || key.kind == missing {
			return false, s
		}
		if string(key.raw()) == "traceEvents" {
			return false, complete // which may be all of the file
		}
		v, at, s := parseValue(b, at)
		if s != complete {
			return false, s
		}
		if string(key.raw()) == "ph" && letter(v) != 0 {
			return true, complete
		}
		if i = skipSpace(b, at); i == len(b) {
			return false, short
		}
		if b[i] != ',' {
			return false, complete
		}
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
				if s.sampled && r.phase == 0 {
					r.phase = 'P'
				}
				return true
			}
			return false
		case c == 0:
			at := s.offset()
			if s.zerosToTheEnd() {
				s.damage.unclosed = s.state == inRecords
				s.state = atEnd
				return false
			}
			if s.damage.broken == 0 {
				s.damage.brokenAt = at
			}
			s.damage.broken++
			s.damage.brokenBytes += s.offset() - at
			s.listed = false
			continue
		case c == ']' && s.state == inRecords:
			s.pos++
			s.state = atEnd
			s.sampled = false
			if s.object {
				s.state = inMembers
			}
			return false
		}
		s.recover()
		return false
	}
}

// parse reads the record at pos. If it cannot, it moves on and returns false.
func (s *scanner) parse(r *record) bool {
	for {
		end, status := s.template.parseRecord(s.buf, s.pos, r)
		if status == complete && s.zeroBefore(end) {
			status = broken // a block that was never written: a text goes on in another record
		}
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

// zeroBefore reports whether there is a zero from pos to end. The bytes in the buffer are searched once.
func (s *scanner) zeroBefore(end int) bool {
	if s.base+int64(end) <= s.clean {
		return false
	}
	s.clean = s.base + int64(len(s.buf))
	if zero := bytes.IndexByte(s.buf[s.pos:], 0); zero >= 0 {
		s.clean = s.offset() + int64(zero)
	}
	return s.clean < s.base+int64(end)
}

// finish checks the bytes after the end.
func (s *scanner) finish() {
	if s.damage.cut || s.damage.unclosed {
		return
	}
	for s.peek() != 0 {
		s.damage.trailing += int64(len(s.buf) - s.pos)
		s.pos = len(s.buf)
	}
}

// byteAt names an offset for messages.
func byteAt(offset int64) string { return fmt.Sprintf("byte %d", offset) }
