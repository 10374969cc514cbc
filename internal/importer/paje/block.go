package paje

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	blockSize = 128 << 10
	longest   = 1 << 20 // of a line
)

// A block is some whole lines of a file on their way from the file through a
// parser and the converter to the shards.
type block struct {
	buf     []byte   // data is in it
	data    []byte   // ends with a line end
	layouts *layouts // that hold in it

	// The parser's results.
	lines   int64
	records []record
	extras  []extra
	tally   tally // lines count from 1 within the block
	done    chan struct{}

	// The meaning of the records. Most are gone then.
	rest               []uint32 // indices of those that are left to the converter
	rebound, destroyed uint32   // the counts when a parser began to look
	deeds              []deed
	links              []linkDeed
	deedsOf            []turns // by shard
	linksOf            []turns
	seen               reach
	meant              tally // lines count from 1 within the block

	base int64        // lines of the file before it
	left atomic.Int32 // shards that have something to do for it
}

// A record is one event. Words are numbers, see symbol; those that are used once
// stay where they are in the block.
type record struct {
	time    trace.Time
	number  float64 // of a variable
	layout  *layout
	at, end uint32 // the line in data
	line    uint32
	words   [4]symbol // see wordContainer and the others
	extra   uint32    // one more than its index in the block's extras; 0 for none
	key     span
}

// The words of a record.
const (
	wordContainer = iota
	wordType
	wordValue
	wordEnd // StartContainer, EndContainer
)

// An extra holds fields that few records have: the size and tag of a link.
type extra struct{ size, tag int64 }

// A span is a word in the data of a block.
type span struct{ at, end uint32 }

var blocks = sync.Pool{New: func() any { return &block{done: make(chan struct{}, 1)} }}

func newBlock() *block {
	b := blocks.Get().(*block)
	b.data, b.layouts = nil, nil
	b.again()
	return b
}

// again forgets everything but the data.
func (b *block) again() {
	b.lines, b.records, b.extras, b.tally = 0, b.records[:0], b.extras[:0], tally{}
	b.rest, b.deeds, b.links, b.seen, b.meant = b.rest[:0], b.deeds[:0], b.links[:0], reach{}, tally{}
	for n := range b.deedsOf {
		b.deedsOf[n].clear()
		b.linksOf[n].clear()
	}
}

// add begins a record. All that a parser may leave out is set to nothing, and the rest left as it is: the same place is
// used again and again, and a value that is copied there waits for its own stores.
func (b *block) add(l *layout, at int) *record {
	n := len(b.records)
	if n == cap(b.records) {
		b.records = slices.Grow(b.records, n+64)
	}
	b.records = b.records[:n+1]
	r := &b.records[n]
	r.layout, r.at, r.line = l, uint32(at), uint32(b.lines)
	r.words, r.extra = [4]symbol{}, 0
	return r
}

// leave leaves the last record to the converter.
func (b *block) leave() { b.rest = append(b.rest, uint32(len(b.records)-1)) }

// turns are indices of a shard's work: records that a parser resolved, and records that it left. Each is in the
// order of the file.
type turns struct{ found, left []uint32 }

func (t *turns) add(i uint32, left bool) {
	if left {
		t.left = append(t.left, i)
	} else {
		t.found = append(t.found, i)
	}
}

func (t *turns) clear() { t.found, t.left = t.found[:0], t.left[:0] }

func (t *turns) none() bool { return len(t.found)+len(t.left) == 0 }

// merge puts both in the order of the file; into is used again.
func (t *turns) merge(into []uint32, line func(i uint32) uint32) []uint32 {
	into = into[:0]
	found, left := t.found, t.left
	for len(found) > 0 && len(left) > 0 {
		if line(found[0]) < line(left[0]) {
			into, found = append(into, found[0]), found[1:]
		} else {
			into, left = append(into, left[0]), left[1:]
		}
	}
	return append(append(into, found...), left...)
}

// spread makes lists for so many shards.
func (b *block) spread(shards int) {
	if len(b.deedsOf) != shards {
		b.deedsOf, b.linksOf = make([]turns, shards), make([]turns, shards)
	}
}

// room makes buf at least n bytes long; its content stays.
func (b *block) room(n int) {
	if b.buf = b.buf[:cap(b.buf)]; len(b.buf) < n {
		b.buf = append(make([]byte, 0, n), b.buf...)[:n]
	}
}

func (b *block) free() {
	if cap(b.buf) > 2*blockSize {
		b.buf = nil // grown for a long line
	}
	b.layouts = nil
	blocks.Put(b)
}

// A feeder cuts a file into blocks. It reads definitions itself, so that every
// block comes with those that hold in it.
type feeder struct {
	header header
	size   int                // of a block
	send   func(*block) error // to a parser, and to the converter in order
	// ready passes on a block that needs no parser.
	ready func(*block) error

	skipping bool  // within a line that is too long
	err      error // of the file, after which nothing could be read
}

// run reads everything. Its error is that of send; one of the file is kept.
func (f *feeder) run(ctx context.Context, r io.Reader) error {
	b := newBlock()
	b.room(f.size + slack)
	have := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, b.buf[have:len(b.buf)-slack])
		have += n
		if err != nil {
			if err != io.EOF && err != io.ErrUnexpectedEOF {
				f.err = err
			}
			if have > 0 && b.buf[have-1] != '\n' {
				if f.err == nil {
					if err := f.note(unendedLine); err != nil {
						return err
					}
				}
				b.room(have + 1 + slack)
				b.buf[have] = '\n'
				have++
			}
			b.data = b.buf[:have]
			return f.cut(b)
		}
		end := bytes.LastIndexByte(b.buf[:have], '\n') + 1
		if end == 0 {
			if have, err = f.longLine(b, have); err != nil {
				return err
			}
			continue
		}
		next := newBlock()
		next.room(max(f.size, have-end+1) + slack)
		rest := copy(next.buf, b.buf[end:have])
		b.data = b.buf[:end]
		if err := f.cut(b); err != nil {
			return err
		}
		b, have = next, rest
	}
}

// longLine makes room for a line that fills the block, or gives it up.
func (f *feeder) longLine(b *block, have int) (int, error) {
	if have < longest && !f.skipping {
		b.room(2 * len(b.buf))
		return have, nil
	}
	if !f.skipping {
		f.skipping = true
		if err := f.note(longLine); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// note counts a reason at the line that follows.
func (f *feeder) note(why reason) error {
	b := newBlock()
	b.tally.Add(why, 1)
	return f.ready(b)
}

// cut passes a block on: as it is where it holds no definition, else in pieces.
func (f *feeder) cut(b *block) error {
	if f.skipping {
		end := bytes.IndexByte(b.data, '\n')
		if end < 0 {
			b.free()
			return nil
		}
		b.data, f.skipping = b.data[end+1:], false
		note := newBlock()
		note.lines = 1
		if err := f.ready(note); err != nil {
			return err
		}
	}
	at := definitionAt(b.data)
	if at < 0 {
		f.header.shared = true
		b.layouts = f.header.now
		return f.send(b)
	}
	data := b.data
	for len(data) > 0 {
		if at != 0 {
			if at < 0 {
				at = len(data)
			}
			f.header.shared = true
			piece := newBlock()
			piece.room(at + slack)
			piece.data, piece.layouts = piece.buf[:copy(piece.buf, data[:at])], f.header.now
			if err := f.send(piece); err != nil {
				return err
			}
			if data = data[at:]; len(data) == 0 {
				break
			}
		}
		note := newBlock()
		data = f.define(data, note)
		if err := f.ready(note); err != nil {
			return err
		}
		at = definitionAt(data)
	}
	b.free()
	return nil
}

// define reads the definitions that data begins with, and returns the rest.
func (f *feeder) define(data []byte, note *block) []byte {
	for len(data) > 0 && definitionAt(data[:lineEnd(data)]) == 0 {
		end := lineEnd(data)
		note.lines++
		if why, bad := f.header.line(bytes.TrimRight(data[:end], "\r\n")); bad {
			note.tally.Add(why, note.lines)
		}
		data = data[end:]
	}
	return data
}

// lineEnd is where the line after the first begins.
func lineEnd(data []byte) int {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1
	}
	return len(data)
}

// definitionAt returns the begin of the first line that begins with a percent sign,
// blanks aside; -1 for none.
func definitionAt(data []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(data[from:], '%')
		if i < 0 {
			return -1
		}
		i += from
		at := i
		for at > 0 && isBlank[data[at-1]] {
			at--
		}
		if at == 0 || data[at-1] == '\n' {
			return at
		}
		from = i + 1
	}
}
