package dumpi

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A mask lists the optional parts of a record.
const (
	maskStatuses = 1 | 2
	maskCPU      = 1 << 2
	maskWall     = 1 << 3
	maskThread   = 1 << 6
	maskCounters = 1 << 7
)

// A log is one open file.
type log struct {
	file  io.ReaderAt
	size  int64
	label string

	index     struct{ sizes, addresses, counters, header, body, footer, keyvals int64 }
	version   [3]byte
	started   int64
	host      string
	place     []int // in the machine's mesh
	mesh      []int
	sizes     []int32 // of data types, by number
	counters  []string
	functions map[uint64]string
	called    []uint32 // how often, by number; nil if there is no footer
	ignored   []uint32
}

const indexSize = 64

// openLog reads the parts before and after the body.
func openLog(file io.ReaderAt, size int64, label string) (*log, error) {
	l := &log{file: file, size: size, label: label, functions: map[uint64]string{}}
	head := l.at(0, 8)
	if string(head.take(8)) != magic {
		return nil,
			&importer.Error{File: label, Place: "byte 0", Cause: "this is no DUMPI trace",
				Hint: "give the .bin files of a run", Kind: importer.ErrMalformed}
	}
	tail := l.at(size-indexSize, indexSize)
	if string(tail.take(8)) != magic || tail.bad {
		return nil,
			&importer.Error{File: label, Place: fmt.Sprintf("byte %d", max(size-indexSize, 0)),
				Cause: "the index at the end is missing",
				Hint:  "the file is cut, or its program did not finish; only whole files can be read",
				Kind:  importer.ErrMalformed}
	}
	for _, to := range []*int64{&l.index.sizes, &l.index.addresses, &l.index.counters, &l.index.header, &l.index.body,
		&l.index.footer, &l.index.keyvals} {
		*to = int64(tail.u64())
		if *to < 0 || *to > size-indexSize {
			return nil,
				importer.Malformed(label, fmt.Sprintf("byte %d", size-indexSize), "the index points to byte %d of %d",
					*to, size)
		}
	}
	if l.index.body == 0 || l.index.header < l.index.body {
		return nil,
			importer.Malformed(label, fmt.Sprintf("byte %d", size-indexSize),
				"the index places the body at byte %d and the header at byte %d", l.index.body, l.index.header)
	}
	return l, l.around()
}

// around reads header, footer and the tables.
func (l *log) around() error {
	in := l.at(l.index.header, l.size-indexSize-l.index.header)
	copy(l.version[:], in.take(3))
	if v := l.version; v[0] == 0 && (v[1] < 6 || v[1] == 6 && v[2] < 9) || v[0] > 1 {
		return &importer.Error{File: l.label, Cause: fmt.Sprintf("version %d.%d.%d of DUMPI", v[0], v[1], v[2]),
			Hint: "0.6.9 to 1.x are read; dumpi2otf2 of sst-dumpi reads older ones", Kind: importer.ErrUnsupported}
	}
	l.started, l.host = int64(in.u64()), in.text16()
	in.text16() // who
	l.place = in.mesh()
	l.mesh = in.mesh()
	if in.bad {
		return importer.Malformed(l.label, fmt.Sprintf("byte %d", l.index.header), "the header is cut")
	}
	if at := l.index.sizes; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.u32(); n > 0 && !in.bad && len(l.sizes) < 1<<16; n-- {
			l.sizes = append(l.sizes, int32(in.u32()))
		}
	}
	if at := l.index.counters; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.u32(); n > 0 && !in.bad && len(l.counters) < 256; n-- {
			l.counters = append(l.counters, in.text16())
		}
	}
	if at := l.index.addresses; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.u32(); n > 0 && !in.bad; n-- {
			address := in.u64()
			if name := in.text16(); !in.bad {
				l.functions[address] = name
			}
		}
	}
	if at := l.index.footer; at > 0 {
		in := l.at(at, l.size-at)
		if in.u64() != 0xf007fee7 {
			return importer.Malformed(l.label, fmt.Sprintf("byte %d", at), "the footer is not where the index has it")
		}
		l.called, l.ignored = in.u32s(allCalls+1), in.u32s(allCalls+1)
		if in.bad {
			return importer.Malformed(l.label, fmt.Sprintf("byte %d", at), "the footer is cut")
		}
	}
	return nil
}

// A status is the result of a receive.
type status struct{ bytes, source, tag int32 }

// A record is one call. Its slices are used again for the next.
type record struct {
	call      int
	thread    uint16
	hasCPU    bool
	hasWall   bool
	cpu, wall [2]trace.Time // begin and end
	before    []uint64      // counters
	after     []uint64
	ints      []int32 // the single numbers, in order
	list      []int32 // the first array of numbers
	second    []int32
	statuses  []status
	function  uint64
	begin     int64 // in the file
}

// body gives every record. broken says that it breaks off, and where.
func (l *log) body(ctx context.Context, each func(*record)) (broken int64, err error) {
	in := &input{in: bufio.NewReaderSize(io.NewSectionReader(l.file, l.index.body, l.size-indexSize-l.index.body),
		1<<16), left: l.size - indexSize - l.index.body}
	from := [2]trace.Time{trace.Time(int32(in.u32())), trace.Time(int32(in.u32()))} // seconds of both clocks
	start := in.left
	var r record
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		r.begin = l.index.body + 8 + start - in.left
		r.call = int(in.u16())
		if r.call == endOfStream && !in.bad {
			return 0, in.err
		}
		if in.bad || r.call > functionExit || r.call == allCalls || r.call < allCalls && calls[r.call].unknown ||
			!l.record(in, &r, from) {
			return r.begin, in.err
		}
		each(&r)
	}
}

// record reads the fields after the number of the call.
func (l *log) record(in *input, r *record, from [2]trace.Time) bool {
	mask := in.u8()
	r.thread = 0
	if mask&maskThread != 0 {
		r.thread = in.u16()
	}
	r.hasCPU, r.hasWall = mask&maskCPU != 0, mask&maskWall != 0
	times := func(to *[2]trace.Time, from trace.Time) {
		for i := range to {
			seconds := trace.Time(in.u16())
			to[i] = (seconds+from)*1e9 + trace.Time(in.u32())
		}
	}
	if r.hasCPU {
		times(&r.cpu, from[0])
	}
	if r.hasWall {
		times(&r.wall, from[1])
	}
	r.before, r.after = r.before[:0], r.after[:0]
	if mask&maskCounters != 0 {
		for n := in.u8(); n > 0; n-- {
			r.before, r.after = append(r.before, in.u64()), append(r.after, in.u64())
		}
	}
	r.ints, r.list, r.second, r.statuses = r.ints[:0], r.list[:0], r.second[:0], r.statuses[:0]
	if r.call > allCalls {
		r.function = in.u64()
	} else {
		r.arguments(in, calls[r.call].arguments, mask)
	}
	return !in.bad
}

// arguments reads the arguments of a call.
func (r *record) arguments(in *input, list string, mask byte) {
	rank, root, arrays := int32(0), int32(0), 0
	for i := 0; i < len(list) && !in.bad; i++ {
		what := list[i]
		if what == '?' {
			if i++; rank != root {
				continue
			}
			what = list[i]
		}
		switch what {
		case 'i', 'r', 'o':
			v := int32(in.u32())
			switch what {
			case 'r':
				rank = v
			case 'o':
				root = v
			}
			r.ints = append(r.ints, v)
		case 'h':
			r.ints = append(r.ints, int32(in.u16()))
		case 'b':
			r.ints = append(r.ints, int32(in.u8()))
		case 'l':
			in.u64()
		case 'I':
			switch arrays++; arrays {
			case 1:
				r.list = in.i32s(r.list)
			case 2:
				r.second = in.i32s(r.second)
			default:
				in.skip(4 * int64(in.length()))
			}
		case 'H':
			in.skip(2 * int64(in.length()))
		case 'B', 'C':
			in.skip(int64(in.length()))
		case 'J':
			for n := in.length(); n > 0 && !in.bad; n-- {
				in.skip(4 * int64(in.length()))
			}
		case 'D', 'a':
			for n := in.length(); n > 0 && !in.bad; n-- {
				in.skip(int64(in.length()))
			}
		case 'E':
			for n := in.length(); n > 0 && !in.bad; n-- {
				for m := in.length(); m > 0 && !in.bad; m-- {
					in.skip(int64(in.length()))
				}
			}
		case 'S':
			if mask&maskStatuses != 0 {
				r.status(in)
			}
		}
	}
}

func (r *record) status(in *input) {
	for n := in.length(); n > 0 && !in.bad; n-- {
		s := status{bytes: int32(in.u32()), source: int32(in.u32())}
		in.skip(1 + 1) // cancelled, error
		s.tag = int32(in.u32())
		r.statuses = append(r.statuses, s)
	}
}

// at opens a part of the file.
func (l *log) at(offset, size int64) *input {
	if offset < 0 || size < 0 || offset+size > l.size {
		return &input{bad: true}
	}
	return &input{in: bufio.NewReader(io.NewSectionReader(l.file, offset, size)), left: size}
}

// An input reads big-endian numbers; a read past its end makes it bad.
type input struct {
	in   *bufio.Reader
	left int64
	buf  [8]byte
	bad  bool
	err  error
}

// take returns the next n bytes, at most 8; zeros where there are not so many.
func (in *input) take(n int) []byte {
	b := in.buf[:n]
	clear(b)
	if in.bad || int64(n) > in.left {
		in.bad = true
		return b
	}
	if _, err := io.ReadFull(in.in, b); err != nil {
		in.fail(err)
		clear(b)
	}
	in.left -= int64(n)
	return b
}

func (in *input) fail(err error) {
	in.bad = true
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		in.err = err
	}
}

func (in *input) skip(n int64) {
	if in.bad || n < 0 || n > in.left {
		in.bad = true
		return
	}
	in.left -= n
	for n > 0 {
		m := int(min(n, 1<<20))
		if _, err := in.in.Discard(m); err != nil {
			in.fail(err)
			return
		}
		n -= int64(m)
	}
}

func (in *input) u8() byte    { return in.take(1)[0] }
func (in *input) u16() uint16 { return binary.BigEndian.Uint16(in.take(2)) }
func (in *input) u32() uint32 { return binary.BigEndian.Uint32(in.take(4)) }
func (in *input) u64() uint64 { return binary.BigEndian.Uint64(in.take(8)) }

// length reads how many follow: no more than there are bytes. A negative number says that there are none.
func (in *input) length() int {
	n := int64(int32(in.u32()))
	if n > in.left {
		in.bad = true
		return 0
	}
	return int(max(n, 0))
}

func (in *input) i32s(to []int32) []int32 {
	for n := in.length(); n > 0 && !in.bad; n-- {
		to = append(to, int32(in.u32()))
	}
	return to
}

func (in *input) u32s(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = in.u32()
	}
	return out
}

// mesh reads a few coordinates.
func (in *input) mesh() (out []int) {
	n := in.length()
	if n > 16 {
		in.bad = true
		return nil
	}
	for range n {
		out = append(out, int(int32(in.u32())))
	}
	return out
}

// text16 reads text with its length in 16 bits.
func (in *input) text16() string {
	n := int(in.u16())
	if in.bad || int64(n) > in.left {
		in.bad = true
		return ""
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(in.in, b); err != nil {
		in.fail(err)
	}
	in.left -= int64(n)
	return string(b)
}
