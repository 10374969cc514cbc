package svg

import (
	"image/color"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func (w *writer) text(s string) *writer {
	w.b = append(w.b, s...)
	return w
}

// number writes a number rounded to two decimals, as short as it goes.
func (w *writer) number(v float64) *writer {
	w.b = appendHundredths(w.b, hundredths(v))
	return w
}

func hundredths(v float64) int64 {
	if v != v || math.IsInf(v, 0) {
		return 0
	}
	return int64(math.Round(v * 100))
}

func appendHundredths(b []byte, n int64) []byte {
	if n < 0 {
		b = append(b, '-')
		n = -n
	}
	whole, part := n/100, n%100
	if whole > 0 || part == 0 {
		b = strconv.AppendInt(b, whole, 10)
	}
	if part == 0 {
		return b
	}
	b = append(b, '.', byte('0'+part/10))
	if part%10 != 0 {
		b = append(b, byte('0'+part%10))
	}
	return b
}

// pair writes two numbers with the least between them.
func pair(b []byte, x, y int64) []byte {
	b = appendHundredths(b, x)
	if y >= 0 {
		b = append(b, ' ')
	}
	return appendHundredths(b, y)
}

// escape writes a text as it is drawn, safe inside elements and attributes.
func (w *writer) escape(s string) *writer {
	for _, r := range scene.Visible(s) {
		switch r {
		case '&':
			w.b = append(w.b, "&amp;"...)
		case '<':
			w.b = append(w.b, "&lt;"...)
		case '>':
			w.b = append(w.b, "&gt;"...)
		case '"':
			w.b = append(w.b, "&quot;"...)
		default:
			w.b = append(w.b, string(r)...)
		}
	}
	return w
}

// An ink is a colour, and that of the dark theme where both are written.
type ink struct {
	color.NRGBA
	dark color.NRGBA
}

func (w *writer) fill(c ink) *writer   { return w.paint("fill", c) }
func (w *writer) stroke(c ink) *writer { return w.paint("stroke", c) }

func (w *writer) paint(what string, c ink) *writer {
	if w.palette != nil {
		return w.text(" " + what + `="var(--c` + strconv.Itoa(w.palette.number(c)) + `)"`)
	}
	w.text(" " + what + `="`)
	w.b = appendHex(w.b, c.NRGBA)
	w.text(`"`)
	if c.A != 255 {
		w.text(" " + what + `-opacity="`).number(float64(c.A) / 255).text(`"`)
	}
	return w
}

func appendHex(b []byte, c color.NRGBA) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '#')
	for _, v := range [3]uint8{c.R, c.G, c.B} {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return b
}
