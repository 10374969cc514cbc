package jfr

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// A cursor walks the bytes of an event. Behind the end all is zero and bad is set.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

func (c *cursor) left() int { return len(c.b) - c.i }

func (c *cursor) fail() {
	c.bad = true
	c.i = len(c.b)
}

func (c *cursor) byte() byte {
	if c.i >= len(c.b) {
		c.fail()
		return 0
	}
	c.i++
	return c.b[c.i-1]
}

// number is base 128, least first; the ninth byte is whole.
func (c *cursor) number() int64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(v)
		}
	}
	return int64(v | uint64(c.byte())<<56)
}

// count is a length, of things that take a byte at least.
func (c *cursor) count() int {
	n := c.number()
	if n < 0 || n > int64(c.left()) {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > c.left() {
		c.fail()
		return nil
	}
	c.i += n
	return c.b[c.i-n : c.i]
}

func (c *cursor) float() float64 {
	if b := c.take(4); b != nil {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	}
	return 0
}

func (c *cursor) double() float64 {
	if b := c.take(8); b != nil {
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}

// text reads a text; ref: it is a constant of that number.
func (c *cursor) text() (text string, ref int64, isRef bool) {
	switch c.byte() {
	case 0, 1: // none, empty
	case 2:
		return "", c.number(), true
	case 3: // UTF-8
		b := c.take(c.count())
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
		b := c.take(c.count())
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
