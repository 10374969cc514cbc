package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

func record(order binary.AppendByteOrder) []byte {
	b := []byte{7}
	b = order.AppendUint16(b, 0x0102)
	b = order.AppendUint32(b, 0x01020304)
	b = order.AppendUint64(b, math.Float64bits(-2.5))
	b = binary.AppendUvarint(b, math.MaxUint64)
	return append(b, "abc\x00rest"...)
}

// Bytes in memory and those of a stream, however they arrive, are read alike and in both orders.
func TestValuesAreReadInBothOrdersAndFromStreams(t *testing.T) {
	for _, big := range []bool{false, true} {
		order := binary.AppendByteOrder(binary.LittleEndian)
		if big {
			order = binary.BigEndian
		}
		b := record(order)
		for name, c := range map[string]*Cursor{
			"memory": Of(b), "stream": From(bytes.NewReader(b), 4),
			"bytewise": From(iotest.OneByteReader(bytes.NewReader(b)), 1),
		} {
			c.BigEndian = big
			if x := c.Byte(); x != 7 {
				t.Errorf("%s: byte %d", name, x)
			}
			if x, y := c.Uint16(), c.Int32(); x != 0x0102 || y != 0x01020304 {
				t.Errorf("%s: %#x, %#x", name, x, y)
			}
			if x, y := c.Float64(), c.Uvarint(); x != -2.5 || y != math.MaxUint64 {
				t.Errorf("%s: %v, %#x", name, x, y)
			}
			if s := c.CString(8); s != "abc" || c.Offset() != int64(len(b)-4) || !c.More() {
				t.Errorf("%s: %q at %d", name, s, c.Offset())
			}
			if s := c.Sub(4).Text(4); s != "rest" || c.More() || c.Failed() {
				t.Errorf("%s: %q, %v", name, s, c.Err())
			}
			if n := c.Uint64(); n != 0 || c.Err() != io.ErrUnexpectedEOF || c.Offset() != int64(len(b)) {
				t.Errorf("%s: %d behind the end, %v", name, n, c.Err())
			}
		}
	}
}

// A length that is a lie costs no more memory than the bytes that are there, and the first failure stays.
func TestLengthsThatAreLies(t *testing.T) {
	for _, n := range []int{-1, 5, math.MaxInt} {
		for _, c := range []*Cursor{Of([]byte("abcd")), From(strings.NewReader("abcd"), 2)} {
			if b := c.Take(n); b != nil || c.Err() != io.ErrUnexpectedEOF {
				t.Errorf("%d bytes: %q, %v", n, b, c.Err())
			}
			if c.Fail(ErrEndless); c.Err() != io.ErrUnexpectedEOF || c.More() || c.Byte() != 0 {
				t.Errorf("%d bytes: %v", n, c.Err())
			}
		}
	}
	c := From(strings.NewReader(strings.Repeat("x", 200_000)), 1<<10)
	if c.Skip(199_999); c.Failed() || c.Text(1) != "x" || c.More() {
		t.Errorf("after a skip: %v", c.Err())
	}
	if c = Of(bytes.Repeat([]byte{0xff}, 11)); c.Uvarint() != 0 || !c.Failed() {
		t.Error("a number without an end is one")
	}
	if c = From(strings.NewReader("endless"), 2); c.CString(4) != "" || c.Err() != ErrEndless {
		t.Errorf("a text without an end: %v", c.Err())
	}
}

// An error of the stream is the cursor's.
func TestErrorsOfAStream(t *testing.T) {
	c := From(iotest.ErrReader(io.ErrClosedPipe), 8)
	if c.More() || c.Err() != io.ErrClosedPipe {
		t.Error(c.Err())
	}
}
