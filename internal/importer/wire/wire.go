// Package wire reads the numbers and texts of binary formats one after the other, from bytes in memory or from a
// stream.
//
// A Cursor remembers its first failure: after it numbers are 0, texts are empty, and Err says what happened. So a
// reader takes all fields of a record and asks once whether they were there.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
)

// ErrEndless and ErrNumber say that a text and a number have no end where one must be.
var (
	ErrEndless = errors.New("has a name without an end")
	ErrNumber  = errors.New("has a number without an end")
)

// A Cursor is a place in some bytes. Its zero value is at the end of none.
type Cursor struct {
	// BigEndian is the order of bytes of numbers; they may also be little-endian.
	BigEndian bool

	rest []byte    // after the cursor, as far as they were read
	in   io.Reader // of what follows; nil: nothing
	buf  []byte
	end  int64 // of rest, in the stream
	err  error
}

// Of returns a cursor at the beginning of b.
func Of(b []byte) *Cursor { return &Cursor{rest: b, end: int64(len(b))} }

// From returns a cursor at the beginning of a stream, of which it reads so many bytes at once.
func From(in io.Reader, size int) *Cursor { return &Cursor{in: in, buf: make([]byte, size)} }

// Big makes numbers big-endian.
func (c *Cursor) Big() *Cursor {
	c.BigEndian = true
	return c
}

// Sub returns a cursor over the next n bytes, with the same order, and goes behind them.
func (c *Cursor) Sub(n int) *Cursor {
	b := c.Take(n)
	return &Cursor{rest: b, end: int64(len(b)), BigEndian: c.BigEndian, err: c.err}
}

// Offset is how many bytes there were before the cursor.
func (c *Cursor) Offset() int64 { return c.end - int64(len(c.rest)) }

// Left is how many bytes follow in memory: all of them unless the cursor reads a stream.
func (c *Cursor) Left() int { return len(c.rest) }

// Err is the first failure: io.ErrUnexpectedEOF if there were too few bytes.
func (c *Cursor) Err() error { return c.err }

// Failed reports whether there is a failure.
func (c *Cursor) Failed() bool { return c.err != nil }

// Fail ends the bytes here. The first failure stays.
func (c *Cursor) Fail(err error) {
	c.end = c.Offset()
	c.rest, c.in = nil, nil
	if c.err == nil {
		c.err = err
	}
}

// Take returns the next n bytes, nil if there are fewer. Those of a stream are valid until the next call.
func (c *Cursor) Take(n int) []byte {
	if uint(n) <= uint(len(c.rest)) {
		b := c.rest[:n]
		c.rest = c.rest[n:]
		return b
	}
	return c.readOn(n)
}

// step is how much memory is added at once to what a file says to need.
const step = 64 << 10

// readOn is Take where the bytes must be read first.
func (c *Cursor) readOn(n int) []byte {
	if err := c.fill(n); err != nil {
		if c.in != nil {
			c.rest = nil
		}
		c.Fail(err)
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// fill reads until n bytes follow in memory.
func (c *Cursor) fill(n int) error {
	if n < 0 || c.in == nil {
		return io.ErrUnexpectedEOF
	}
	have := copy(c.buf, c.rest)
	defer func() { c.rest = c.buf[:have] }()
	for have < n {
		if have == len(c.buf) { // grows with the bytes that come, whatever a file says
			c.buf = append(c.buf, make([]byte, min(n-have, max(step, have)))...)
		}
		k, err := c.in.Read(c.buf[have:])
		have += k
		c.end += int64(k)
		switch {
		case have >= n:
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// More reports whether there are bytes after the cursor.
func (c *Cursor) More() bool {
	if len(c.rest) == 0 && c.in != nil {
		if err := c.fill(1); err != nil && err != io.ErrUnexpectedEOF {
			c.Fail(err)
		}
	}
	return len(c.rest) > 0
}

// Skip goes over n bytes.
func (c *Cursor) Skip(n int64) {
	for ; n > step && c.err == nil; n -= step {
		c.Take(step)
	}
	c.Take(int(n))
}

// Byte is the next byte.
func (c *Cursor) Byte() byte {
	b := c.Take(1)
	if b == nil {
		return 0
	}
	return b[0]
}

// Uint16 is the next number of 16 bits.
func (c *Cursor) Uint16() uint16 {
	b := c.Take(2)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint16(b)
	if c.BigEndian {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// Uint32 is the next number of 32 bits.
func (c *Cursor) Uint32() uint32 {
	b := c.Take(4)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint32(b)
	if c.BigEndian {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// Uint64 is the next number of 64 bits.
func (c *Cursor) Uint64() uint64 {
	b := c.Take(8)
	if b == nil {
		return 0
	}
	v := binary.LittleEndian.Uint64(b)
	if c.BigEndian {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// Int32 and Int64 are the next numbers with a sign.
func (c *Cursor) Int32() int32 { return int32(c.Uint32()) }
func (c *Cursor) Int64() int64 { return int64(c.Uint64()) }

// Float32 and Float64 are the next numbers with a fraction.
func (c *Cursor) Float32() float32 { return math.Float32frombits(c.Uint32()) }
func (c *Cursor) Float64() float64 { return math.Float64frombits(c.Uint64()) }

// Uvarint is the next number in base 128, lowest digits first.
func (c *Cursor) Uvarint() uint64 {
	v := uint64(0)
	for shift := 0; ; shift += 7 {
		b := c.Byte()
		if shift == 63 && b > 1 {
			c.Fail(ErrNumber)
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// Text is the next n bytes.
func (c *Cursor) Text(n int) string { return string(c.Take(n)) }

// CString is the text before the next zero byte, which has less than most bytes.
func (c *Cursor) CString(most int) string {
	if i := bytes.IndexByte(c.rest[:min(most, len(c.rest))], 0); i >= 0 {
		s := string(c.rest[:i])
		c.rest = c.rest[i+1:]
		return s
	}
	var out []byte
	for len(out) < most {
		b := c.Take(1)
		if b == nil {
			return ""
		}
		if b[0] == 0 {
			return string(out)
		}
		out = append(out, b[0])
	}
	c.Fail(ErrEndless)
	return ""
}
