package jfr

import (
	"io"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/importer/wire"
)

// A cursor reads the fields of an event, of which all numbers are big-endian.
type cursor struct{ wire.Cursor }

func cursorOf(b []byte) *cursor { return &cursor{*wire.Of(b).Big()} }

func (c *cursor) fail() { c.Fail(io.ErrUnexpectedEOF) }

// number is base 128, least first; the ninth byte is whole.
func (c *cursor) number() int64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := c.Byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(v)
		}
	}
	return int64(v | uint64(c.Byte())<<56)
}

// count is a length, of things that take a byte at least.
func (c *cursor) count() int {
	n := c.number()
	if n < 0 || n > int64(c.Left()) {
		c.fail()
		return 0
	}
	return int(n)
}

// text reads a text; ref: it is a constant of that number.
func (c *cursor) text() (text string, ref int64, isRef bool) {
	switch c.Byte() {
	case 0, 1: // none, empty
	case 2:
		return "", c.number(), true
	case 3: // UTF-8
		b := c.Take(c.count())
		if utf8.Valid(b) {
			return string(b), 0, false
		}
		return string([]rune(string(b))), 0, false
	case 4: // characters
		n := c.count()
		runes := make([]rune, 0, min(n, 1<<16))
		for range n {
			runes = append(runes, rune(c.number()))
		}
		return string(runes), 0, false
	case 5: // Latin-1
		b := c.Take(c.count())
		runes := make([]rune, len(b))
		for i, x := range b {
			runes[i] = rune(x)
		}
		return string(runes), 0, false
	default:
		c.fail()
	}
	return "", 0, false
}
