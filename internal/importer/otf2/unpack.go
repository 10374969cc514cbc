package otf2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// blockMagic begins every block of a packed file; compressed data never holds it.
const (
	blockMagic       = 0x00000000ffffffff
	blockHeaderBytes = 20
)

// A blockReader unpacks a file that the library packed with zlib, as it did up to
// version 2.3: blocks of a header (magic, packed size, unpacked size, packed size
// of the block before, each of the last three in four bytes) and a stream that
// ends in a full flush instead of its end mark. Some versions of the library wrote
// as many bytes of a block as it has unpacked, so the next block is looked for by
// its magic.
type blockReader struct {
	in    input
	block []byte // packed
	full  []byte // unpacked
	out   []byte // its part that is not yet read
	zlib  io.ReadCloser
	err   error
}

func newBlockReader(r io.Reader) *blockReader {
	b := &blockReader{}
	b.in.reset(r)
	return b
}

// isPacked reports whether a file that begins like this is packed.
func isPacked(head []byte) bool {
	return len(head) >= 8 && binary.LittleEndian.Uint64(head) == blockMagic
}

func (b *blockReader) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.err = b.unpack()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// unpack takes the next block.
func (b *blockReader) unpack() error {
	if !b.find() {
		if err := b.in.failure(); err != nil {
			return err
		}
		return io.EOF
	}
	at := b.in.offset()
	h := b.in.next(blockHeaderBytes)
	if len(h) < blockHeaderBytes {
		return io.ErrUnexpectedEOF
	}
	packed, size := int(binary.LittleEndian.Uint32(h[8:])), int(binary.LittleEndian.Uint32(h[12:]))
	if packed > 2*mostBuffer || size > 1<<30 {
		return fmt.Errorf("block at byte %d claims %d packed and %d unpacked bytes", at, packed, size)
	}
	b.in.pos += blockHeaderBytes
	if err := b.load(packed); err != nil {
		return err
	}
	return b.inflate(size, at)
}

// find moves to the next block.
func (b *blockReader) find() bool {
	for {
		h := b.in.next(8)
		if len(h) < 8 {
			return false
		}
		if isPacked(h) {
			return true
		}
		b.in.pos++
	}
}

// load takes the packed bytes; a block that is cut is used as far as it goes.
func (b *blockReader) load(n int) error {
	b.block = b.block[:0]
	for len(b.block) < n {
		if !b.in.have(1) {
			if len(b.block) == 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		m := min(n-len(b.block), b.in.end-b.in.pos)
		b.block = append(b.block, b.in.buf[b.in.pos:b.in.pos+m]...)
		b.in.pos += m
	}
	return nil
}

// inflate unpacks the block. The stream has no end, so its end is where size
// bytes are reached.
func (b *blockReader) inflate(size int, at int64) error {
	src := &bytesReader{b: b.block}
	var err error
	if b.zlib == nil {
		b.zlib, err = zlib.NewReader(src)
	} else {
		err = b.zlib.(zlib.Resetter).Reset(src, nil)
	}
	if err != nil {
		b.zlib = nil
		return fmt.Errorf("block at byte %d: %w", at, err)
	}
	out := b.full[:0]
	for len(out) < size {
		if len(out) == cap(out) {
			out = append(out, make([]byte, min(size-len(out), max(len(out), 1<<16)))...)[:len(out)]
		}
		n, err := b.zlib.Read(out[len(out):min(cap(out), size)])
		out = out[:len(out)+n]
		if err != nil {
			b.full, b.out = out, out
			return fmt.Errorf("block at byte %d ends after %d of %d bytes: %w", at, len(out), size, cause(err))
		}
	}
	b.full, b.out = out, out
	return nil
}

func cause(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// bytesReader also reads single bytes, so that zlib reads no further than it needs.
type bytesReader struct{ b []byte }

func (r *bytesReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

func (r *bytesReader) ReadByte() (byte, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c, nil
}
