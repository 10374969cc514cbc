package scene

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image/color"
	"sync"
)

// paletteJSON is the one table of colours; the page imports the same file. It is
// written by the test of this package with -update and not edited by hand.
//
//go:embed palette.json
var paletteJSON []byte

// A Section is a named run of the palette: the colours Start … Start+Length.
type Section struct {
	Name          string
	Start, Length int
}

// At returns colour i of the section, starting over past its end.
func (s Section) At(i int) Colour {
	if s.Length == 0 {
		return None
	}
	return Colour(s.Start + ((i%s.Length)+s.Length)%s.Length)
}

type palette struct {
	// Dim is the share of background in the colour of a dimmed thing.
	Dim      float64
	sections []Section
	byName   map[string]Section
	tables   [themes][]color.NRGBA
}

var loadPalette = sync.OnceValue(func() *palette {
	p, err := parsePalette(paletteJSON)
	if err != nil {
		panic(err) // The file is part of the program; its test reads it first.
	}
	return p
})

// paletteFile is palette.json. A section without dark values has the same in both themes; one without safe ones has its
// usual ones.
type paletteFile struct {
	Dim      float64          `json:"dim"`
	Sections []paletteSection `json:"sections"`
}

type paletteSection struct {
	Name  string   `json:"name"`
	Start int      `json:"start"`
	Names []string `json:"names,omitempty"` // of the colours, where they have any
	Light []string `json:"light"`           // rrggbb or rrggbbaa
	Dark  []string `json:"dark,omitempty"`
	// The colours of the same indices for colour-blind readers: fewer, so that they begin anew after some.
	SafeLight []string `json:"safeLight,omitempty"`
	SafeDark  []string `json:"safeDark,omitempty"`
}

func parsePalette(data []byte) (*palette, error) {
	var f paletteFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("palette: %w", err)
	}
	p := &palette{Dim: f.Dim, byName: map[string]Section{}}
	for _, s := range f.Sections {
		if s.Dark == nil {
			s.Dark = s.Light
		}
		if s.SafeLight == nil {
			s.SafeLight, s.SafeDark = s.Light, s.Dark
		}
		n := len(s.Light)
		if s.Start != len(p.tables[Light]) || len(s.Dark) != n || len(s.SafeLight) != n || len(s.SafeDark) != n ||
			s.Names != nil && len(s.Names) != n {
			return nil, fmt.Errorf("palette: section %s: start or lengths do not fit", s.Name)
		}
		for t, values := range [themes][]string{s.Light, s.Dark, s.SafeLight, s.SafeDark} {
			for _, v := range values {
				c, err := parseHex(v)
				if err != nil {
					return nil, fmt.Errorf("palette: section %s: %w", s.Name, err)
				}
				p.tables[t] = append(p.tables[t], c)
			}
		}
		section := Section{s.Name, s.Start, len(s.Light)}
		p.sections = append(p.sections, section)
		p.byName[s.Name] = section
	}
	return p, nil
}

func parseHex(s string) (color.NRGBA, error) {
	b, err := hex.DecodeString(s)
	switch {
	case err != nil:
		return color.NRGBA{}, fmt.Errorf("colour %q: %w", s, err)
	case len(b) == 3:
		return color.NRGBA{b[0], b[1], b[2], 255}, nil
	case len(b) == 4:
		return color.NRGBA{b[0], b[1], b[2], b[3]}, nil
	}
	return color.NRGBA{}, fmt.Errorf("colour %q: want 6 or 8 digits", s)
}

// Table returns all colours of a theme by index. It must not be changed.
func Table(t Theme) []color.NRGBA {
	return loadPalette().tables[t%themes]
}

// Sections lists the palette in order.
func Sections() []Section { return loadPalette().sections }

// FindSection returns the section of that name: a role, "locations", a ramp, "ui".
func FindSection(name string) (Section, bool) {
	s, ok := loadPalette().byName[name]
	return s, ok
}
