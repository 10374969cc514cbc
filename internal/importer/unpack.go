package importer

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// A packing is a way files are packed, known by how they begin.
type packing struct {
	name  string
	magic []string
	// open is nil where the packing is only recognised.
	open func(io.Reader) (io.Reader, func(), error)
}

// packings are distinguished by content; names of files do not count. Each magic is
// long enough not to be met by chance in a trace.
var packings = []packing{
	{"gzip", []string{"\x1f\x8b\x08"}, openGzip},
	{"zstd", []string{"\x28\xb5\x2f\xfd"}, openZstd},
	// A block of bzip2 begins with the digits of pi, an empty stream with its root.
	{"bzip2", bzip2Magic(), func(r io.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), func() {}, nil }},
	{"xz", []string{"\xfd7zXZ\x00"}, openXZ},
	{"lz4", []string{"\x04\x22\x4d\x18"}, nil},
}

// byteOrderMark begins UTF-8 that Windows wrote; formats do not get to see it.
const byteOrderMark = "\xef\xbb\xbf"

func bzip2Magic() (magic []string) {
	for level := '1'; level <= '9'; level++ {
		magic = append(magic, "BZh"+string(level)+"1AY&SY", "BZh"+string(level)+"\x17rE8P\x90")
	}
	return magic
}

// longestMagic is how many bytes packingOf needs.
const longestMagic = 10

// packingOf returns how data that begins like this is packed; nil: not at all.
func packingOf(begin []byte) *packing {
	for i := range packings {
		for _, m := range packings[i].magic {
			if bytes.HasPrefix(begin, []byte(m)) {
				return &packings[i]
			}
		}
	}
	return nil
}

func openGzip(r io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(r)
	return z, func() {}, err
}

// maxWindow bounds the memory that a zstd stream may ask for: twice the need of
// the packer's longest setting without --ultra.
const maxWindow = 256 << 20

func openZstd(r io.Reader) (io.Reader, func(), error) {
	z,
		err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

func openXZ(r io.Reader) (io.Reader, func(), error) {
	z, err := xz.NewReader(r)
	return z, func() {}, err
}

// errPacking is the cause of an input whose packing cannot be undone here.
type errPacking string

func (e errPacking) Error() string {
	return "packed with " + string(e) + ", which cannot be unpacked here"
}

// unpack returns the unpacked content of r, and a function to call when done with it. For
// a file of few bytes, or if few are wanted, it asks for little memory: a run may have
// 100,000.
func unpack(r io.Reader, wanted int64) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, int(min(max(wanted, 512), 64<<10)))
	begin, err := b.Peek(longestMagic)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	p := packingOf(begin)
	if p == nil {
		if begin, _ = b.Peek(wideBegin); isWide(begin) {
			return newWide(b), func() {}, nil
		}
		if bytes.HasPrefix(begin, []byte(byteOrderMark)) {
			_, _ = b.Discard(len(byteOrderMark))
		}
		return b, func() {}, nil
	}
	if p.open == nil {
		return nil, nil, errPacking(p.name)
	}
	u, closer, err := p.open(b)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.name, err)
	}
	// An error here comes again when the content is read.
	begin = make([]byte, wideBegin)
	n, _ := io.ReadFull(u, begin)
	u = io.MultiReader(bytes.NewReader(bytes.TrimPrefix(begin[:n], []byte(byteOrderMark))), u)
	if isWide(begin[:n]) {
		u = newWide(u)
	}
	return &unpacked{r: u, name: p.name}, closer, nil
}

// triedBytes is how much of a file is unpacked to see how well it is packed.
const triedBytes = 4 << 20

// Unpacked is about how many bytes a file of the source has when it is unpacked, as its first 4 MiB tell, and the end
// of gzip data; its own size where it is not packed, or cannot be read.
func (s Source) Unpacked(f File) int64 {
	file, err := s.FS.Open(f.Path)
	if err != nil {
		return f.Size
	}
	defer file.Close()
	var read Progress
	r, done, err := unpack(&counted{file, &read}, 4<<10)
	if err != nil {
		return f.Size
	}
	defer done()
	u, packed := r.(*unpacked)
	if !packed {
		return f.Size
	}
	n, err := io.CopyN(io.Discard, r, triedBytes)
	if err == nil && read.Done() > 0 {
		n = int64(float64(n) * float64(f.Size) / float64(min(read.Done(), f.Size)))
		if at, ok := file.(io.ReaderAt); ok && u.name == "gzip" {
			n = gzipSize(at, f.Size, n)
		}
	}
	return max(n, f.Size)
}

// gzipSize returns the unpacked size that the end of gzip data states, modulo 2^32, if that is near the expected
// size. In data of several members it is the size of the last.
func gzipSize(r io.ReaderAt, size, expected int64) int64 {
	var b [4]byte
	if _, err := r.ReadAt(b[:], size-4); err != nil {
		return expected
	}
	said := int64(binary.LittleEndian.Uint32(b[:]))
	said += (expected - said + 1<<31) >> 32 << 32
	if said < expected/2 || said > 2*expected {
		return expected
	}
	return said
}

// unpacked says of an error where it came from.
type unpacked struct {
	r    io.Reader
	name string
	read int64
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.read += int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return n, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("the %s data ends early, after %d unpacked bytes: %w", u.name, u.read, io.ErrUnexpectedEOF)
	case errors.Is(err, gzip.ErrHeader) && u.read > 0:
		return n, fmt.Errorf("bytes follow the end of the %s data: %w", u.name, err)
	}
	return n, fmt.Errorf("the %s data is damaged after %d unpacked bytes: %w", u.name, u.read, err)
}

// openUnpacked is Run.Open.
func openUnpacked(r Run, path string) (io.ReadCloser, error) {
	label := r.Label(path)
	f, err := r.Source.FS.Open(path)
	if err != nil {
		return nil, openError(label, err)
	}
	u, closer, err := unpack(&counted{f, r.Progress}, lengthOf(f))
	if err != nil {
		f.Close()
		return nil, openError(label, err)
	}
	if _, ok := u.(*unpacked); ok {
		return newReadAhead(r.zeros.watch(u, label), label, func() error { closer(); return f.Close() }), nil
	}
	return &plain{r.zeros.watch(u, label), f}, nil
}

// lengthOf is the number of bytes that a file has; many where that is not known.
func lengthOf(f fs.File) int64 {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	return math.MaxInt64
}

// counted counts the bytes read as progress.
type counted struct {
	r io.Reader
	p *Progress
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.p.Add(int64(n))
	return n, err
}

// plain is a file that is not packed.
type plain struct {
	io.Reader
	io.Closer
}

// openError returns the error of a file that cannot be opened, with advice.
func openError(label string, err error) error {
	e := &Error{File: label, Kind: ErrMalformed, Cause: err.Error()}
	var p *fs.PathError
	if errors.As(err, &p) {
		e.Cause = p.Err.Error()
	}
	var packing errPacking
	switch {
	case errors.As(err, &packing):
		e.Kind, e.Hint = ErrUnsupported, "unpack it first, or pack it with gzip or zstd"
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Cause = ErrNotFound, "no such file or directory"
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Hint = ErrNotFound, "ask for permission to read it"
	case errors.As(err, &p):
		e.Kind, e.Hint = ErrNotFound, "run `ls -lL` on it to see why"
	case errors.Is(err, io.ErrUnexpectedEOF):
		e.Hint = "it was not copied whole: copy it again"
	}
	return e
}
