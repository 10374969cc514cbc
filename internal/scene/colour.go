package scene

import "image/color"

// A Colour is an index into the palette table.
type Colour uint16

// None is drawn as nothing.
const None = Colour(0xFFFF)

// A Theme says how colours are looked up: on a light or a dark ground, and with the
// usual hues or with fewer that colour-blind readers tell apart too.
type Theme uint8

const (
	Light Theme = iota
	Dark
	safe Theme = 2 // added to one of the two

	themes = 4
)

func (t Theme) String() string {
	if t.IsDark() {
		return "dark"
	}
	return "light"
}

// IsDark reports whether the ground is dark.
func (t Theme) IsDark() bool { return t&Dark != 0 }

// IsSafe reports whether categories have the hues that colour-blind readers tell apart.
func (t Theme) IsSafe() bool { return t&safe != 0 }

// Hues lists the ways of colouring categories: "usual", and "safe" for colour-blind readers.
var Hues = []string{"usual", "safe"}

// With returns the theme with other hues of categories.
func (t Theme) With(hues string) (Theme, bool) {
	switch hues {
	case "usual":
		return t &^ safe, true
	case "safe":
		return t | safe, true
	}
	return t, false
}

// ParseTheme returns the theme of that name.
func ParseTheme(s string) (Theme, bool) {
	return map[string]Theme{"light": Light, "dark": Dark}[s], s == "light" || s == "dark"
}

// RGBA looks a colour up. None and indices past the table are fully transparent.
func (c Colour) RGBA(t Theme) color.NRGBA {
	table := Table(t)
	if int(c) >= len(table) {
		return color.NRGBA{}
	}
	return table[c]
}

// Dimmed looks a colour up as it is drawn outside the selection: mixed with the
// background, by the share that palette.json calls dim.
func (c Colour) Dimmed(t Theme) color.NRGBA {
	own, ground := c.RGBA(t), UIBackground.RGBA(t)
	share := loadPalette().Dim
	return color.NRGBA{mix(own.R, ground.R, share), mix(own.G, ground.G, share), mix(own.B, ground.B, share), own.A}
}

func mix(a, b uint8, share float64) uint8 {
	return uint8(float64(a)*(1-share) + float64(b)*share + 0.5)
}
