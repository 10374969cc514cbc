package paje

import (
	"bytes"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// word cuts the next word of a line, from i on: what stands between blanks or
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

var (
	isBlank  = [256]bool{' ': true, '\t': true, '\r': true, '\v': true, '\f': true}
	endsWord = [256]bool{' ': true, '\t': true, '\r': true, '\v': true, '\f': true, '\n': true}
)

// A unit is how many decimals a second (or, with StarPU, a millisecond) has of
// nanoseconds.
type unit int

const (
	seconds      unit = 9
	milliseconds unit = 6
)

var tens = [19]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// farthest is the last time that is believed, in nanoseconds: 146 years.
const farthest = 1 << 62

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

// parseFloatTime reads what is no plain decimal, such as 1.5e-06.
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
// with the letters of hexadecimal numbers and what joins numbers.
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
