package recorder

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A record is a file as it is written.
type record struct {
	start   int64
	rank    int32
	name    string
	workers []worker
}

type worker struct {
	name    string
	shift   uint8
	end     int64
	dropped uint64
	windows []window
}

type window struct {
	index                uint32
	weight, mean, m2, m3 float64
}

// A fault says what is wrong with a file.
type fault struct {
	at          int
	cause, hint string
	kind        error
}

const (
	version  = 1
	checksum = 4
	rankAt   = len(magic) + 1 + 8
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

// parse reads a whole file. The checksum comes first: a file that is cut or
// changed is refused rather than half believed.
func parse(data []byte) (*record, *fault) {
	malformed := func(at int, format string, args ...any) (*record, *fault) {
		return nil, &fault{at: at, cause: fmt.Sprintf(format, args...), hint: "the file is damaged or cut; let the program write it again", kind: importer.ErrMalformed}
	}
	if len(data) < len(magic)+1 || string(data[:len(magic)]) != magic {
		return malformed(0, "does not begin as recorded moments do")
	}
	if v := data[len(magic)]; v != version {
		return nil, &fault{at: len(magic), cause: fmt.Sprintf("version %d is not known, only %d", v, version), hint: "use a newer parallax", kind: importer.ErrUnsupported}
	}
	body := len(data) - checksum
	if body < rankAt || crc32.ChecksumIEEE(data[:body]) != binary.LittleEndian.Uint32(data[body:]) {
		return malformed(max(body, 0), "the checksum does not fit")
	}
	c := &cursor{b: data[:body], at: len(magic) + 1}
	r := &record{start: int64(c.u64()), rank: int32(c.u32()), name: c.text()}
	n := int(c.u32())
	if n > (body-c.at)/workerBytes {
		return malformed(c.at, "%d workers do not fit into the file", n)
	}
	for range n {
		at := c.at
		w := worker{name: c.text(), shift: c.u8(), end: int64(c.u64()), dropped: c.u64()}
		count := int(c.u32())
		if c.short || count > (body-c.at)/windowBytes || w.shift > 62 || w.end < 0 {
			return malformed(at, "a worker that cannot be")
		}
		for range count {
			x := window{c.u32(), c.f64(), c.f64(), c.f64(), c.f64()}
			if !x.sane(w.shift) {
				return malformed(c.at-windowBytes, "a window that cannot be")
			}
			w.windows = append(w.windows, x)
		}
		r.workers = append(r.workers, w)
	}
	if c.short || c.at != body {
		return malformed(c.at, "more bytes than records")
	}
	return r, nil
}

// sane: busy time fits the window, and its moments the busy time.
func (x *window) sane(shift uint8) bool {
	length := float64(int64(1) << shift)
	const round = 1 + 1e-9
	return int64(x.index) < int64(1)<<(62-shift) && x.weight > 0 && x.weight <= length*round && x.mean >= 0 && x.mean <= length*round &&
		x.m2 >= 0 && x.m2 <= x.weight*length*length && math.Abs(x.m3) <= x.weight*length*length*length
}
