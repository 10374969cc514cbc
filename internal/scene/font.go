package scene

import (
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// FontData returns the font that pictures are set in, as TrueType.
func FontData(bold bool) []byte {
	if bold {
		return gobold.TTF
	}
	return goregular.TTF
}

// advances are widths of characters in units of 1/2048 of the size.
type advances struct {
	units float32
	latin [0x250]uint16
	drawn [0x250]bool // that the font has
	rest  map[rune]uint16
	other uint16 // of a character that the font lacks
}

var (
	regularAdvances = sync.OnceValue(func() *advances { return readAdvances(goregular.TTF) })
	boldAdvances    = sync.OnceValue(func() *advances { return readAdvances(gobold.TTF) })
)

// The font's characters are below this.
const fontEnd = 0xFFFE

func readAdvances(data []byte) *advances {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic(err) // The font is part of the program.
	}
	var buffer sfnt.Buffer
	units := f.UnitsPerEm()
	a := &advances{units: float32(units), rest: map[rune]uint16{}}
	width := func(g sfnt.GlyphIndex) uint16 {
		w, err := f.GlyphAdvance(&buffer, g, fixed.Int26_6(units)<<6, font.HintingNone)
		if err != nil {
			return uint16(units) / 2
		}
		return uint16(w >> 6)
	}
	a.other = width(0)
	for r := rune(0); r < fontEnd; r++ {
		g, err := f.GlyphIndex(&buffer, r)
		switch {
		case err != nil || g == 0:
			if int(r) < len(a.latin) {
				a.latin[r] = a.other
			}
		case int(r) < len(a.latin):
			a.latin[r], a.drawn[r] = width(g), true
		default:
			a.rest[r] = width(g)
		}
	}
	return a
}

func (a *advances) of(r rune) float32 {
	if uint32(r) < uint32(len(a.latin)) {
		return float32(a.latin[r])
	}
	if w, ok := a.rest[r]; ok {
		return float32(w)
	}
	if joins(r) {
		return 0
	}
	return float32(a.other)
}

func fontAdvances(bold bool) *advances {
	if bold {
		return boldAdvances()
	}
	return regularAdvances()
}

// TextWidth returns the width in pixels of a text as it is drawn, see Visible.
func TextWidth(s string, size float32, bold bool) float32 {
	a := fontAdvances(bold)
	w := float32(0)
	for _, r := range Visible(s) {
		w += a.of(r)
	}
	return w * size / a.units
}

// Advance returns the width of one character.
func Advance(r rune, size float32, bold bool) float32 {
	a := fontAdvances(bold)
	return a.of(r) * size / a.units
}

// HasGlyph reports whether the font can draw a character.
func HasGlyph(r rune) bool {
	a := regularAdvances()
	if _, ok := a.rest[r]; ok {
		return true
	}
	return uint32(r) < uint32(len(a.latin)) && a.drawn[r]
}

// TextAscent and TextDescent are the extents of letters over and under the baseline, for
// placing a text in the middle of something.
func TextAscent(size float32) float32  { return 0.73 * size }
func TextDescent(size float32) float32 { return 0.21 * size }
