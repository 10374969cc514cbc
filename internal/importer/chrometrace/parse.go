package chrometrace

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// A status says how parsing ended.
type status uint8

const (
	complete status = iota
	short           // the buffer ends within the value
	broken          // this is not JSON
)

// parseValue reads any value.
func parseValue(b []byte, i int) (value, int, status) {
	if i >= len(b) {
		return value{}, i, short
	}
	c := b[i]
	switch {
	case c == '"':
		return parseText(b, i+1)
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		return parseBare(b, i, number)
	case c == '{' || c == '[':
		end, s := skipComposite(b, i)
		return rawValue(b[i:end], composite), end, s
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return parseBare(b, i, word)
	}
	return value{}, i, broken
}

// parseBare reads a number or a word: all up to a separator. "-Infinity" is a word.
func parseBare(b []byte, begin int, kind valueKind) (value, int, status) {
	i := begin
	for i < len(b) && class[b[i]]&bare != 0 {
		i++
	}
	if i == len(b) {
		return value{}, i, short
	}
	if kind == number && (b[begin] == '-' || b[begin] == '+') && i > begin+1 && b[begin+1] >= 'A' {
		kind = word
	}
	return rawValue(b[begin:i], kind), i, complete
}

// A plainNumber is digits, and others behind a point.
type plainNumber struct {
	mantissa uint64 // all digits
	whole    int    // how many before the point
	after    int    // and behind it
	point    bool
	end      int
}

// parseDigits reads a number of at most 18 digits, without a sign or an exponent. Others are no such: false.
func parseDigits(b []byte, i int) (d plainNumber, ok bool) {
	begin, m := i, uint64(0)
	if i+8 <= len(b) {
		if x := binary.LittleEndian.Uint64(b[i:]); eightDigits(x) {
			m = numberOf(x)
			i += 8
		}
	}
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		m = 10*m + uint64(b[i]-'0')
	}
	d.whole = i - begin
	if d.whole == 0 || i == len(b) {
		return d, false
	}
	if b[i] == '.' {
		d.point = true
		for i++; i < len(b) && b[i]-'0' < 10; i++ {
			m = 10*m + uint64(b[i]-'0')
			d.after++
		}
	}
	d.mantissa, d.end = m, i
	return d, i < len(b) && class[b[i]]&bare == 0 && d.whole+d.after <= 18
}

// eightDigits reports whether eight bytes are digits, and numberOf is the number that they write, the first byte the
// lowest.
func eightDigits(x uint64) bool {
	return x&0xF0F0F0F0F0F0F0F0|(x+0x0606060606060606)&0xF0F0F0F0F0F0F0F0>>4 == 0x3333333333333333
}

func numberOf(x uint64) uint64 {
	x = x & 0x0F0F0F0F0F0F0F0F * (10<<8 + 1) >> 8
	x = x & 0x00FF00FF00FF00FF * (100<<16 + 1) >> 16
	return x & 0x0000FFFF0000FFFF * (10000<<32 + 1) >> 32
}

// micros is a number of microseconds in nanoseconds, as value.nanoseconds has it.
func (d *plainNumber) micros() (int64, bool) {
	if d.after == 3 {
		return int64(d.mantissa), true // 18 digits are less than maxNanos
	}
	return shift(d.mantissa, 3-d.after)
}

// parseText reads a text whose opening quote is before b[begin]. Eight bytes are
// looked at in one step: a byte is a quote or a backslash exactly where the
// difference to it is zero, and the lowest such byte is found without fail.
func parseText(b []byte, begin int) (value, int, status) {
	const (
		ones      = 0x0101010101010101
		highs     = 0x8080808080808080
		quote     = '"' * ones
		backslash = '\\' * ones
	)
	escaped := false
	i := begin
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:])
		q, s := x^quote, x^backslash
		found := ((q-ones)&^q | (s-ones)&^s) & highs
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if b[i] == '"' {
			return value{first: unsafe.SliceData(b[begin:]), size: uint32(i - begin), kind: text, escaped: escaped},
				i + 1, complete
		}
		escaped = true
		i += 2
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return value{first: unsafe.SliceData(b[begin:]), size: uint32(i - begin), kind: text, escaped: escaped},
				i + 1, complete
		case '\\':
			escaped = true
			i++
		}
	}
	return value{}, len(b), short
}

// skipComposite passes over an object or list that begins at b[i]. Brackets are
// only counted: a wrong kind of bracket inside does no harm here.
func skipComposite(b []byte, i int) (int, status) {
	depth := 0
	for {
		for i < len(b) && class[b[i]]&(opens|closes|quotes) == 0 {
			i++
		}
		if i >= len(b) {
			return len(b), short
		}
		switch c := class[b[i]]; {
		case c&quotes != 0:
			_, end, s := parseText(b, i+1)
			if s != complete {
				return end, s
			}
			i = end
		case c&opens != 0:
			depth++
			i++
		default:
			i++
			if depth--; depth == 0 {
				return i, complete
			}
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && class[b[i]]&space != 0 {
		i++
	}
	return i
}

// class is the role of a byte in JSON outside of strings.
var class = func() (t [256]uint8) {
	for _, c := range " \t\r\n" {
		t[c] = space
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = bare
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = bare
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = bare
	}
	for _, c := range "+-._#" { // "1.#INF", "-nan(ind)" of old C libraries
		t[c] = bare
	}
	t['('], t[')'] = bare, bare
	t['{'], t['['] = opens, opens
	t['}'], t[']'] = closes, closes
	t['"'] = quotes
	return t
}()

const (
	space uint8 = 1 << iota
	bare
	opens
	closes
	quotes
)
