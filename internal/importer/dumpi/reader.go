package dumpi

import (
	"context"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
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
	if head.Text(8) != magic {
		return nil,
			&importer.Error{File: label, Place: "byte 0", Cause: "this is no DUMPI trace",
				Hint: "give the .bin files of a run", Kind: importer.ErrMalformed}
	}
	tail := l.at(size-indexSize, indexSize)
	if tail.Text(8) != magic || tail.Failed() {
		return nil,
			&importer.Error{File: label, Place: fmt.Sprintf("byte %d", max(size-indexSize, 0)),
				Cause: "the index at the end is missing",
				Hint:  "the file is cut, or its program did not finish; only whole files can be read",
				Kind:  importer.ErrMalformed}
	}
	for _, to := range []*int64{&l.index.sizes, &l.index.addresses, &l.index.counters, &l.index.header, &l.index.body,
		&l.index.footer, &l.index.keyvals} {
		*to = tail.Int64()
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
	copy(l.version[:], in.Take(3))
	if v := l.version; v[0] == 0 && (v[1] < 6 || v[1] == 6 && v[2] < 9) || v[0] > 1 {
		return &importer.Error{File: l.label, Cause: fmt.Sprintf("version %d.%d.%d of DUMPI", v[0], v[1], v[2]),
			Hint: "0.6.9 to 1.x are read; dumpi2otf2 of sst-dumpi reads older ones", Kind: importer.ErrUnsupported}
	}
	l.started, l.host = in.Int64(), in.text16()
	in.text16() // who
	l.place = in.mesh()
	l.mesh = in.mesh()
	if in.Failed() {
		return importer.Malformed(l.label, fmt.Sprintf("byte %d", l.index.header), "the header is cut")
	}
	if at := l.index.sizes; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.Uint32(); n > 0 && !in.Failed() && len(l.sizes) < 1<<16; n-- {
			l.sizes = append(l.sizes, in.Int32())
		}
	}
	if at := l.index.counters; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.Uint32(); n > 0 && !in.Failed() && len(l.counters) < 256; n-- {
			l.counters = append(l.counters, in.text16())
		}
	}
	if at := l.index.addresses; at > 0 {
		in := l.at(at, l.size-at)
		for n := in.Uint32(); n > 0 && !in.Failed(); n-- {
			address := in.Uint64()
			if name := in.text16(); !in.Failed() {
				l.functions[address] = name
			}
		}
	}
	if at := l.index.footer; at > 0 {
		in := l.at(at, l.size-at)
		if in.Uint64() != 0xf007fee7 {
			return importer.Malformed(l.label, fmt.Sprintf("byte %d", at), "the footer is not where the index has it")
		}
		l.called, l.ignored = in.u32s(allCalls+1), in.u32s(allCalls+1)
		if in.Failed() {
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
	in := l.at(l.index.body, l.size-indexSize-l.index.body)
	from := [2]trace.Time{trace.Time(in.Int32()), trace.Time(in.Int32())} // seconds of both clocks
	var r record
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		r.begin = l.index.body + in.Offset()
		r.call = int(in.Uint16())
		if r.call == endOfStream && !in.Failed() {
			return 0, in.failure()
		}
		if in.Failed() || r.call > functionExit || r.call == allCalls || r.call < allCalls && calls[r.call].unknown ||
			!l.record(in, &r, from) {
			return r.begin, in.failure()
		}
		each(&r)
	}
}

// record reads the fields after the number of the call.
func (l *log) record(in *input, r *record, from [2]trace.Time) bool {
	mask := in.Byte()
	r.thread = 0
	if mask&maskThread != 0 {
		r.thread = in.Uint16()
	}
	r.hasCPU, r.hasWall = mask&maskCPU != 0, mask&maskWall != 0
	times := func(to *[2]trace.Time, from trace.Time) {
		for i := range to {
			seconds := trace.Time(in.Uint16())
			to[i] = (seconds+from)*1e9 + trace.Time(in.Uint32())
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
		for n := in.Byte(); n > 0; n-- {
			r.before, r.after = append(r.before, in.Uint64()), append(r.after, in.Uint64())
		}
	}
	r.ints, r.list, r.second, r.statuses = r.ints[:0], r.list[:0], r.second[:0], r.statuses[:0]
	if r.call > allCalls {
		r.function = in.Uint64()
	} else {
		r.arguments(in, calls[r.call].arguments, mask)
	}
	return !in.Failed()
}

// arguments reads the arguments of a call.
func (r *record) arguments(in *input, list string, mask byte) {
	rank, root, arrays := int32(0), int32(0), 0
	for i := 0; i < len(list) && !in.Failed(); i++ {
		what := list[i]
		if what == '?' {
			if i++; rank != root {
				continue
			}
			what = list[i]
		}
		switch what {
		case 'i', 'r', 'o':
			v := in.Int32()
			switch what {
			case 'r':
				rank = v
			case 'o':
				root = v
			}
			r.ints = append(r.ints, v)
		case 'h':
			r.ints = append(r.ints, int32(in.Uint16()))
		case 'b':
			r.ints = append(r.ints, int32(in.Byte()))
		case 'l':
			in.Uint64()
		case 'I':
			switch arrays++; arrays {
			case 1:
				r.list = in.i32s(r.list)
			case 2:
				r.second = in.i32s(r.second)
			default:
				in.Skip(4 * int64(in.length()))
			}
		case 'H':
			in.Skip(2 * int64(in.length()))
		case 'B', 'C':
			in.Skip(int64(in.length()))
		case 'J':
			for n := in.length(); n > 0 && !in.Failed(); n-- {
				in.Skip(4 * int64(in.length()))
			}
		case 'D', 'a':
			for n := in.length(); n > 0 && !in.Failed(); n-- {
				in.Skip(int64(in.length()))
			}
		case 'E':
			for n := in.length(); n > 0 && !in.Failed(); n-- {
				for m := in.length(); m > 0 && !in.Failed(); m-- {
					in.Skip(int64(in.length()))
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
	for n := in.length(); n > 0 && !in.Failed(); n-- {
		s := status{bytes: in.Int32(), source: in.Int32()}
		in.Skip(1 + 1) // cancelled, error
		s.tag = in.Int32()
		r.statuses = append(r.statuses, s)
	}
}

// at opens a part of the file.
func (l *log) at(offset, size int64) *input {
	if offset < 0 || size < 0 || offset+size > l.size {
		offset, size = 0, 0
	}
	return &input{wire.From(io.NewSectionReader(l.file, offset, size), int(min(size, 1<<16))).Big(), size}
}

// An input reads a part of a file, whose numbers are big-endian.
type input struct {
	*wire.Cursor
	size int64
}

// left is how many bytes there are at the most.
func (in *input) left() int64 { return in.size - in.Offset() }

func (in *input) fail() { in.Fail(io.ErrUnexpectedEOF) }

// failure is an error of reading; nil if the part ends too early.
func (in *input) failure() error {
	if err := in.Err(); err != io.ErrUnexpectedEOF {
		return err
	}
	return nil
}

// length reads how many follow: no more than there are bytes. A negative number says that there are none.
func (in *input) length() int {
	n := int64(in.Int32())
	if n > in.left() {
		in.fail()
		return 0
	}
	return int(max(n, 0))
}

func (in *input) i32s(to []int32) []int32 {
	for n := in.length(); n > 0 && !in.Failed(); n-- {
		to = append(to, in.Int32())
	}
	return to
}

func (in *input) u32s(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = in.Uint32()
	}
	return out
}

// mesh reads a few coordinates.
func (in *input) mesh() (out []int) {
	n := in.length()
	if n > 16 {
		in.fail()
		return nil
	}
	for range n {
		out = append(out, int(in.Int32()))
	}
	return out
}

// text16 reads text with its length in 16 bits.
func (in *input) text16() string { return in.Text(int(in.Uint16())) }
