package otf2

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zlib"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

const leastChunk = 256 << 10 // that the library allows

// A sketch is an archive put together by a test, byte by byte.
type sketch struct {
	order    binary.AppendByteOrder
	chunk    uint64
	globals  []byte            // records
	locals   map[uint64][]byte // records
	events   map[uint64][][]byte
	numbered uint32 // strings
}

func newSketch() *sketch {
	s := &sketch{order: binary.LittleEndian, chunk: leastChunk, locals: map[uint64][]byte{}, events: map[uint64][][]byte{}}
	return s
}

// short appends an integer in its short form.
func (s *sketch) short(b []byte, v uint64) []byte {
	n := 0
	for x := v; x > 0; x >>= 8 {
		n++
	}
	b = append(b, byte(n))
	for i := range n {
		shift := i
		if s.order == binary.AppendByteOrder(binary.BigEndian) {
			shift = n - 1 - i
		}
		b = append(b, byte(v>>(8*shift)))
	}
	return b
}

// record appends a record of numbers, in their short form, and other parts: bytes
// as they are, texts with their zero.
func (s *sketch) record(b []byte, id byte, parts ...any) []byte {
	var body []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			body = s.short(body, uint64(p))
		case uint64:
			body = s.short(body, p)
		case byte:
			body = append(body, p)
		case []byte:
			body = append(body, p...)
		case string:
			body = append(append(body, p...), 0)
		case nil:
			body = append(body, 0xff)
		default:
			panic(fmt.Sprintf("a part of type %T", p))
		}
	}
	b = append(b, id)
	if len(body) < longRecord {
		return append(append(b, byte(len(body))), body...)
	}
	return append(s.order.AppendUint64(append(b, longRecord), uint64(len(body))), body...)
}

func (s *sketch) define(id byte, parts ...any) { s.globals = s.record(s.globals, id, parts...) }

func (s *sketch) text(t string) int {
	s.define(defString, int(s.numbered), t)
	s.numbered++
	return int(s.numbered) - 1
}

// base defines a clock of nanoseconds, a machine, n processes of one thread each,
// MPI's world over them and two regions, 0 "work" and 1 "MPI_Recv".
func (s *sketch) base(n int) *sketch {
	s.define(defClockProperties, 1_000_000_000, 0, 0)
	s.define(defSystemTreeNode, 0, s.text("m"), s.text("node"), nil)
	world := []any{0, 0, byte(6), n}
	ranks := []any{1, 0, byte(4), n}
	for i := range n {
		s.define(defLocationGroup, i, s.text(fmt.Sprint("rank ", i)), byte(groupProcess), 0)
		s.define(defLocation, i, s.text("thread"), byte(locationThread), 1, i)
		world, ranks = append(world, i), append(ranks, i)
	}
	s.define(defGroup, append(world, byte(groupCommLocations), byte(paradigmMPI), 0)...)
	s.define(defGroup, append(ranks, byte(groupCommGroup), byte(paradigmMPI), 0)...)
	s.define(defComm, 0, s.text("world"), 1, nil, 0)
	s.region(0, "work")
	s.region(1, "MPI_Recv")
	return s
}

func (s *sketch) region(id int, name string) {
	t := s.text(name)
	s.define(defRegion, id, t, 0, byte(0), 0, 0, 0, t, byte(roleFunction), byte(paradigmUser), 0)
}

// at adds an event to a location, with its time.
func (s *sketch) at(location, ticks uint64, id byte, parts ...any) *sketch {
	e := s.order.AppendUint64([]byte{timestamp}, ticks)
	if single[id] {
		e = append(e, id)
		e = s.short(e, uint64(parts[0].(int)))
	} else {
		e = s.record(e, id, parts...)
	}
	s.events[location] = append(s.events[location], e)
	return s
}

func (s *sketch) endian() byte {
	if s.order == binary.AppendByteOrder(binary.BigEndian) {
		return bigEndian
	}
	return littleEndian
}

func (s *sketch) header(first, last uint64) []byte {
	b := []byte{chunkHeader, s.endian()}
	return s.order.AppendUint64(s.order.AppendUint64(b, first), last)
}

// eventFile cuts the events of a location into chunks.
func (s *sketch) eventFile(location uint64) []byte {
	var file, chunk []byte
	var count, first uint64
	flush := func() {
		file = append(append(file, s.header(first+1, count)...), chunk...)
		chunk, first = chunk[:0], count
	}
	for _, e := range s.events[location] {
		if chunkHeaderBytes+len(chunk)+len(e)+2 > int(s.chunk) {
			flush()
			for len(file)%int(s.chunk) != 0 {
				file = append(file, endOfChunk)
			}
		}
		chunk = append(chunk, e...)
		count++
	}
	chunk = append(chunk, endOfFile, endOfBuffer)
	flush()
	return file
}

func (s *sketch) definitionFile(records []byte) []byte {
	return append(append(s.header(1, 0), records...), endOfFile, endOfBuffer)
}

// files makes the archive.
func (s *sketch) files() fstest.MapFS {
	var locations, definitions uint64
	var r definitionReader
	var rec record
	for r.open(bytes.NewReader(s.definitionFile(s.globals))); r.next(&rec); {
		definitions++
		if rec.id == defLocation {
			locations++
		}
	}
	a := append([]byte{chunkHeader, s.endian()}, anchorMagic...)
	a = append(a, 3, 2, 3, 0, 2)
	a = s.order.AppendUint64(s.order.AppendUint64(a, s.chunk), mostChunk)
	a = append(a, substratePosix, compressionNone)
	a = s.order.AppendUint64(s.order.AppendUint64(a, locations), definitions)
	a = append(a, 0, 0, 0)
	a = s.order.AppendUint64(s.order.AppendUint32(a, 0), 1)
	a = s.order.AppendUint64(a, 0)
	files := fstest.MapFS{"x.otf2": {Data: a}, "x.def": {Data: s.definitionFile(s.globals)}}
	for id := range s.events {
		files[fmt.Sprintf("x/%d.evt", id)] = &fstest.MapFile{Data: s.eventFile(id)}
		files[fmt.Sprintf("x/%d.def", id)] = &fstest.MapFile{Data: s.definitionFile(s.locals[id])}
	}
	return files
}

// packed packs a file as the library did; tight says whether a block takes the
// bytes that it needs, or as many as it has unpacked.
func packed(t *testing.T, data []byte, block int, tight bool) []byte {
	t.Helper()
	var out []byte
	before := 0
	for len(data) > 0 {
		part := data[:min(block, len(data))]
		data = data[len(part):]
		var z bytes.Buffer
		w, _ := zlib.NewWriterLevel(&z, 4)
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // and no end
			t.Fatal(err)
		}
		out = binary.LittleEndian.AppendUint64(out, blockMagic)
		out = binary.LittleEndian.AppendUint32(out, uint32(z.Len()))
		out = binary.LittleEndian.AppendUint32(out, uint32(len(part)))
		out = binary.LittleEndian.AppendUint32(out, uint32(before))
		before = z.Len()
		out = append(out, z.Bytes()...)
		for n := z.Len(); n < len(part) && !tight; n++ {
			out = append(out, 0xaa)
		}
	}
	return out
}

// read imports files into the reference store.
func read(t *testing.T, files fstest.MapFS) store.Reader {
	t.Helper()
	return readWith(t, files, importer.Options{})
}

func readWith(t *testing.T, files fstest.MapFS, o importer.Options) store.Reader {
	t.Helper()
	m := storetest.NewMemory()
	if err := runOf(t, files, o).Import(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

func runOf(t *testing.T, files fstest.MapFS, o importer.Options) importer.Run {
	t.Helper()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	runs[0].Options = o
	return runs[0]
}

func dump(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	return tracetest.Dump(read(t, files))
}
