package scene

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestPaletteFileIsWhatItsSourceMakes(t *testing.T) {
	want := makePalette(t)
	if *update {
		if err := os.WriteFile("palette.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(paletteJSON, want) {
		t.Error("palette.json is not what palette_make_test.go makes; run the test with -update")
	}
	if _, err := parsePalette(paletteJSON); err != nil {
		t.Error(err)
	}
}

func TestPaletteHasEveryNamedColourAndSection(t *testing.T) {
	var f paletteFile
	if err := json.Unmarshal(paletteJSON, &f); err != nil {
		t.Fatal(err)
	}
	if got := len(f.Sections[0].Names); f.Sections[0].Name != "ui" || got != int(uiEnd) {
		t.Fatalf("the first section %q has %d names, the constants %d", f.Sections[0].Name, got, uiEnd)
	}
	for c, name := range map[Colour]string{
		UIBackground: "background", UITextMuted: "text-muted", UISelectionEdge: "selection-edge", UIHatch: "hatch", UILink: "link",
		UIEmpty: "empty", UIData: "data", UIInkDark: "ink-dark", UIInkReverse: "ink-reverse", PaperGrey: "paper-grey", PaperRed: "paper-red",
	} {
		if got := f.Sections[0].Names[c]; got != name {
			t.Errorf("constant of %s has the index of %s", name, got)
		}
	}
	for _, name := range roleSections[1:] {
		if s, ok := FindSection(name); !ok || s.Length < 3 {
			t.Errorf("family %s has %d shades, want 3", name, s.Length)
		}
	}
	for _, name := range RampNames {
		if s, ok := FindSection(name); !ok || s.Length != 256 {
			t.Errorf("ramp %s has %d colours, want 256", name, s.Length)
		}
	}
	if s, _ := FindSection("locations"); s.Length != 12 {
		t.Errorf("locations have %d hues, want 12", s.Length)
	}
	shades, _ := FindSection("shade")
	for i := range shades.Start {
		if i >= int(uiEnd) && (Table(Light)[i].A != 255 || Table(Dark)[i].A != 255) {
			t.Errorf("data colour %d is transparent", i)
		}
	}
}

// eyes are transformations of linear light: normal vision, and full deuteranopia,
// tritanopia and protanopia after Machado, Oliveira and Fernandes (2009).
var eyes = []struct {
	name string
	m    [9]float64
}{
	{"normal", [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
	{"deuteranopia", [9]float64{0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881}},
	{"tritanopia", [9]float64{1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900}},
	{"protanopia", [9]float64{0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998}},
}

// seen places a colour in OKLab, scaled by 100, as an eye sees it; a difference of
// 2 is just visible there.
func seen(c color.NRGBA, m [9]float64) [3]float64 {
	l := linearOf(c)
	var out [3]float64
	for i := range 3 {
		out[i] = min(max(m[3*i]*l[0]+m[3*i+1]*l[1]+m[3*i+2]*l[2], 0), 1)
	}
	out = oklab(out)
	return [3]float64{100 * out[0], 100 * out[1], 100 * out[2]}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// nearest gives the smallest difference between two sections.
func nearest(a, b Section, theme Theme, m [9]float64, first int) float64 {
	least := math.Inf(1)
	for i := range min(a.Length, first) {
		for j := range min(b.Length, first) {
			if a.Start+i != b.Start+j {
				least = min(least, distance(seen(a.At(i).RGBA(theme), m), seen(b.At(j).RGBA(theme), m)))
			}
		}
	}
	return least
}

func TestFamiliesStayApartForEveryEye(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		for _, eye := range eyes[:3] {
			anyShade, roleColour := 3.0, 7.0
			if eye.name == "normal" {
				anyShade, roleColour = 5, 12
			}
			for i := 1; i < len(roleSections); i++ {
				for j := 1; j < i; j++ {
					a, b := family(uint8(i)), family(uint8(j))
					if d := nearest(a, b, theme, eye.m, 99); d < anyShade {
						t.Errorf("%s, %s: a shade of %s is %.1f from one of %s, want %.0f", theme, eye.name, a.Name, d, b.Name, anyShade)
					}
					if d := nearest(a, b, theme, eye.m, 1); d < roleColour {
						t.Errorf("%s, %s: %s is %.1f from %s, want %.0f", theme, eye.name, a.Name, d, b.Name, roleColour)
					}
				}
			}
		}
	}
}

func TestShadesOfAFamilyDiffer(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		for _, s := range Sections()[1:10] {
			want := map[string]float64{"idle": 1, "locations": 10}[s.Name]
			if want == 0 {
				want = 2.5
			}
			if d := nearest(s, s, theme, eyes[0].m, 99); d < want {
				t.Errorf("%s: two shades of %s are %.1f apart, want %.1f", theme, s.Name, d, want)
			}
		}
		for _, eye := range eyes[1:3] {
			s, _ := FindSection("locations")
			if d := nearest(s, s, theme, eye.m, 6); d < 6 {
				t.Errorf("%s, %s: two of the first six hues are %.1f apart", theme, eye.name, d)
			}
		}
	}
}

// For colour-blind readers two categories have either one colour or two that differ
// plainly, whoever looks; where they have one, legends say so in words.
func TestSafeHuesAreFewAndFarApartForEveryEye(t *testing.T) {
	sections := append([]Section(nil), Sections()[1:9]...)
	for _, ground := range []Theme{Light, Dark} {
		theme, _ := ground.With("safe")
		for _, eye := range eyes {
			at := func(s Section, i int) [3]float64 { return seen(s.At(i).RGBA(theme), eye.m) }
			for i, a := range sections {
				for j, b := range sections[:i+1] {
					if d := distance(at(a, 0), at(b, 0)); i != j && d < 9 {
						t.Errorf("%s, %s: %s is %.1f from %s, want 9", theme, eye.name, a.Name, d, b.Name)
					}
					for k := range a.Length {
						for l := range b.Length {
							same := a.At(k).RGBA(theme) == b.At(l).RGBA(theme)
							if d := distance(at(a, k), at(b, l)); !same && d < 6 {
								t.Errorf("%s, %s: %s %d is %.1f from %s %d, want 6", theme, eye.name, a.Name, k, d, b.Name, l)
							}
							if same && i != j {
								t.Errorf("%s: %s %d and %s %d are one colour", theme, a.Name, k, b.Name, l)
							}
						}
					}
				}
				if at(a, 0) == at(a, 1) {
					t.Errorf("%s: the first two of %s are one colour", theme, a.Name)
				}
			}
			if hues, _ := FindSection("locations"); nearest(hues, hues, theme, eye.m, 8) < 8 {
				t.Errorf("%s, %s: two of the first eight locations are %.1f apart, want 8", theme, eye.name, nearest(hues, hues, theme, eye.m, 8))
			}
		}
	}
}

// Printed in grey, work and each way not to work are told apart in the safe hues: a difference of 2 is just visible.
func TestSafeHuesOfWorkAndOfWhatIsNoWorkDifferInGrey(t *testing.T) {
	theme, _ := Light.With("safe")
	grey := func(name string) float64 {
		section, ok := FindSection(name)
		if !ok {
			t.Fatal(name)
		}
		return seen(section.At(0).RGBA(theme), eyes[0].m)[0]
	}
	work := grey("compute")
	for _, other := range []string{"communication", "synchronization", "idle", "io", "overhead", "annotation"} {
		if d := math.Abs(grey(other) - work); d < 10 {
			t.Errorf("%s is %.1f lighter or darker than work, want 10", other, d)
		}
	}
}

// The usual hues stay what they are where nobody asks for others.
func TestHuesAreChosenByTheirName(t *testing.T) {
	for _, hues := range Hues {
		if _, ok := Dark.With(hues); !ok {
			t.Errorf("%q is not taken", hues)
		}
	}
	if _, ok := Light.With("loud"); ok {
		t.Error("loud is taken")
	}
	changed, _ := Dark.With("safe")
	if back, _ := changed.With("usual"); back != Dark || !changed.IsDark() || RoleColour(1).RGBA(changed) == RoleColour(1).RGBA(Dark) {
		t.Error("safe hues on a dark ground are not what they should be")
	}
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func TestTextIsReadableInBothThemes(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		for _, text := range []Colour{UIText, UITextMuted, UIAccent, UIWarning, UIError, UIGood, UIFocus} {
			for _, ground := range []Colour{UIBackground, UISurface, UIBand, UIEmpty} {
				if c := contrast(text.RGBA(theme), ground.RGBA(theme)); c < 4.5 {
					t.Errorf("%s: colour %d on %d has contrast %.2f, want 4.5", theme, text, ground, c)
				}
			}
		}
		for _, hues := range Hues {
			theme, _ := theme.With(hues)
			for i := range Table(theme) {
				fill := Colour(i)
				if fill.RGBA(theme).A != 255 {
					continue
				}
				if c := contrast(Ink(fill).RGBA(theme), fill.RGBA(theme)); c < 4.5 {
					t.Errorf("%s, %s: ink on colour %d has contrast %.2f, want 4.5", theme, hues, i, c)
				}
			}
		}
	}
}

// A point of any value is seen on the ground, in both themes.
func TestRampsHaveContrastWithTheBackground(t *testing.T) {
	for theme, want := range map[Theme]float64{Light: 1.2, Dark: 1.5} { // yellow on white has hue besides
		for _, name := range []string{"viridis", "cividis"} {
			s := RampSection(name)
			for i := range s.Length {
				if c := contrast(s.At(i).RGBA(theme), UIBackground.RGBA(theme)); c < want {
					t.Errorf("%s: step %d of %s has contrast %.2f with the ground, want %.1f", theme, i, name, c, want)
					break
				}
			}
		}
	}
}

// A magnitude must be readable from its colour, so lightness runs one way.
func TestRampsRunOneWayInLightness(t *testing.T) {
	lightness := func(s Section, i int, theme Theme, m [9]float64) float64 { return seen(s.At(i).RGBA(theme), m)[0] }
	for _, theme := range []Theme{Light, Dark} {
		for _, eye := range eyes {
			for _, name := range []string{"viridis", "cividis"} {
				s := RampSection(name)
				for i := 8; i < 256; i += 8 {
					if lightness(s, i, theme, eye.m) <= lightness(s, i-8, theme, eye.m) {
						t.Errorf("%s, %s: %s does not rise at %d", theme, eye.name, name, i)
					}
				}
			}
			s, sign := RampSection("diverging"), 1.0
			if theme == Dark {
				sign = -1
			}
			for i := 8; i < 128; i += 8 {
				if sign*(lightness(s, i, theme, eye.m)-lightness(s, i-8, theme, eye.m)) <= 0 ||
					sign*(lightness(s, 255-i, theme, eye.m)-lightness(s, 255-i+8, theme, eye.m)) <= 0 {
					t.Errorf("%s, %s: diverging does not run to its middle at %d", theme, eye.name, i)
				}
			}
			if d := distance(seen(s.At(0).RGBA(theme), eye.m), seen(s.At(255).RGBA(theme), eye.m)); d < 15 {
				t.Errorf("%s, %s: the ends of diverging are %.1f apart", theme, eye.name, d)
			}
		}
	}
}

func TestParsePaletteRefusesWhatDoesNotFit(t *testing.T) {
	for _, bad := range []string{
		``, `{`, `{"sections":[{"name":"a","start":1,"light":["000000"]}]}`,
		`{"sections":[{"name":"a","start":0,"light":["000000"],"dark":["000000","111111"]}]}`,
		`{"sections":[{"name":"a","start":0,"light":["0000"]}]}`, `{"sections":[{"name":"a","start":0,"light":["zzzzzz"]}]}`,
		`{"sections":[{"name":"a","start":0,"light":["000000"],"names":[]}]}`,
	} {
		if _, err := parsePalette([]byte(bad)); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
}

func ExampleGiver() {
	compute := uint8(1)
	var g Giver
	fmt.Println(g.Give("solve", compute, nil) == g.Give("solve()", compute, nil), g.Give("exchange", compute, nil) == g.Give("solve", compute, nil))
	// Output: true false
}

func TestAnyTwoColoursOfRegionsDifferPlainly(t *testing.T) {
	var all []Colour
	for _, name := range append(roleSections[1:], "spare") {
		s, ok := FindSection(name)
		if !ok {
			t.Fatalf("no section %s", name)
		}
		for i := range s.Length {
			all = append(all, s.At(i))
		}
	}
	for _, theme := range []Theme{Light, Dark} {
		for i, a := range all {
			for _, b := range all[:i] {
				if d := Difference(a.RGBA(theme), b.RGBA(theme)); d < tellsApart {
					t.Errorf("%s: colours %d and %d are %.1f apart, want %d", theme, a, b, d, tellsApart)
				}
			}
		}
		s, _ := FindSection("locations")
		for i := range s.Length {
			for j := range i {
				if d := Difference(s.At(i).RGBA(theme), s.At(j).RGBA(theme)); d < tellsApart {
					t.Errorf("%s: locations %d and %d are %.1f apart, want %d", theme, i, j, d, tellsApart)
				}
			}
		}
	}
}

func TestDifferenceIsThatOfTheOracle(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{{"ff0000", "00ff00", 86.6082374535373}, {"1f77b4", "2f87c4", 6.062912289139469}, {"888888", "8a8a8a", 0.710434757106306}, {"0000ff", "4000ff", 2.391557075339403}} {
		a, _ := parseHex(c.a)
		b, _ := parseHex(c.b)
		if got := Difference(a, b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s and %s are %v apart, want %v", c.a, c.b, got, c.want)
		}
	}
}
