package scene

import (
	"image/color"
	"math"
)

// RampNames lists the runs of colours that show magnitudes. "spectrum" and
// "green-red" are the papers' own; the others are safe for colour-blind readers.
var RampNames = []string{"viridis", "cividis", "diverging", "spectrum", "green-red"}

// Ramp returns the colour at t of a ramp, from 0 (low) to 1 (high); values beyond have the colour of the end, NaN has
// none. An unknown name is viridis.
func Ramp(name string, t float64) Colour {
	if math.IsNaN(t) {
		return None
	}
	s := RampSection(name)
	return Colour(s.Start + int(math.Round(min(max(t, 0), 1)*float64(s.Length-1))))
}

// RampSection returns the palette's section of a ramp. An unknown name is viridis.
func RampSection(name string) Section {
	for _, n := range RampNames {
		if n == name {
			return loadPalette().byName[n]
		}
	}
	return loadPalette().byName["viridis"]
}

// Ink returns the colour of text on a fill: the one of black and white that
// contrasts more, in each theme. The contrast is at least 4.5 : 1 on any fill.
func Ink(fill Colour) Colour {
	white := 0 // a bit for each theme
	for t := range Theme(themes) {
		if onDark(fill, t) {
			white |= 1 << t
		}
	}
	// Most fills want the same ink with the usual hues and the safe ones.
	if white>>2 == white&3 {
		return [4]Colour{UIInkDark, UIInkReverse, UIInk, UIInkLight}[white&3]
	}
	return loadPalette().byName["ink"].At(white)
}

// InkFor is Ink for a thing with flags: things outside the selection have muted text.
func InkFor(fill Colour, f Flag) Colour {
	if f&Dimmed != 0 {
		return UITextMuted
	}
	return Ink(fill)
}

func onDark(fill Colour, t Theme) bool {
	c := fill.RGBA(t)
	if c.A < 128 {
		c = UIBackground.RGBA(t)
	}
	return 1.05/(luminance(c)+0.05) > (luminance(c)+0.05)/0.05
}

// luminance returns the relative luminance of WCAG 2.
func luminance(c color.NRGBA) float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// linear undoes the transfer function of sRGB.
func linear(v uint8) float64 {
	x := float64(v) / 255
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}
