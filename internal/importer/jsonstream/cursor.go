package jsonstream

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Cursor walks a JSON value that is in memory, without building anything:
//
//	for ok := c.Open('{'); ok && c.More('}'); {
//		switch string(c.Key()) {
//		case "name":
//			name = c.Text()
//		}
//	}
//
// A member whose value is not read is skipped. It forgives commas that are missing or too many. A value of another
// type than the caller asks for is left out and remembered in Wrong.
type Cursor struct {
	b       []byte
	i       int
	unread  int // where the value of the member named last begins
	depth   int // of objects and lists that are open
	scratch []byte
	texts   Texts
	Bad     bool // the bytes are no JSON
	Wrong   bool // a value was of another type than asked for
}

// Reset begins another value.
func (c *Cursor) Reset(b []byte) {
	c.b, c.i, c.unread, c.depth, c.Bad, c.Wrong = b, 0, nothing, 0, false, false
}

// nothing is unread before the first member.
const nothing = -1

// peek is the first byte of the next value, 0 at the end.
func (c *Cursor) peek() byte {
	i := c.i
	for i < len(c.b) && between[c.b[i]] {
		i++
	}
	if c.i = i; i < len(c.b) {
		return c.b[i]
	}
	return 0
}

// between are the bytes between values.
var between = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true}

// Open enters an object or a list. Null is an empty one, and any other value is
// left out.
func (c *Cursor) Open(delim byte) bool {
	switch c.peek() {
	case delim:
		if c.depth == deepest {
			c.fail()
			return false
		}
		c.i++
		c.depth++
		return true
	case 'n':
	default:
		c.Wrong = true
	}
	c.Skip()
	return false
}

// More reports whether the object or list goes on; end is its closing bracket.
func (c *Cursor) More(end byte) bool {
	if c.i == c.unread {
		c.Skip()
	}
	if i := c.i; i+1 < len(c.b) && c.b[i] == ',' && c.b[i+1] == '"' { // as it mostly is
		c.i = i + 1
		return true
	}
	switch c.peek() {
	case end:
		c.i++
		c.depth--
		return false
	case 0, '}', ']', ':':
		c.fail()
		return false
	}
	return !c.Bad
}

// fail ends the walk: everything after is the end.
func (c *Cursor) fail() {
	c.Bad = true
	c.i = len(c.b)
}

// Key is the name of the next member, valid until the next call.
func (c *Cursor) Key() []byte {
	if from := c.i + 1; from < len(c.b) && c.b[c.i] == '"' { // as it mostly is: no space, no escape
		if end := endOfText(c.b, from); end+1 < len(c.b) && c.b[end] == '"' && c.b[end+1] == ':' {
			c.i = end + 2
			c.unread = c.i
			return c.b[from:end]
		}
	}
	if c.peek() != '"' {
		c.fail()
		return nil
	}
	key := c.quoted()
	if c.peek() != ':' {
		c.fail()
		return nil
	}
	c.i++
	c.unread = c.i
	return key
}

// quoted reads a text that begins here. Without escapes it is the bytes themselves.
func (c *Cursor) quoted() []byte {
	from := c.i + 1
	i := endOfText(c.b, from)
	switch {
	case i >= len(c.b):
		c.fail()
		return nil
	case c.b[i] == '"':
		c.i = i + 1
		return c.b[from:i]
	}
	return c.escaped(from, i)
}

// endOfText finds the first quote or backslash from i on; len(b) for none. It looks at eight bytes at a
// time: of a word that holds the byte looked for, less one in every byte, the highest bit of that byte is set, and
// below the first such byte none is.
func endOfText(b []byte, i int) int {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		if found := ((quote-ones) & ^quote | (slash-ones) & ^slash) & highest; found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
	}
	for ; i < len(b); i++ {
		if b[i] == '"' || b[i] == '\\' {
			return i
		}
	}
	return len(b)
}

// escapes of one letter.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escaped reads a text that has its first escape at i.
func (c *Cursor) escaped(from, i int) []byte {
	out := append(c.scratch[:0], c.b[from:i]...)
	for i < len(c.b) {
		switch ch := c.b[i]; {
		case ch == '"':
			c.i, c.scratch = i+1, out
			return out
		case ch != '\\':
			out = append(out, ch)
			i++
		case i+5 < len(c.b) && c.b[i+1] == 'u':
			r, size := unicode(c.b[i:])
			out = utf8.AppendRune(out, r)
			i += size
		case i+1 < len(c.b) && escapes[c.b[i+1]] != 0:
			out = append(out, escapes[c.b[i+1]])
			i += 2
		default:
			c.fail()
			return nil
		}
	}
	c.fail()
	return nil
}

// unicode reads \uXXXX, and the second half of a pair where it is there.
func unicode(b []byte) (rune, int) {
	first, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return utf8.RuneError, 6
	}
	if utf16.IsSurrogate(rune(first)) {
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if second, err := strconv.ParseUint(string(b[8:12]), 16, 32); err == nil {
				if r := utf16.DecodeRune(rune(first), rune(second)); r != utf8.RuneError {
					return r, 12
				}
			}
		}
		return utf8.RuneError, 6
	}
	return rune(first), 6
}

// Text is the next value, which must be a text or null. Texts that come often are
// the same string.
func (c *Cursor) Text() string {
	if c.peek() != '"' {
		c.Wrong = c.Wrong || c.peek() != 'n'
		c.Skip()
		return ""
	}
	return c.texts.Intern(c.quoted())
}

// ID is the next value like Text, for strings that hardly come twice.
func (c *Cursor) ID() string {
	if c.peek() != '"' {
		return c.Text()
	}
	return string(c.quoted())
}

// Bytes is the next value like Text, valid until the next call.
func (c *Cursor) Bytes() []byte {
	if c.peek() != '"' {
		c.Wrong = c.Wrong || c.peek() != 'n'
		c.Skip()
		return nil
	}
	return c.quoted()
}

// Truth is the next value, which must be true, false or null.
func (c *Cursor) Truth() bool {
	switch c.peek() {
	case 't', 'f', 'n':
		return string(c.Raw()) == "true"
	}
	c.Wrong = true
	c.Skip()
	return false
}

// Whole is the next value as a whole number, whether it is written as a number or
// as text; ok is false if it is neither, which is not wrong.
func (c *Cursor) Whole() (n int64, ok bool) {
	b := c.bare()
	if len(b) == 0 || len(b) > 40 {
		return 0, false
	}
	if n, ok = digits(b); ok {
		return n, true
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return n, true
	}
	if x, err := strconv.ParseFloat(string(b), 64); err == nil && x > -1<<63 && x < 1<<63 {
		return int64(x), true
	}
	return 0, false
}

// digits is the common case of a number.
func digits(b []byte) (n int64, ok bool) {
	if len(b) > 18 {
		if len(b) > 19 || b[0] > '8' {
			return 0, false
		}
	}
	for _, ch := range b {
		if ch < '0' || ch > '9' {
			return 0, false
		}
		n = n*10 + int64(ch-'0')
	}
	return n, true
}

// bare is a text or a literal, as its bytes.
func (c *Cursor) bare() []byte {
	if c.peek() == '"' {
		return c.quoted()
	}
	return c.Raw()
}

// Scalar is the next value: a string, an integer, a number; truth values and values
// that are no scalars as their text; no value for null.
func (c *Cursor) Scalar() trace.Value {
	switch c.peek() {
	case '"':
		return trace.Text(c.texts.Intern(c.quoted()))
	case 'n':
		c.Skip()
		return trace.Value{}
	}
	b := c.Raw()
	if n, ok := digits(b); ok && len(b) > 0 {
		return trace.Integer(n)
	}
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return trace.Integer(n)
	}
	if x, err := strconv.ParseFloat(string(b), 64); err == nil {
		return trace.Number(x)
	}
	return trace.Text(c.texts.Intern(b))
}

// Raw is the next value as it is written.
func (c *Cursor) Raw() []byte {
	first := c.peek()
	from := c.i
	switch first {
	case 0:
		c.fail()
		return nil
	case '{', '[', '"':
		var s scan
		n, done := s.over(c.b[c.i:])
		if !done {
			c.fail()
			return nil
		}
		c.i += n
	default:
		n := 0
		for n < len(c.b)-c.i && !endsLiteral[c.b[c.i+n]] {
			n++
		}
		if n == 0 {
			c.fail()
			return nil
		}
		c.i += n
	}
	return c.b[from:c.i]
}

// Back goes back to before a value that Raw gave last.
func (c *Cursor) Back(raw []byte) { c.i -= len(raw) }

// endsLiteral are the bytes that come after a number, a truth value or null.
var endsLiteral = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ':': true, ']': true, '}': true}

// Skip leaves out the next value.
func (c *Cursor) Skip() { c.Raw() }

// A scan finds the end of a value that begins with a bracket or a quote; its bytes
// may come in pieces.
type scan struct {
	depth  int
	quoted bool
	escape bool
}

// over takes the next piece and returns how much of it belongs to the value.
func (s *scan) over(b []byte) (n int, done bool) {
	for i := 0; i < len(b); i++ {
		if s.quoted {
			if s.escape {
				s.escape = false
				continue
			}
			if i = endOfText(b, i); i == len(b) {
				break
			}
			if b[i] == '\\' {
				s.escape = true
			} else if s.quoted = false; s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch b[i] {
		case '"':
			s.quoted = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		}
	}
	return len(b), false
}

// Number is the next value, which must be a whole number or null; ok is false for
// null.
func (c *Cursor) Number() (n int64, ok bool) {
	switch c.peek() {
	case 'n':
		c.Skip()
		return 0, false
	case '"', '{', '[', 't', 'f':
		c.Wrong = true
		c.Skip()
		return 0, false
	}
	b := c.Raw()
	if n, ok = digits(b); ok && len(b) > 0 {
		return n, true
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	c.Wrong = c.Wrong || err != nil
	return n, err == nil
}

// Name is the name of the next member, like Key, to be kept.
func (c *Cursor) Name() string { return c.texts.Intern(c.Key()) }
