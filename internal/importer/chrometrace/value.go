package chrometrace

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// A valueKind is the JSON type of a value, before it is interpreted.
type valueKind uint8

const (
	missing   valueKind = iota
	text                // "…"
	number              // 12, -3.5e7
	word                // true, null, NaN, Infinity
	composite           // {…} or […]
)

// A value is one JSON value as it is in the scanner's buffer. It is valid
// until the scanner moves on.
//
// A record has many of these, most of them empty, and is cleared for each event: so
// a value takes half the bytes of a slice.
type value struct {
	first   *byte
	size    uint32 // in bytes; a record is no longer than longestRecord
	kind    valueKind
	escaped bool // a text with a backslash in it
}

// rawValue is a value that is at b.
func rawValue(b []byte, kind valueKind) value {
	return value{first: unsafe.SliceData(b), size: uint32(len(b)), kind: kind}
}

// raw returns the value as it is written; for a string, the bytes between the quotes.
func (v value) raw() []byte { return unsafe.Slice(v.first, v.size) }

// own is the value in memory of its own.
func (v value) own() value {
	if v.kind != missing {
		v.first = unsafe.StringData(string(v.raw()))
	}
	return v
}

func (v value) present() bool { return v.kind != missing }

// plain returns the text of a value of any kind; where it has escapes, they are
// resolved into scratch.
func (v value) plain(scratch []byte) []byte {
	if !v.escaped {
		return v.raw()
	}
	return unescape(scratch[:0], v.raw())
}

// unescape appends s with its escapes resolved. Escapes that JSON does not know
// stay as they are, and halves of surrogate pairs become the replacement
// character: recorders write both.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			dst = append(dst, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'u':
			r, ok := hex4(s[i+1:])
			if !ok {
				dst = append(dst, '\\', 'u')
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := hex4(after(s[i+1:], `\u`))
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r) // of a lone surrogate: the replacement character
		default:
			dst = append(dst, '\\', c)
		}
	}
	return dst
}

func after(s []byte, prefix string) []byte {
	if len(s) < len(prefix) || string(s[:len(prefix)]) != prefix {
		return nil
	}
	return s[len(prefix):]
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(n), err == nil
}

// maxNanos bounds the times that are taken: 146 years either way, so that sums
// of two cannot overflow.
const maxNanos = 1 << 62

// nanoseconds reads a decimal number of microseconds, written as a number or as
// a text, without passing through floating point: 1794703558225707.2 µs has more
// digits than a float64 keeps. Digits beyond the nanosecond are rounded.
func (v value) nanoseconds() (int64, bool) {
	if v.kind != number && v.kind != text {
		return 0, false
	}
	return decimal(v.raw(), 3)
}

// decimal reads a decimal number times 10^scale, rounded half away from zero.
func decimal(s []byte, scale int) (int64, bool) {
	i, negative := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	var mantissa uint64
	digits := 0
	point := false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if mantissa < 1e18 {
			mantissa = mantissa*10 + uint64(c-'0')
			if point {
				scale--
			}
		} else if !point {
			scale++ // a digit too many to keep
		}
	}
	if digits == 0 {
		return 0, false
	}
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return 0, false
		}
		e, err := strconv.Atoi(string(s[i+1:]))
		if err != nil || e > 1000 || e < -1000 {
			return 0, false
		}
		scale += e
	}
	n, ok := shift(mantissa, scale)
	if negative {
		n = -n
	}
	return n, ok
}

// shift is m × 10^scale.
func shift(m uint64, scale int) (int64, bool) {
	for ; scale > 0 && m != 0; scale-- {
		if m > maxNanos/10 {
			return 0, false
		}
		m *= 10
	}
	rest := uint64(0)
	for ; scale < 0 && m != 0; scale++ {
		rest = m % 10
		m /= 10
	}
	if rest >= 5 {
		m++
	}
	return int64(m), m < maxNanos
}

// integer reads a whole number, in hexadecimal too, written as number or text.
func (v value) integer() (int64, bool) {
	if v.kind != number && v.kind != text || len(v.raw()) == 0 {
		return 0, false
	}
	if n, ok := smallInteger(v.raw()); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(v.raw()), 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(string(v.raw()), 0, 64)
		return int64(u), err == nil
	}
	return n, true
}

// smallInteger is the fast path: an optional minus and at most 18 digits.
func smallInteger(s []byte) (int64, bool) {
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// float reads any number, and the words of Python and C++ for infinity and NaN.
func (v value) float() (float64, bool) {
	if v.kind == missing || v.kind == composite || len(v.raw()) == 0 {
		return 0, false
	}
	if n, ok := smallInteger(v.raw()); ok {
		return float64(n), true
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	if err != nil && !math.IsInf(f, 0) { // out of range: infinity stands for it
		return 0, false
	}
	return f, true
}
