package write

import (
	"strconv"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// appendTime writes nanoseconds as microseconds with three decimals, exactly.
func appendTime(b []byte, t trace.Time) []byte {
	if t < 0 {
		b, t = append(b, '-'), -t
	}
	b = strconv.AppendUint(b, uint64(t)/1000, 10)
	rest := uint64(t) % 1000
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// appendText writes a JSON string.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r) // an invalid byte becomes U+FFFD
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
		i++
	}
	return append(b, '"')
}

// appendNumber writes a finite number.
func appendNumber(b []byte, v float64) []byte { return strconv.AppendFloat(b, v, 'f', -1, 64) }

// appendValue writes an attribute.
func appendValue(b []byte, v trace.Value) []byte {
	switch v.Kind {
	case trace.ValueInteger:
		i, _ := v.Integer()
		return strconv.AppendInt(b, i, 10)
	case trace.ValueNumber:
		f, _ := v.Number()
		return appendNumber(b, f)
	}
	return appendText(b, v.String())
}
