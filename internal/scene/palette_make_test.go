package scene

import (
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"os"
	"strings"
	"testing"
)

// The palette is written down in OKLCh (lightness, chroma, hue in degrees), where
// equal steps look equal, and computed from there.
type lch struct{ l, c, h float64 }

// A shadeFamily has shades in light; lightness from…to in light becomes from…to in dark,
// so a shade keeps its hue in both themes.
type shadeFamily struct {
	name          string
	from, to      float64
	darkFrom, end float64
	shades        []lch
	safe          []safeShade
}

// A safeShade has one hue, and lightness and chroma of its own on each ground.
type safeShade struct{ h, light, dark, lightChroma, darkChroma float64 }

// Shades were found by a search: any two of them, also of two families, are at least 10 apart by CIEDE2000 in both themes;
// families stay apart for deuteranopic and tritanopic eyes too, and the first shades of each differ most. The spare ones, of
// no family, are what room was left for.
// The safe ones were found likewise, for protanopic eyes too and with a greater distance between any two; so they are few.
var families = []shadeFamily{
	{"compute", .46, .86, .48, .85, []lch{
		{.64, .125, 252}, {.68, .14, 148}, {.8, .09, 236}, {.84, .1, 140}, {.74, .1, 280}, {.64, .06, 176}, {.64, .1, 216},
		{.52, .14, 136}, {.5, .08, 264}, {.86, .16, 176}, {.64, .06, 128}, {.82, .06, 176}, {.62, .16, 128}, {.56, .08, 156},
		{.74, .12, 176}, {.74, .16, 132}, {.48, .1, 236},
	}, []safeShade{
		{264, .508, .661, .132, .136}, {274, .626, .765, .160, .118}, {154, .723, .712, .157, .158}, {167, .682, .913, .050, .069}, {271, .767, .861, .117, .060}, {152, .871, .864, .154, .160},
	}},
	{"communication", .48, .76, .50, .76, []lch{
		{.66, .165, 45}, {.55, .19, 27}, {.76, .15, 68}, {.74, .11, 30}, {.5, .17, 15}, {.64, .09, 62}, {.6, .08, 14},
		{.56, .1, 42}, {.54, .12, 66}, {.66, .2, 26}, {.76, .1, 54},
	}, []safeShade{
		{48, .750, .504, .147, .135}, {53, .530, .740, .135, .161}, {50, .660, .641, .145, .152}, {18, .453, .787, .146, .109}, {21, .594, .580, .160, .189},
	}},
	{"synchronization", .80, .95, .79, .94, []lch{
		{.88, .16, 95}, {.8, .11, 108}, {.82, .09, 82}, {.94, .17, 114}, {.94, .09, 98},
	}, []safeShade{
		{97, .844, .868, .168, .159}, {110, .946, .968, .185, .175},
	}},
	{"idle", .74, .93, .50, .29, []lch{
		{.9, .004, 250}, {.74, .044, 300}, {.76, .044, 140}, {.9, .044, 0}, {.92, .044, 120}, {.92, .044, 200},
	}, []safeShade{
		{244, .808, .431, .013, .013}, {249, .902, .312, .014, .014},
	}},
	{"io", .34, .60, .44, .64, []lch{
		{.5, .17, 305}, {.58, .1, 286}, {.34, .1, 326}, {.54, .1, 318}, {.6, .22, 290}, {.36, .14, 286},
	}, []safeShade{
		{292, .325, .561, .142, .193}, {322, .445, .481, .138, .145},
	}},
	{"copy", .36, .56, .435, .61, []lch{
		{.52, .085, 195}, {.4, .06, 200}, {.54, .03, 210},
	}, []safeShade{
		{194, .413, .785, .057, .093}, {179, .560, .536, .095, .096},
	}},
	{"overhead", .28, .46, .38, .52, []lch{
		{.42, .07, 58}, {.46, .03, 36}, {.28, .03, 80}, {.28, .09, 36},
	}, []safeShade{
		{41, .361, .300, .100, .094}, {52, .271, .399, .064, .087},
	}},
	{"annotation", .70, .84, .68, .83, []lch{
		{.785, .075, 350}, {.7, .14, 328}, {.7, .14, 4}, {.7, .04, 8}, {.84, .14, 328},
	}, []safeShade{
		{335, .645, .613, .137, .121}, {337, .734, .700, .089, .071},
	}},
	{"locations", .46, .80, .54, .82, []lch{
		{.62, .14, 252}, {.70, .15, 55}, {.47, .16, 356}, {.54, .13, 145}, {.78, .12, 172}, {.78, .12, 325},
		{.48, .16, 290}, {.67, .15, 132}, {.62, .15, 330}, {.53, .10, 64}, {.82, .15, 105}, {.77, .10, 242},
	}, []safeShade{
		{109, .875, .912, .136, .126}, {0, .776, .687, .057, .129}, {31, .443, .411, .097, .135}, {120, .549, .723, .118, .156}, {265, .571, .588, .176, .150}, {326, .288, .537, .104, .152}, {267, .297, .363, .167, .050}, {239, .772, .816, .109, .098},
	}},
	{"spare", .40, .86, .46, .85, []lch{
		{.61, .11, 96}, {.76, .11, 204}, {.55, .2, 348}, {.73, .14, 90}, {.46, .08, 0}, {.52, .11, 114}, {.4, .08, 96},
		{.79, .2, 150}, {.4, .11, 150}, {.55, .2, 264}, {.43, .14, 36}, {.43, .17, 354}, {.43, .08, 30}, {.46, .2, 330},
		{.67, .05, 90}, {.52, .05, 96}, {.64, .05, 312}, {.82, .05, 42}, {.85, .05, 276},
	}, []safeShade{
		{109, .875, .912, .136, .126}, {0, .776, .687, .057, .129}, {31, .443, .411, .097, .135}, {120, .549, .723, .118, .156}, {265, .571, .588, .176, .150}, {326, .288, .537, .104, .152}, {267, .297, .363, .167, .050}, {239, .772, .816, .109, .098},
	}},
}

// uiColours are name, light, dark, in the order of the constants.
var uiColours = [][3]string{
	{"background", "ffffff", "14161a"},
	{"surface", "f6f7f8", "1b1e23"},
	{"text", "1a1d21", "e4e7eb"},
	{"text-muted", "5c636c", "9aa3ad"},
	{"hairline", "d9dce0", "30353c"},
	{"grid", "eceef0", "24282e"},
	{"axis", "9aa1a9", "5d6570"},
	{"selection", "2f6fdd26", "6ea8ff2e"},
	{"selection-edge", "2f6fdd", "6ea8ff"},
	{"focus", "1f5fd0", "8ab8ff"},
	{"accent", "1d5bbf", "86b4ff"},
	{"warning", "8a5a00", "f0b849"},
	{"error", "b3261e", "ff8a80"},
	{"good", "1e7a3c", "6cd08c"},
	{"aggregate", "c3c9d1", "4a515a"},
	{"hatch", "ffffff80", "14161a80"},
	{"outline", "1a1d2199", "e4e7eb99"},
	{"link", "3a414ab0", "c5ccd5a0"},
	{"cursor", "1a1d21", "ffffff"},
	{"band", "f8f9fa", "181b20"},
	{"empty", "f1f2f4", "1e2126"},
	{"data", "3f76b5", "6fa8e8"},
	{"data-soft", "c9d9ea", "2c4257"},
	{"ink-dark", "000000", "000000"},
	{"ink-light", "ffffff", "ffffff"},
	{"ink", "000000", "ffffff"},
	{"ink-reverse", "ffffff", "000000"},
	{"paper-grey", "a6a6a6", "7c7c7c"},
	{"paper-black", "000000", "ffffff"},
	{"paper-green", "2ca02c", "3fb53f"},
	{"paper-red", "d62728", "e5484a"},
}

func makePalette(t *testing.T) []byte {
	f := paletteFile{Dim: 0.72}
	start := 0
	add := func(s paletteSection) {
		s.Start = start
		start += len(s.Light)
		f.Sections = append(f.Sections, s)
	}
	ui := paletteSection{Name: "ui"}
	for _, c := range uiColours {
		ui.Names, ui.Light, ui.Dark = append(ui.Names, c[0]), append(ui.Light, c[1]), append(ui.Dark, c[2])
	}
	add(ui)
	for _, fam := range families {
		s := paletteSection{Name: fam.name}
		for _, x := range fam.shades {
			s.Light = append(s.Light, x.hex())
			dark := lch{fam.darkFrom + (x.l-fam.from)/(fam.to-fam.from)*(fam.end-fam.darkFrom), x.c, x.h}
			s.Dark = append(s.Dark, dark.hex())
		}
		for i := range fam.shades {
			x := fam.safe[i%len(fam.safe)]
			s.SafeLight = append(s.SafeLight, lch{x.light, x.lightChroma, x.h}.hex())
			s.SafeDark = append(s.SafeDark, lch{x.dark, x.darkChroma, x.h}.hex())
		}
		add(s)
	}
	for _, name := range []string{"viridis", "cividis"} {
		ramp := readRamp(t, name)
		add(paletteSection{Name: name, Light: ramp, Dark: lifted(ramp)})
	}
	diverging := paletteSection{Name: "diverging"}
	spectrum := paletteSection{Name: "spectrum"}
	greenRed := paletteSection{Name: "green-red"}
	for i := range 256 {
		u := float64(i) / 255
		diverging.Light = append(diverging.Light, divergingAt(u, .965, .48).hex())
		diverging.Dark = append(diverging.Dark, divergingAt(u, .28, .74).hex())
		spectrum.Light = append(spectrum.Light, hueHex(240-300*u))
		greenRed.Light = append(greenRed.Light, greenOrangeRed(u))
	}
	add(diverging)
	add(spectrum)
	add(greenRed)
	// Laid over colours to make things in space look solid: two of shadow, one of light.
	add(paletteSection{Name: "shade", Light: []string{"00000026", "00000050", "ffffff80"}})
	add(locationTime())
	add(inks())
	return writePalette(f)
}

// darkest is where a ramp begins on a dark ground: its first colours cannot be seen there.
const darkest = 0.18

// lifted stretches a ramp's upper part over the whole of it.
func lifted(ramp []string) (out []string) {
	for i := range ramp {
		out = append(out, ramp[int(math.Round(float64(len(ramp)-1)*(darkest+(1-darkest)*float64(i)/float64(len(ramp)-1))))])
	}
	return out
}

// timeSteps is how many steps of lightness a location's hue has.
const timeSteps = 9

// inks are black or white in each of the themes: colour i is white where bit t of i is set.
func inks() paletteSection {
	s := paletteSection{Name: "ink"}
	lists := [themes]*[]string{&s.Light, &s.Dark, &s.SafeLight, &s.SafeDark}
	for i := range 1 << themes {
		for t, list := range lists {
			*list = append(*list, map[bool]string{false: "000000", true: "ffffff"}[i>>t&1 == 1])
		}
	}
	return s
}

// locationTime runs each hue of the locations from light to dark.
func locationTime() paletteSection {
	s := paletteSection{Name: "location-time"}
	for _, fam := range families {
		if fam.name != "locations" {
			continue
		}
		for _, x := range fam.shades {
			for k := range timeSteps {
				u := float64(k) / (timeSteps - 1)
				chroma := x.c * (1 - 1.1*math.Abs(u-0.45))
				s.Light = append(s.Light, lch{.90 - .56*u, chroma, x.h}.hex())
				s.Dark = append(s.Dark, lch{.94 - .56*u, chroma, x.h}.hex())
			}
		}
	}
	return s
}

// divergingAt runs from blue through a neutral middle to red; chroma grows with
// the distance from the middle.
func divergingAt(u, middle, end float64) lch {
	far := math.Abs(2*u - 1)
	hue := 255.0
	if u > 0.5 {
		hue = 25
	}
	return lch{middle + (end-middle)*far, 0.17 * math.Pow(far, 0.85), hue}
}

// hueHex is full saturation and value at a hue in degrees.
func hueHex(h float64) string {
	h = math.Mod(h+360, 360)
	channel := func(n float64) uint8 {
		k := math.Mod(n+h/60, 6)
		return uint8(255*(1-max(0, min(k, 4-k, 1))) + 0.5)
	}
	return fmt.Sprintf("%02x%02x%02x", channel(5), channel(3), channel(1))
}

func greenOrangeRed(u float64) string {
	stops := [3][3]float64{{0, 255, 0}, {255, 165, 0}, {255, 0, 0}}
	i := min(int(u*2), 1)
	f := u*2 - float64(i)
	out := ""
	for k := range 3 {
		out += fmt.Sprintf("%02x", uint8(stops[i][k]*(1-f)+stops[i+1][k]*f+0.5))
	}
	return out
}

// readRamp reads a published ramp: 256 colours in hexadecimal.
func readRamp(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".hex")
	if err != nil {
		t.Fatal(err)
	}
	digits := strings.Join(strings.Fields(string(data)), "")
	var out []string
	for i := 0; i+6 <= len(digits); i += 6 {
		out = append(out, digits[i:i+6])
	}
	return out
}

// writePalette writes one line for each list, so that a change is easy to read.
func writePalette(f paletteFile) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"dim\": %g,\n  \"sections\": [\n", f.Dim)
	for i, s := range f.Sections {
		fmt.Fprintf(&b, "    {\"name\": %q, \"start\": %d,\n", s.Name, s.Start)
		line := func(name string, list []string, last bool) {
			text, _ := json.Marshal(list)
			fmt.Fprintf(&b, "     %q: %s%s\n", name, text, map[bool]string{true: "}", false: ","}[last])
		}
		if s.Names != nil {
			line("names", s.Names, false)
		}
		line("light", s.Light, s.Dark == nil)
		if s.Dark != nil {
			line("dark", s.Dark, s.SafeLight == nil)
		}
		if s.SafeLight != nil {
			line("safeLight", s.SafeLight, false)
			line("safeDark", s.SafeDark, true)
		}
		if i < len(f.Sections)-1 {
			b.WriteString("    ,\n")
		}
	}
	b.WriteString("  ]\n}\n")
	return []byte(b.String())
}

// hex gives the nearest colour of sRGB, with less chroma where there is none.
func (x lch) hex() string {
	for c := x.c; ; c = max(c-0.002, 0) {
		rgb, ok := oklchToLinear(lch{x.l, c, x.h})
		if !ok && c > 0 {
			continue
		}
		out := ""
		for _, v := range rgb {
			out += fmt.Sprintf("%02x", uint8(gamma(min(max(v, 0), 1))*255+0.5))
		}
		return out
	}
}

func oklchToLinear(x lch) (rgb [3]float64, inside bool) {
	a, b := x.c*math.Cos(x.h*math.Pi/180), x.c*math.Sin(x.h*math.Pi/180)
	l := x.l + 0.3963377774*a + 0.2158037573*b
	m := x.l - 0.1055613458*a - 0.0638541728*b
	s := x.l - 0.0894841775*a - 1.2914855480*b
	l, m, s = l*l*l, m*m*m, s*s*s
	rgb = [3]float64{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	}
	inside = true
	for _, v := range rgb {
		inside = inside && v > -0.0005 && v < 1.0005
	}
	return rgb, inside
}

func gamma(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// oklab places a colour of linear light in OKLab.
func oklab(c [3]float64) [3]float64 {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func linearOf(c color.NRGBA) [3]float64 { return [3]float64{linear(c.R), linear(c.G), linear(c.B)} }
