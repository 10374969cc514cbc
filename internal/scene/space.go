package scene

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Space is a plot in three dimensions. The page turns it by itself, without asking again; the headless renderers draw
// the result of Flatten, so that both show the same. Thing i is at PX[i], PY[i], PZ[i] in units of the axes;
// things that are not finite are not drawn. The numbers of the columns travel once: a page that has them is not sent
// them again, see package wire.
//
// A view fills the columns, sets the axes (FitAxis) and gives them sizes; to make
// things items it has Of.
type Space struct {
	// The part of the picture that it takes, in pixels.
	X, Y, W, H float32
	Form       Form
	PX, PY, PZ []float32
	// Value decides the colour, from Low (the ramp's first) to High (its last), and the
	// height of a bar; NaN: not drawn.
	Value     []float32
	Low, High float32
	Unit      string   // of the values: "ns", "bytes", "count", "share" or ""
	Ramp      string   // as in RampNames
	Fill      []Colour `wire:"optional"` // nil: by Value
	// Radius of dots and balls in units of the stretched box; drawn no smaller than Least
	// pixels, see LeastDot; 0: about a pixel.
	Radius, Least float32
	// Detail is how many steps of light and shadow a ball has, 2 to MostDetail; 0: 3.
	Detail int
	// Half is half the width of bars along x and y, Tall the height of one of the value
	// High, in units of the axes. A bar is on its place; one of the value Base has no height.
	Half [2]float32
	Tall float32
	Base float32
	// Columns is how many things a row of a mesh has: i is joined with i+1 and i+Columns.
	// Joints longer than Gap, in units of the stretched box, are left open; 0: none.
	Columns int
	Gap     float32
	Axes    [3]SpaceAxis
	Bare    bool // no box, ticks and names are drawn
	Camera  Camera
	Filter  SpaceFilter
	Links   SpaceLinks
	// Labels name things, the most important first: those for which there is no room are
	// left out.
	Labels []SpaceLabel `wire:"-"`
	// Runs say which locations the things are, so that the page can mark those chosen elsewhere; nil: unknown. See
	// RunsOf.
	Runs []SpaceRun `wire:"-"`
	// The things are items {Of, index} unless Of is 0.
	Of uint8
}

// A SpaceLabel is the name of a thing.
type SpaceLabel struct {
	Thing uint32
	Text  string
}

// SpaceLinks are lines between things, drawn behind them; those of things that are not
// shown are left out.
type SpaceLinks struct {
	From, To []uint32
	Fill     []Colour
	// Part is how far each runs of the way to its end; less than 0: the other way, as a line that goes round the edge
	// of a torus does. Nil: all the way.
	Part  []float32
	Width float32 // in pixels; 0: 1
}

// Add appends one line.
func (l *SpaceLinks) Add(from, to int, fill Colour) {
	l.AddPart(from, to, 1, fill)
}

// AddPart appends a line that runs only a part of the way.
func (l *SpaceLinks) AddPart(from, to int, part float32, fill Colour) {
	l.From, l.To, l.Fill = append(l.From, uint32(from)), append(l.To, uint32(to)), append(l.Fill, fill)
	if part != 1 && l.Part == nil {
		l.Part = slices.Repeat([]float32{1}, len(l.From)-1)
	}
	if l.Part != nil {
		l.Part = append(l.Part, part)
	}
}

// MostDetail is the most that Detail may be.
const MostDetail = 6

// LeastDot returns how small the dots of a picture may be, in pixels: n of them leave most of
// it free, and a few can be seen well.
func LeastDot(n int, size Size) float32 {
	area := float64(size.Width) * float64(size.Height)
	return float32(min(max(math.Sqrt(0.08*area/math.Pi/float64(max(n, 1))), 0.9), 3))
}

// A SpaceRun is a stretch of things, up to the next run, whose locations follow each
// other at equal steps: that of thing i is Location + (i - First) × Step.
type SpaceRun struct{ First, Location, Step uint32 }

// RunsOf describes the locations of things in their order. Those of most trees follow
// each other at equal steps, so there are few runs.
func RunsOf[T ~uint32](locations []T) []SpaceRun {
	var out []SpaceRun
	for i := 0; i < len(locations); {
		r := SpaceRun{First: uint32(i), Location: uint32(locations[i]), Step: 1}
		if i+1 < len(locations) && locations[i+1] > locations[i] {
			r.Step = uint32(locations[i+1] - locations[i])
		}
		for i++; i < len(locations) && uint32(locations[i]) == r.Location+(uint32(i)-r.First)*r.Step; i++ {
		}
		out = append(out, r)
	}
	return out
}

// A Form is the shape of a thing in space.
type Form uint8

const (
	Dots  Form = iota // flat discs
	Balls             // lit spheres
	Bars              // boxes whose height is the value
	Mesh              // a surface through all places
)

// FormNames are the forms as options and the wire call them.
var FormNames = []string{"points", "spheres", "bars", "mesh"}

// FormOf returns the form of a name, and Dots for an unknown one.
func FormOf(name string) Form {
	for i, n := range FormNames {
		if n == name {
			return Form(i)
		}
	}
	return Dots
}

// A SpaceAxis is one direction of the box that holds everything.
type SpaceAxis struct {
	Label      string
	Begin, End float64
	// Stretch turns units of the axis into units of the box; 0: 1.
	Stretch float64
	Ticks   []Tick
}

// FitAxis makes an axis from lo to hi with round ticks. Unit is as for LinearTicks.
func FitAxis(label string, lo, hi float64, unit string) SpaceAxis {
	a := SpaceAxis{Label: label, Begin: lo, End: hi, Stretch: 1}
	if hi > lo {
		a.Ticks = LinearTicks(lo, hi, 6, unit)
	}
	return a
}

// Length returns the axis' part of the box.
func (a *SpaceAxis) Length() float64 { return (a.End - a.Begin) * a.stretch() }

func (a *SpaceAxis) stretch() float64 {
	if a.Stretch == 0 {
		return 1
	}
	return a.Stretch
}

// A SpaceFilter says which things are shown. It does not change places, so the
// page applies it by itself.
type SpaceFilter struct {
	// Ranged: Min ≤ value ≤ Max; where Min > Max, value > Min or value < Max.
	Ranged   bool
	Min, Max float64
	// Slice keeps things within half of Width of At, on each axis chosen.
	Slice     [3]bool
	At, Width [3]float64
}

// Shows reports whether the filter keeps a thing.
func (f *SpaceFilter) Shows(value float64, at [3]float64) bool {
	if f.Ranged {
		switch {
		case math.IsNaN(value) || math.IsInf(value, 0):
			return false
		case f.Min <= f.Max && !(f.Min <= value && value <= f.Max):
			return false
		case f.Min > f.Max && !(value > f.Min || value < f.Max):
			return false
		}
	}
	return f.Holds(at)
}

// Holds reports whether a place is in the slice.
func (f *SpaceFilter) Holds(at [3]float64) bool {
	for a := range 3 {
		if f.Slice[a] && !(f.At[a]-f.Width[a]/2 <= at[a] && at[a] < f.At[a]+f.Width[a]/2) {
			return false
		}
	}
	return true
}

// A Camera looks at the middle of the box from far away. Angles are in degrees:
// azimuth turns round the vertical, elevation is 90 from above. Zoom 1 shows all.
// Pan moves the picture, in shares of its smaller side.
type Camera struct{ Azimuth, Elevation, Zoom, PanX, PanY float64 }

// UsualCamera is the camera where none is given.
var UsualCamera = Camera{Azimuth: 30, Elevation: 20, Zoom: 1}

// ParseCamera reads azimuth,elevation,zoom[,panX,panY]; omitted values are those of UsualCamera.
func ParseCamera(text string) (Camera, error) {
	c := UsualCamera
	for k, part := range strings.Split(text, ",") {
		if strings.TrimSpace(part) == "" && text == "" {
			break
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || k > 4 || math.IsNaN(v) || math.IsInf(v, 0) {
			return UsualCamera, fmt.Errorf("--camera %q: want azimuth,elevation,zoom[,panX,panY]", text)
		}
		*[]*float64{&c.Azimuth, &c.Elevation, &c.Zoom, &c.PanX, &c.PanY}[k] = v
	}
	c.Elevation = min(max(c.Elevation, -90), 90)
	c.Zoom = min(max(c.Zoom, 0.05), 200)
	c.PanX, c.PanY = min(max(c.PanX, -100), 100), min(max(c.PanY, -100), 100)
	return c, nil
}

func (*Space) Kind() string { return "space" }
func (m *Space) Len() int   { return len(m.PX) }

// Add appends one thing.
func (m *Space) Add(x, y, z, value float32) {
	m.PX, m.PY, m.PZ, m.Value = append(m.PX, x), append(m.PY, y), append(m.PZ, z), append(m.Value, value)
}

// Look returns the colour of thing i as it is shown, None where the filter hides it.
func (m *Space) Look(i int) Colour {
	v := float64(m.Value[i])
	if math.IsNaN(v) || !m.Filter.Shows(v, [3]float64{float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])}) {
		return None
	}
	if len(m.Fill) > 0 {
		return m.Fill[i]
	}
	share := 0.0
	if m.High > m.Low {
		share = (v - float64(m.Low)) / (float64(m.High) - float64(m.Low))
	}
	return Ramp(m.Ramp, share)
}

// Mean returns the mean value of the things in the slice, for any range filter, and their number; NaN for none.
func (m *Space) Mean() (mean float64, n int) {
	sum := 0.0
	for i := range m.PX {
		at := [3]float64{float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i])}
		v := float64(m.Value[i])
		if finite(at[0]) && finite(at[1]) && finite(at[2]) && finite(v) && m.Filter.Holds(at) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n), n
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
