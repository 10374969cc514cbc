package scene

// A Colour is an index into the palette table.
type Colour uint16

// None is drawn as nothing.
const None = Colour(0xFFFF)

// A Theme says how colours are looked up.
type Theme uint8

const (
	Light Theme = iota
	Dark
)

func (t Theme) String() string {
	if t == Dark {
		return "dark"
	}
	return "light"
}

// ParseTheme gives the theme of that name.
func ParseTheme(s string) (Theme, bool) {
	return map[string]Theme{"light": Light, "dark": Dark}[s], s == "light" || s == "dark"
}
