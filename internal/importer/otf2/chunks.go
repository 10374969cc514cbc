package otf2

import (
	"encoding/binary"
	"io"
)

// Ids that mean the same in every file.
const (
	endOfChunk       = 0
	endOfBuffer      = 1
	endOfFile        = 2
	chunkHeader      = 3
	longRecord       = 0xff // a length that follows in eight bytes
	chunkHeaderBytes = 18
	mostChunk        = mostBuffer
)

// chunks walk through a file of definitions or events.
//
// A file is a sequence of chunks of equal size, the last one shorter. A chunk
// begins with a header that counts its events, the rest of it is filled with zeros,
// at least one, and the last one ends in a mark; no record crosses from one chunk
// to the next. So damage costs one chunk at most: reading goes on at the next
// header, of events even before. The length of chunks is in the anchor, but need
// not be known: the zeros end at the next header.
type chunks struct {
	in      input
	end     int64 // of the current chunk in the file, at the latest
	limit   int   // end of the current chunk, or of its part that was read, in in.buf
	big     bool
	counted bool   // headers count events
	last    uint64 // number of the chunk's last event; 0 where the writer did not come to write it
	count   uint64 // number of the last event read
	done    bool

	damage damage
}

// damage counts errors in one file.
type damage struct {
	noHeader  bool   // it does not begin as a file of the archive
	noEnd     bool   // it does not end with the mark
	places    int64  // within chunks that are passed over
	chunks    int64  // that could not be read to their end
	lost      uint64 // events that headers announce and that are not there
	resync    int64  // bytes passed over
	stray     int64  // bytes after the end
	times     int64  // time stamps that cannot be
	firstAt   int64
	anywhere  bool
	readError error
}

func (d *damage) at(offset int64) {
	if !d.anywhere {
		d.anywhere, d.firstAt = true, offset
	}
}

// open begins a file.
func (c *chunks) open(src io.Reader, counted bool) {
	*c = chunks{in: c.in, counted: counted}
	c.in.reset(src)
	if !c.header() {
		c.damage.noHeader = true
		c.damage.at(0)
		c.resync()
	}
}

// header reads the header of a chunk at the current place, if there is one.
func (c *chunks) header() bool {
	h := c.peek(chunkHeaderBytes)
	if !c.plausible(h) {
		return false
	}
	c.big = h[1] == bigEndian
	if c.counted {
		first := number(h[2:10], c.big)
		c.last = number(h[10:18], c.big)
		if first > c.count+1 {
			c.damage.lost += first - 1 - c.count
			c.damage.at(c.in.offset())
		}
		c.count = first - 1
	}
	c.end = c.in.offset() + mostChunk
	c.in.pos += chunkHeaderBytes
	c.bound()
	return true
}

// plausible distinguishes a header from other bytes: events are counted without a gap
// unless chunks are missing, never backwards.
func (c *chunks) plausible(h []byte) bool {
	if len(h) < chunkHeaderBytes || h[0] != chunkHeader || h[1] != littleEndian && h[1] != bigEndian {
		return false
	}
	first, last := number(h[2:10], h[1] == bigEndian), number(h[10:18], h[1] == bigEndian)
	const most = 1 << 48 // events in one file
	return first > c.count && first < most && (last == 0 || last >= first-1 && last < most)
}

// bound sets limit after in.buf or the chunk has changed.
func (c *chunks) bound() {
	c.limit = c.in.end
	if end := c.end - c.in.base; end < int64(c.limit) {
		c.limit = int(end)
	}
}

// peek returns the next n bytes of the file, whatever chunk they are of.
func (c *chunks) peek(n int) []byte {
	b := c.in.next(n)
	c.bound()
	return b
}

// have makes n bytes of the current chunk available.
func (c *chunks) have(n int) bool {
	if c.limit-c.in.pos >= n {
		return true
	}
	if c.in.offset()+int64(n) > c.end {
		return false
	}
	ok := c.in.have(n)
	c.bound()
	return ok
}

// rest returns the unused bytes of the current chunk: at least n bytes, unless
// the chunk or the file ends before. It is empty at the end of the file; then
// done is set.
func (c *chunks) rest(n int) []byte {
	for c.limit-c.in.pos < n && !c.have(n) && c.in.pos >= c.limit {
		if !c.nextChunk() {
			return nil
		}
	}
	return c.in.buf[c.in.pos:c.limit]
}

// body takes the record with a length that begins at b, the current place, and
// moves past it.
func (c *chunks) body(b []byte) ([]byte, bool) {
	if len(b) < 2 {
		return nil, false
	}
	size, at := uint64(b[1]), 2
	if b[1] == longRecord {
		if len(b) < 10 {
			return nil, false
		}
		size, at = number(b[2:10], c.big), 10
		if size < longRecord || c.counted && b[0] >= eventIDs && size > mostUnknown {
			return nil, false
		}
	}
	if size > mostBuffer || !c.have(at+int(size)) {
		return nil, false
	}
	p := c.in.pos + at
	c.in.pos = p + int(size)
	return c.in.buf[p:c.in.pos], true
}

// mostUnknown bounds a record of an unknown type: a longer one is damage.
const mostUnknown = 64 << 10

// mark takes one of the ids that end something. It reports whether there is more;
// false also if the mark cannot be one, since the bytes after it do not fit.
func (c *chunks) mark(id byte) (more, sound bool) {
	if id == endOfChunk {
		c.filling()
		if c.in.offset() < c.end && c.in.pos < c.in.end && !c.plausible(c.peek(chunkHeaderBytes)) {
			c.in.pos = max(c.in.pos-1, 0) // events may begin again right here
			return false, false
		}
		c.missing()
		return c.nextChunk(), true
	}
	after := c.peek(mostStray + 2)
	if len(after) > mostStray || id == endOfBuffer || len(after) > 1 && after[1] != endOfBuffer {
		return false, false
	}
	c.missing()
	at := c.in.offset() + int64(min(2, len(after)))
	c.in.pos = c.in.end
	if n := c.in.offset() - at; n > 0 { // repositories append a newline to files
		c.damage.stray += n
		c.damage.at(at)
	}
	c.damage.noEnd = len(after) < 2
	c.stop()
	return false, true
}

// mostStray is how many bytes may follow the end of a file.
const mostStray = 64

// filling passes the zeros at the end of a chunk. Other bytes among them say that
// chunks are not where they should be: the next one is looked for from there.
func (c *chunks) filling() {
	for c.in.offset() < c.end && c.in.have(1) {
		end := min(int64(c.in.end), c.end-c.in.base)
		for int64(c.in.pos) < end && c.in.buf[c.in.pos] == 0 {
			c.in.pos++
		}
		if int64(c.in.pos) < end {
			break
		}
	}
	c.bound()
}

func (c *chunks) stop() {
	if c.damage.readError == nil {
		c.damage.readError = c.in.failure()
	}
	c.in.pos, c.limit, c.done = c.in.end, c.in.end, true
}

// broken gives the current chunk up.
func (c *chunks) broken() {
	c.damage.chunks++
	c.damage.at(c.in.offset())
	c.missing()
	c.in.pos = min(c.in.pos+1, c.in.end)
	c.resync()
}

// missing counts the events of the chunk that were not met.
func (c *chunks) missing() {
	if c.last > c.count {
		c.damage.lost += c.last - c.count
		c.damage.at(c.in.offset())
	}
	c.count = max(c.count, c.last)
}

// nextChunk goes on to the chunk that begins here. A file that ends here lacks
// its mark.
func (c *chunks) nextChunk() bool {
	if c.done {
		return false
	}
	c.missing()
	if len(c.peek(1)) == 0 {
		c.damage.noEnd = true
		c.damage.at(c.in.offset())
		c.stop()
		return false
	}
	if c.header() {
		return true
	}
	c.damage.at(c.in.offset())
	c.damage.chunks++
	c.resync()
	return !c.done
}

// resync looks for the next header. O(bytes skipped).
func (c *chunks) resync() {
	from := c.in.offset()
	for {
		h := c.peek(chunkHeaderBytes)
		if len(h) < chunkHeaderBytes {
			c.in.pos = c.in.end
			c.damage.resync += c.in.offset() - from
			c.stop()
			return
		}
		if c.plausible(h) {
			c.damage.resync += c.in.offset() - from
			c.header()
			return
		}
		c.in.pos++
	}
}

// short reads an integer in its short form and how many bytes it takes.
func short(b []byte, big bool) (v uint64, n int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	n = int(b[0])
	if n == 0xff {
		return undefined64, 1, true
	}
	if n > 8 || 1+n > len(b) {
		return 0, 0, false
	}
	if len(b) >= 9 && !big {
		return binary.LittleEndian.Uint64(b[1:9]) & masks[n], 1 + n, true
	}
	return number(b[1:1+n], big), 1 + n, true
}

var masks = [9]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1, 1<<56 - 1, 1<<64 - 1}
