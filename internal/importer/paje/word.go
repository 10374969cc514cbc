package paje

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// word returns the next word of a line, from i on: the text between blanks or
// between quotes. A # where a word would begin ends the line. quoted is 2 where the
// quotes lack their end.
func word(line []byte, i int) (w []byte, next int, quoted uint8) {
	for i < len(line) && isBlank[line[i]] {
		i++
	}
	if i == len(line) || line[i] == '#' {
		return nil, len(line), 0
	}
	if line[i] == '"' {
		i++
		end := bytes.IndexByte(line[i:], '"')
		if end < 0 {
			return line[i:], len(line), 2
		}
		return line[i : i+end], i + end + 1, 1
	}
	begin := i
	for i < len(line) && !isBlank[line[i]] {
		i++
	}
	return line[begin:i], i, 0
}

// isBlank are the bytes between words: all up to the blank itself, but the line end.
// endsWord are these and the line end.
var isBlank, endsWord = func() (blank, end [256]bool) {
	for c := range ' ' + 1 {
		blank[c], end[c] = c != '\n', true
	}
	return blank, end
}()

// slack is how many bytes must be readable after a block's data, so that eight bytes
// can be loaded at any place.
const slack = 8

// shortWord measures the word that eight bytes begin with: how many bits it takes, up
// to seven bytes, and these as a number. No bits is a word that is longer, or none.
func shortWord(x uint64) (bit uint32, word uint64) {
	// The lowest byte below 0x21 is marked for certain; marks above it may be wrong.
	end := (x - 0x2121212121212121) & ^x & 0x8080808080808080
	if end == 0 {
		return 0, 0
	}
	n := uint32(bits.TrailingZeros64(end)) &^ 7
	return n, x & (1<<(n&63) - 1)
}

// A unit is how many decimals a second (or, with StarPU, a millisecond) has of
// nanoseconds.
type unit int

const (
	seconds      unit = 9
	milliseconds unit = 6
)

var tens = [19]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18}

// farthest is the last time that is believed, in nanoseconds: 146 years.
const farthest = 1 << 62

// plainTime reads the times that nearly all are: up to nine digits, a point, and six
// or nine digits; size is how many bytes that are, 0 if it is something else. All
// eight digits after the point are turned into a number at once.
func plainTime(data []byte, i int, u unit) (t trace.Time, size int) {
	from := i
	var whole uint64
	for data[i]-'0' <= 9 {
		whole = whole*10 + uint64(data[i]-'0')
		i++
	}
	if i == from || i-from > 9 || data[i] != '.' || u != seconds {
		return 0, 0
	}
	x := binary.LittleEndian.Uint64(data[i+1:])
	digits := x - 0x3030303030303030
	if (digits|(digits+0x7676767676767676))&0x8080808080808080 == 0 {
		// Pairs, then fours, then all eight.
		digits = digits*10 + digits>>8
		digits = ((digits&0x000000ff000000ff)*(100+1000000<<32) + (digits>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
		last := data[i+9] - '0'
		if last > 9 || !endsWord[data[i+10]] {
			return 0, 0
		}
		return trace.Time(whole*1e9 + digits*10 + uint64(last)), i + 10 - from
	}
	if !endsWord[data[i+7]] {
		return 0, 0
	}
	var micro uint64
	for _, c := range data[i+1 : i+7] {
		if c-'0' > 9 {
			return 0, 0
		}
		micro = micro*10 + uint64(c-'0')
	}
	return trace.Time(whole*1e9 + micro*1000), i + 7 - from
}

// parseTime reads a decimal number of units as nanoseconds, exactly; digits beyond
// a nanosecond are rounded, and said.
func parseTime(w []byte, u unit) (t trace.Time, rounded, ok bool) {
	i, negative := 0, false
	if len(w) > 0 && (w[0] == '-' || w[0] == '+') {
		negative = w[0] == '-'
		i = 1
	}
	var n int64
	from := i
	for ; i < len(w) && w[i]-'0' <= 9; i++ {
		if n >= farthest/10 {
			return 0, false, false
		}
		n = n*10 + int64(w[i]-'0')
	}
	digits := i - from
	left := int(u)
	if i < len(w) && w[i] == '.' {
		i++
		for ; i < len(w) && w[i]-'0' <= 9; i++ {
			digits++
			if left > 0 {
				if n >= farthest/10 {
					return 0, false, false
				}
				n = n*10 + int64(w[i]-'0')
				left--
			} else if left == 0 {
				if w[i] >= '5' {
					n++
				}
				left--
				rounded = rounded || w[i] != '0'
			} else {
				rounded = rounded || w[i] != '0'
			}
		}
	}
	if digits == 0 || i < len(w) {
		return parseFloatTime(w, u)
	}
	if left > 0 {
		if n > farthest/tens[left] {
			return 0, false, false
		}
		n *= tens[left]
	}
	if negative {
		n = -n
	}
	return trace.Time(n), rounded, true
}

// parseFloatTime reads a number that is no plain decimal, such as 1.5e-06.
func parseFloatTime(w []byte, u unit) (t trace.Time, rounded, ok bool) {
	f, ok := parseNumber(w)
	if f *= float64(tens[u]); !ok || math.Abs(f) >= farthest {
		return 0, false, false
	}
	r := math.Round(f)
	return trace.Time(r), r != f, true
}

// parseNumber reads a finite number.
func parseNumber(w []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(w), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// parseInteger reads a whole number, also one that is written as a float.
func parseInteger(w []byte) (int64, bool) {
	var n int64
	for i, c := range w {
		if c-'0' > 9 || i >= 18 {
			f, ok := parseNumber(w)
			return int64(f), ok && math.Abs(f) < 1<<62
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(w) > 0
}

// isNumeral reports whether a word is a number, an address or the like: digits,
// with the letters of hexadecimal numbers and the signs that join numbers.
func isNumeral(w []byte) bool {
	digits := 0
	for _, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == 'x', c == '_', c == '.', c == '-', c == '+':
		default:
			return false
		}
	}
	return digits > 0
}

// value reads a field as its declared type says, else as text.
func value(w []byte, number bool) trace.Value {
	if number {
		if n, err := strconv.ParseInt(string(w), 10, 64); err == nil {
			return trace.Integer(n)
		}
		if f, ok := parseNumber(w); ok {
			return trace.Number(f)
		}
	}
	return trace.Text(string(w))
}
