package hpctoolkit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parallax-hpc/parallax/internal/importer"
)

const magic = "HPCTOOLKIT"

// mostMeta bounds meta.db, which is held whole: names and contexts, not values.
const mostMeta = 4 << 30

// A file is a .db file whose structures are read by their place.
type file struct {
	r       io.ReaderAt
	size    int64
	label   string
	done    func()
	version [2]byte
}

// openFile opens a file and checks that it is of a kind ("meta", "prof", "trce").
func openFile(run importer.Run, name, kind string) (*file, error) {
	r, size, done, err := importer.RandomAccess(run, name)
	if err != nil {
		return nil, err
	}
	f := &file{r: r, size: size, label: run.Label(name), done: done}
	head, err := f.bytes(0, 16)
	switch {
	case err != nil:
	case string(head[:10]) != magic || string(head[10:14]) != kind:
		err = importer.Malformed(f.label, "byte 0", "is no %s file of HPCToolkit", kind)
	case head[14] != 4:
		err = &importer.Error{File: f.label, Cause: fmt.Sprintf("is of version %d, and 4 is read", head[14]),
			Hint: "make the database anew with HPCToolkit 2022.10 or newer", Kind: importer.ErrUnsupported}
	default:
		f.version = [2]byte(head[14:16])
		run.Progress.Add(size)
		return f, nil
	}
	done()
	return nil, err
}

// bytes reads n bytes from a place. Sizes in a file are checked against its own size first.
func (f *file) bytes(at uint64, n int64) ([]byte, error) {
	if n < 0 || at > uint64(f.size) || n > f.size-int64(at) {
		return nil,
			importer.Malformed(f.label, fmt.Sprintf("byte %d", at), "%d bytes should be here, and the file has %d",
				n, f.size)
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, int64(at)); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// section reads where section i of the header lies.
func (f *file) section(i int) (at uint64, size int64, err error) {
	b, err := f.bytes(uint64(16+16*i), 16)
	if err != nil {
		return 0, 0, err
	}
	return u64(b, 8), int64(u64(b, 0) & math.MaxInt64), nil
}

// table reads the array that the file's first section begins with: the section's header, of at least head bytes,
// gives the array's offset, its number of entries and their length, which is at least least bytes.
func (f *file) table(head, least int64) (header, entries []byte, stride int64, err error) {
	at, _, err := f.section(0)
	if err == nil {
		header, err = f.bytes(at, head)
	}
	if err != nil {
		return nil, nil, 0, err
	}
	count, stride := int64(u32(header, 8)), int64(header[0x0c])
	if stride < least {
		return nil, nil, 0,
			importer.Malformed(f.label, fmt.Sprintf("byte %d", at), "entries of %d bytes, and %d are read", stride,
				least)
	}
	entries, err = f.bytes(u64(header, 0), count*stride)
	return header, entries, stride, err
}

func u16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// image is a file that is held whole, with accessors that never leave it.
type image struct {
	b     []byte
	label string
	bad   int64 // places outside the file that something points to
}

// at returns n bytes from a place, nil where the file has them not.
func (m *image) at(place uint64, n int) []byte {
	if place > uint64(len(m.b)) || n < 0 || n > len(m.b)-int(place) {
		m.bad++
		return nil
	}
	return m.b[place : place+uint64(n)]
}

// text reads a text that ends with a zero byte.
func (m *image) text(place uint64) string {
	if place == 0 || place >= uint64(len(m.b)) {
		if place != 0 {
			m.bad++
		}
		return ""
	}
	rest := m.b[place:]
	if n := bytes.IndexByte(rest, 0); n >= 0 {
		return string(rest[:n])
	}
	m.bad++
	return ""
}
