package recorder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A record is a file as it is written.
type record struct {
	start   int64
	rank    int32
	name    string
	workers []worker
	program *program // nil in version 1
}

type worker struct {
	name    string
	shift   uint8
	end     int64
	dropped uint64
	windows []window
	calls   *calls // nil in version 1
}

type window struct {
	index                uint32
	weight, mean, m2, m3 float64
}

// A fault is an error in a file.
type fault struct {
	at          int64
	cause, hint string
	kind        error
}

// Versions: 1 is written by Go programs, one record a file; 2 to 4 by the recorders in C,
// where records have a length and may follow each other in one file. 3 has the cores of threads,
// 4 the numbers of processes and threads.
const (
	version1 = 1
	version2 = 2
	version3 = 3
	version4 = 4
	checksum = 4
	rankAt   = len(magic) + 1 + 8
	lengthAt = rankAt + 4
	headSize = lengthAt + 8
)

// rankOf reads the rank from the beginning of a file.
func rankOf(head []byte) (int32, bool) {
	if len(head) < rankAt+4 {
		return 0, false
	}
	return int32(binary.LittleEndian.Uint32(head[rankAt:])), true
}

// A cursor reads numbers; past the end they are 0 and short is set.
type cursor struct {
	b     []byte
	at    int
	short bool
}

func (c *cursor) take(n int) []byte {
	if c.short || len(c.b)-c.at < n {
		c.short = true
		return make([]byte, min(n, 8))
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) u8() uint8    { return c.take(1)[0] }
func (c *cursor) u32() uint32  { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64  { return binary.LittleEndian.Uint64(c.take(8)) }
func (c *cursor) f64() float64 { return math.Float64frombits(c.u64()) }

func (c *cursor) text() string { return c.textLike("") }

// textLike reads a text that is mostly as one before, which is used again then.
func (c *cursor) textLike(before string) string {
	n := int(binary.LittleEndian.Uint16(c.take(2)))
	if c.short || len(c.b)-c.at < n {
		c.short = true
		return ""
	}
	if b := c.take(n); string(b) != before {
		return string(b)
	}
	return before
}

// Least bytes of a worker and of a window, to check counts before memory is asked for.
const workerBytes, windowBytes = 2 + 1 + 8 + 8 + 4, 4 + 32

// mostBytes bounds one record: no process has ten million windows.
const mostBytes = 1 << 30

func malformed(at int64, format string, args ...any) *fault {
	return &fault{at: at, cause: fmt.Sprintf(format, args...),
		hint: "the file is damaged or cut; let the program write it again", kind: importer.ErrMalformed}
}

// A piece is some records of a file that follow each other. Its memory is used again.
type piece struct {
	file string
	at   int64  // where it begins in the file
	data []byte // whole records
	ends []int  // where each ends in data

	records []record
	bad     *fault // what comes after the records
}

// pieceBytes is how much is read before it is parsed.
const pieceBytes = 128 << 10

// fill reads the next records of a file; false: there are none.
func (p *piece) fill(in io.Reader, at int64) bool {
	p.at, p.data, p.ends, p.bad = at, p.data[:0], p.ends[:0], nil
	for len(p.data) < pieceBytes && p.bad == nil {
		n := len(p.data)
		if p.data, p.bad = load(in, at+int64(n), p.data); len(p.data) == n {
			break
		}
		p.ends = append(p.ends, len(p.data))
	}
	return p.bad != nil || len(p.ends) > 0
}

// parse makes records of the bytes. The checksum comes first: a record that is cut or changed is refused rather than
// half believed.
func (p *piece) parse() {
	p.records = p.records[:0]
	from := 0
	for _, to := range p.ends {
		if n := len(p.records); n < cap(p.records) {
			p.records = p.records[:n+1]
		} else {
			p.records = append(p.records, record{})
		}
		r := &p.records[len(p.records)-1]
		if bad := r.parse(p.data[from:to]); bad != nil {
			bad.at += p.at + int64(from)
			p.bad, p.records = bad, p.records[:len(p.records)-1]
			return
		}
		from = to
	}
}

// load appends the bytes of the next record, none at the end of the file; at is its place there.
func load(in io.Reader, at int64, before []byte) ([]byte, *fault) {
	whole := slices.Grow(before, headSize)[:len(before)+headSize]
	b := whole[len(before):]
	n, err := io.ReadFull(in, b)
	if err == io.EOF && at > 0 {
		return before, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return before, &fault{at: at, cause: err.Error(), kind: err}
	}
	if n < len(magic)+1 || string(b[:len(magic)]) != magic {
		return before, malformed(at, "does not begin as recorded moments do")
	}
	length := int64(mostBytes)
	switch v := b[len(magic)]; {
	case v >= version2 && v <= version4 && n == headSize:
		length = int64(binary.LittleEndian.Uint64(b[lengthAt:]))
		if length < int64(headSize+checksum) || length > mostBytes {
			return before, malformed(at+int64(lengthAt), "a record of %d bytes", length)
		}
	case v < version1 || v > version4:
		return before,
			&fault{at: at + int64(len(magic)),
				cause: fmt.Sprintf("version %d is not known, only up to %d", v, version4), hint: "use a newer parallax",
				kind: importer.ErrUnsupported}
	}
	version := b[len(magic)]
	whole, err = readOn(in, whole[:len(before)+n], int64(len(before))+length)
	switch {
	case err == io.EOF && version == version1:
	case err == io.EOF:
		return before,
			malformed(at+int64(len(whole)-len(before)), "the record is %d bytes long, and %d are here", length,
				len(whole)-len(before))
	case err != nil:
		return before, &fault{at: at, cause: err.Error(), kind: err}
	case version == version1:
		return before, malformed(at, "more than %d bytes, which no recorder writes", mostBytes)
	}
	return whole, nil
}

// readOn reads until b has so many bytes; memory grows as they come, whatever a file says.
func readOn(in io.Reader, b []byte, length int64) ([]byte, error) {
	const step = 64 << 10
	for int64(len(b)) < length {
		n := int(min(length-int64(len(b)), max(step, int64(len(b)))))
		b = slices.Grow(b, n)
		got, err := io.ReadFull(in, b[len(b):len(b)+n])
		b = b[:len(b)+got]
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// parse reads a record into the memory of the one before.
func (r *record) parse(data []byte) *fault {
	body := len(data) - checksum
	if body < rankAt+4 || crc32.ChecksumIEEE(data[:body]) != binary.LittleEndian.Uint32(data[body:]) {
		return malformed(int64(max(body, 0)), "the checksum does not fit")
	}
	c := &cursor{b: data[:body], at: len(magic) + 1}
	*r = record{start: int64(c.u64()), rank: int32(c.u32()), name: r.name, workers: r.workers[:0], program: r.program}
	var bad *fault
	if data[len(magic)] == version1 {
		r.workers, r.program = nil, nil
		bad = parseWorkers(c, r)
	} else {
		c.at = headSize
		bad = parseProgram(c, r, data[len(magic)])
	}
	if bad == nil && (c.short || c.at != body) {
		bad = malformed(int64(c.at), "more or fewer bytes than its records")
	}
	return bad
}

// parseWorkers reads the rest of a record of version 1.
func parseWorkers(c *cursor, r *record) *fault {
	r.name = c.text()
	for range c.count(workerBytes) {
		at := c.at
		w := worker{name: c.text(), shift: c.u8(), end: int64(c.u64()), dropped: c.u64()}
		if bad := w.parseWindows(c, at); bad != nil {
			return bad
		}
		r.workers = append(r.workers, w)
	}
	return nil
}

func (w *worker) parseWindows(c *cursor, at int) *fault {
	if c.short || w.shift > 62 || w.end < 0 {
		return malformed(int64(at), "a worker that cannot be")
	}
	n := c.count(windowBytes)
	w.windows = slices.Grow(w.windows, n)
	for b := c.take(n * windowBytes); n > 0; n, b = n-1, b[windowBytes:] {
		f := func(k int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[4+8*k:])) }
		x := window{binary.LittleEndian.Uint32(b), f(0), f(1), f(2), f(3)}
		if !x.sane(w.shift) {
			return malformed(int64(c.at-n*windowBytes), "a window that cannot be")
		}
		w.windows = append(w.windows, x)
	}
	return nil
}

// sane: busy time fits the window, and its moments the busy time.
func (x *window) sane(shift uint8) bool {
	length := float64(int64(1) << shift)
	const round = 1 + 1e-9
	return int64(x.index) < int64(1)<<(62-shift) && x.weight > 0 && x.weight <= length*round && x.mean >= 0 &&
		x.mean <= length*round &&
		x.m2 >= 0 && x.m2 <= x.weight*length*length && math.Abs(x.m3) <= x.weight*length*length*length
}
