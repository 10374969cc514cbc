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

// A fault says what is wrong with a file.
type fault struct {
	at          int64
	cause, hint string
	kind        error
}

// Versions: 1 is written by Go programs, one record a file; 2 by the recorders in C,
// where records have a length and may follow each other in one file.
const (
	version1 = 1
	version2 = 2
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

func (c *cursor) text() string {
	n := int(binary.LittleEndian.Uint16(c.take(2)))
	if c.short || len(c.b)-c.at < n {
		c.short = true
		return ""
	}
	return string(c.take(n))
}

// Least bytes of a worker and of a window, to check counts before memory is asked for.
const workerBytes, windowBytes = 2 + 1 + 8 + 8 + 4, 4 + 32

// mostBytes bounds one record: no process has ten million windows.
const mostBytes = 1 << 30

func malformed(at int64, format string, args ...any) *fault {
	return &fault{at: at, cause: fmt.Sprintf(format, args...), hint: "the file is damaged or cut; let the program write it again", kind: importer.ErrMalformed}
}

// An input reads files into memory that it keeps.
type input struct {
	buffer []byte
	record record
}

// records reads a file record by record; a record is only valid during the call. The
// checksum comes first: one that is cut or changed is refused rather than half believed.
func (i *input) records(in io.Reader, each func(*record)) *fault {
	r := &i.record
	for at := int64(0); ; {
		data, bad := load(in, at, &i.buffer)
		if bad != nil || data == nil {
			return bad
		}
		if bad := r.parse(data); bad != nil {
			bad.at += at
			return bad
		}
		each(r)
		at += int64(len(data))
	}
}

// load reads the bytes of the next record, nil at the end of the file.
func load(in io.Reader, at int64, buffer *[]byte) ([]byte, *fault) {
	b := slices.Grow((*buffer)[:0], headSize)[:headSize]
	n, err := io.ReadFull(in, b)
	if err == io.EOF && at > 0 {
		return nil, nil
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, &fault{at: at, cause: err.Error(), kind: err}
	}
	if n < len(magic)+1 || string(b[:len(magic)]) != magic {
		return nil, malformed(at, "does not begin as recorded moments do")
	}
	length := int64(mostBytes)
	switch v := b[len(magic)]; {
	case v == version2 && n == headSize:
		length = int64(binary.LittleEndian.Uint64(b[lengthAt:]))
		if length < int64(headSize+checksum) || length > mostBytes {
			return nil, malformed(at+int64(lengthAt), "a record of %d bytes", length)
		}
	case v != version1 && v != version2:
		return nil, &fault{at: at + int64(len(magic)), cause: fmt.Sprintf("version %d is not known, only up to %d", v, version2), hint: "use a newer parallax", kind: importer.ErrUnsupported}
	}
	b, err = readOn(in, b[:n], length)
	*buffer = b
	switch {
	case err == io.EOF && b[len(magic)] == version1:
	case err == io.EOF:
		return nil, malformed(at+int64(len(b)), "the record is %d bytes long, and %d are here", length, len(b))
	case err != nil:
		return nil, &fault{at: at, cause: err.Error(), kind: err}
	case b[len(magic)] == version1:
		return nil, malformed(at, "more than %d bytes, which no recorder writes", mostBytes)
	}
	return b, nil
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
	*r = record{start: int64(c.u64()), rank: int32(c.u32()), workers: r.workers[:0], program: r.program}
	var bad *fault
	if data[len(magic)] == version1 {
		r.workers, r.program = nil, nil
		bad = parseWorkers(c, r)
	} else {
		c.at = headSize
		bad = parseProgram(c, r)
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
	for range c.count(windowBytes) {
		x := window{c.u32(), c.f64(), c.f64(), c.f64(), c.f64()}
		if !x.sane(w.shift) {
			return malformed(int64(c.at-windowBytes), "a window that cannot be")
		}
		w.windows = append(w.windows, x)
	}
	return nil
}

// sane: busy time fits the window, and its moments the busy time.
func (x *window) sane(shift uint8) bool {
	length := float64(int64(1) << shift)
	const round = 1 + 1e-9
	return int64(x.index) < int64(1)<<(62-shift) && x.weight > 0 && x.weight <= length*round && x.mean >= 0 && x.mean <= length*round &&
		x.m2 >= 0 && x.m2 <= x.weight*length*length && math.Abs(x.m3) <= x.weight*length*length*length
}
