package chrometrace

import (
	"bytes"
	"io"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

const (
	// batchSize is how much of a file one core takes at a time. The edge of a record is looked for farther:
	// longestBatch times as far.
	batchSize    = 256 << 10
	longestBatch = 16
	// batchesFrom is how long a file must be to be read in batches.
	batchesFrom = 1 << 20
)

// A batch is a part of a list of records, from the end of a record to the end of another, and the records in it.
//
// The end of a batch is guessed. Whether the guess was right is known when the batch has been read from its begin, as
// the scanner would: it then ends after a record. So if the first batch begins where a record has ended, and all
// before this one are whole, this one begins where a record has ended. Whatever is not whole is left to the scanner,
// from its last record on.
type batch struct {
	text    []byte
	offset  int64 // in the file
	records []record
	args    []argument // memory for those of all records
	commas  int64      // records without a comma before them
	end     int        // of the last record
	whole   bool       // the text ends there
}

// read reads the records of the text.
func (b *batch) read(l *lexicon) {
	b.records, b.args, b.commas, b.whole = b.records[:0], b.args[:0], 0, false
	limit := len(b.text)
	if zero := bytes.IndexByte(b.text, 0); zero >= 0 {
		limit = zero // see scanner.parse
	}
	for i := 0; ; {
		b.end = i
		comma := false
		for i = skipSpace(b.text, i); i < len(b.text) && b.text[i] == ','; i = skipSpace(b.text, i+1) {
			comma = true
		}
		if i == len(b.text) {
			b.whole = !comma
			return
		}
		if b.text[i] != '{' {
			return
		}
		r := b.room()
		end, status := l.template.parseRecord(b.text, i, r)
		if status != complete || end > limit {
			b.records = b.records[:len(b.records)-1]
			return
		}
		b.keep(r)
		if !comma {
			b.commas++
		}
		r.offset = b.offset + int64(i)
		l.prepare(r)
		i = end
	}
}

// room makes room for a record, with room for arguments behind those of the one before.
func (b *batch) room() *record {
	if len(b.records) < cap(b.records) {
		b.records = b.records[:len(b.records)+1]
	} else {
		b.records = append(b.records, record{})
	}
	r := &b.records[len(b.records)-1]
	*r = record{args: b.args[len(b.args):]}
	return r
}

// keep takes over where the arguments of a record end. If the buffer was too small, the record has its own, and later
// records get a larger one.
func (b *batch) keep(r *record) {
	if n := len(b.args) + len(r.args); n <= cap(b.args) {
		b.args = b.args[:n]
	} else {
		b.args = make([]argument, 0, max(1024, 2*cap(b.args)))
	}
}

// edge finds the last place in a text where a record seems to end and the next one to begin: a brace before another,
// which opens as the records of this file do, with the same key. That key cannot stand like this in a text, where its
// quotes would have backslashes.
func edge(text, opening []byte) int {
	for end := len(text); ; {
		at := bytes.LastIndex(text[:end], opening)
		if at < 0 {
			return -1
		}
		i := backOverSpace(text, at)
		if i > 0 && text[i-1] == ',' {
			i = backOverSpace(text, i-1)
		}
		if i > 0 && text[i-1] == '}' {
			return i
		}
		end = at
	}
}

func backOverSpace(b []byte, i int) int {
	for i > 0 && class[b[i-1]]&space != 0 {
		i--
	}
	return i
}

// opening is how a record begins: its brace and its first key, as they are written. Nil: it has none, or a long one.
func opening(text []byte) []byte {
	const longest = 100
	i := skipSpace(text, 1)
	if i == len(text) || text[i] != '"' {
		return nil
	}
	key, end, status := parseText(text, i+1)
	if status != complete || end > longest || key.escaped {
		return nil
	}
	return bytes.Clone(text[:end])
}

// each passes all records to take, in order, prepared. It reads batches on several workers if it can; take is called
// by one at a time.
func (s *scanner) each(workers int, l *lexicon, take func(*record)) {
	var r record
	for {
		s.template = l.template
		if workers > 1 && s.offset() >= s.batchesAt && s.afterRecord() {
			s.batches(workers, opening(s.buf[max(r.offset-s.base, 0):s.pos]), l.dialect, take)
		}
		if !s.next(&r) {
			return
		}
		l.prepare(&r)
		take(&r)
	}
}

// afterRecord reports whether the scanner is in a list of records, behind one of them, and has not read far ahead.
func (s *scanner) afterRecord() bool {
	return (s.state == inRecords || s.state == inLines) && s.listed && !s.sampled && s.err == nil &&
		len(s.buf)-s.pos <= bufferSize
}

// batches reads the list of records in batches, as far as these are whole.
func (s *scanner) batches(workers int, opening []byte, d dialect, take func(*record)) {
	rest := bytes.Clone(s.buf[s.pos:])
	at := s.offset()
	var left []*batch
	if opening != nil {
		left = parallel.Piped(workers, func() *lexicon { return newLexicon(d) },
			func(b *batch) bool {
				b.offset = at
				b.text, rest = s.cut(append(b.text[:0], rest...), opening, rest)
				at += int64(len(b.text))
				return len(b.text) > 0
			},
			func(l *lexicon, b *batch) { b.read(l) },
			func(b *batch) bool {
				for i := range b.records {
					take(&b.records[i])
				}
				if s.state == inRecords {
					s.damage.commas += b.commas
				}
				return b.whole
			})
	}
	buf := s.buf[:0]
	s.base = at
	if len(left) > 0 {
		s.base = left[0].offset + int64(left[0].end)
		left[0].text = left[0].text[left[0].end:]
	}
	for _, b := range left {
		buf = append(buf, b.text...)
	}
	s.buf, s.pos = append(buf, rest...), 0
	// The scanner reads these bytes on its own, and twice as many each time that batches did not help.
	s.batchesAt = s.base + int64(len(s.buf)) + s.batchesPause + 1
	s.batchesPause = 2*s.batchesPause + longestBatch*int64(s.batch)
}

// cut reads on behind text, up to a batch and further until there is an edge, and returns the part before the last one
// and the part behind it. The first is empty if there is none.
func (s *scanner) cut(text, opening, rest []byte) (whole, behind []byte) {
	for want := max(s.batch, len(text)); ; want *= 2 {
		if cap(text) < want {
			text = append(make([]byte, 0, want), text...)
		}
		for tries := 0; len(text) < want && s.err == nil; tries++ {
			n, err := s.r.Read(text[len(text):want])
			text = text[:len(text)+n]
			s.err = err
			if n > 0 {
				tries = 0
			} else if tries == 100 && err == nil {
				s.err = io.ErrNoProgress
			}
		}
		if end := edge(text, opening); end > 0 {
			return text[:end], append(rest[:0], text[end:]...)
		}
		if s.err != nil || want >= longestBatch*s.batch {
			return text[:0], append(rest[:0], text...)
		}
	}
}
