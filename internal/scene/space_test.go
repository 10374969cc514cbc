package scene

import (
	"math"
	"reflect"
	"testing"
)

func TestRunsDescribeLocationsAtEqualSteps(t *testing.T) {
	for _, c := range []struct {
		ids  []uint32
		want []SpaceRun
	}{
		{nil, nil},
		{[]uint32{7}, []SpaceRun{{0, 7, 1}}},
		{[]uint32{1, 2, 3}, []SpaceRun{{0, 1, 1}}},
		{[]uint32{1, 3, 5, 6, 7}, []SpaceRun{{0, 1, 2}, {3, 6, 1}}},
		{[]uint32{5, 4}, []SpaceRun{{0, 5, 1}, {1, 4, 1}}},
		{[]uint32{5, 5}, []SpaceRun{{0, 5, 1}, {1, 5, 1}}},
	} {
		if got := RunsOf(c.ids); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: runs %v, want %v", c.ids, got, c.want)
		}
	}
}

// box has side³ things whose values are their index.
func box(side int) *Space {
	m := &Space{W: 600, H: 400, High: float32(side*side*side - 1), Radius: 0.3, Camera: UsualCamera}
	for i := range side * side * side {
		m.Add(float32(i%side), float32(i/side%side), float32(i/side/side), float32(i))
	}
	for a := range m.Axes {
		m.Axes[a] = FitAxis("", 0, float64(side-1), "")
	}
	return m
}

func TestTheRangeShowsInsideOrOutsideAndTheSliceAPlane(t *testing.T) {
	shown := func(f SpaceFilter) (s string) {
		m := box(2)
		m.Filter = f
		for i := range m.Len() {
			s += map[bool]string{true: "1", false: "0"}[m.Look(i) != None]
		}
		return s
	}
	for want, f := range map[string]SpaceFilter{
		"11111111": {},
		"00111100": {Ranged: true, Min: 2, Max: 5},
		"11000011": {Ranged: true, Min: 5, Max: 2},
		"01010101": {Slice: [3]bool{true}, At: [3]float64{1}, Width: [3]float64{1}},
		"01000100": {Slice: [3]bool{true, true}, At: [3]float64{1, 0}, Width: [3]float64{1, 1}},
		"00000001": {Ranged: true, Min: 6, Max: 7, Slice: [3]bool{true}, At: [3]float64{1}, Width: [3]float64{1}},
	} {
		if got := shown(f); got != want {
			t.Errorf("%+v shows %s, want %s", f, got, want)
		}
	}
}

// Whatever the camera, everything fits the picture, and what is drawn last is nearest.
func TestEverythingFitsForEveryCamera(t *testing.T) {
	m := box(4)
	for azimuth := 0.0; azimuth < 360; azimuth += 30 {
		for _, elevation := range []float64{-90, -20, 0, 45, 90} {
			m.Camera = Camera{Azimuth: azimuth, Elevation: elevation, Zoom: 1}
			p := m.Project()
			x, y, depth, _ := m.places(&p)
			for i := range x {
				if !(x[i] >= 0 && x[i] <= 600 && y[i] >= 0 && y[i] <= 400) {
					t.Fatalf("azimuth %v, elevation %v: a thing is drawn at %v, %v", azimuth, elevation, x[i], y[i])
				}
			}
			last := math.Inf(1)
			for _, k := range byDepth(depth, sequence(len(depth))) {
				if depth[k] > last+1e-2 {
					t.Fatalf("a thing at depth %v is drawn after one at %v", depth[k], last)
				}
				last = depth[k]
			}
		}
	}
}

func TestCamerasAreReadWithinReason(t *testing.T) {
	for text, want := range map[string]Camera{
		"":              UsualCamera,
		"10":            {10, 20, 1, 0, 0},
		"10,95,0":       {10, 90, 0.05, 0, 0},
		"1,2,3,0.5,-.5": {1, 2, 3, 0.5, -0.5},
	} {
		if got, err := ParseCamera(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "1,,2", "1,2,3,4,5,6", "NaN", "1,Inf"} {
		if _, err := ParseCamera(text); err == nil {
			t.Errorf("%q is taken for a camera", text)
		}
	}
}

// A million things give a picture that is bounded by its pixels.
func TestAFlatPictureIsBoundedByItsPixels(t *testing.T) {
	for _, form := range []Form{Dots, Balls, Bars, Mesh} {
		m := box(100)
		m.Form, m.Columns, m.Tall, m.Half = form, 100, 1, [2]float32{0.4, 0.4}
		n := 0
		for _, mark := range m.Flatten() {
			n += mark.Len()
		}
		if n > 600*400*5 {
			t.Errorf("%s: %d marks for %d pixels", FormNames[form], n, 600*400)
		}
	}
}

// A peak of a mesh has its own colour: between things of different colours each has the
// part next to it, and of a mesh too fine to be drawn the odd ones are.
func TestPeaksOfAMeshKeepTheirColour(t *testing.T) {
	for _, side := range []int{9, 900} {
		m := &Space{W: 500, H: 400, Form: Mesh, Columns: side, High: 100, Ramp: "viridis", Camera: UsualCamera}
		peak := side/3*side + side/2
		for i := range side * side {
			v := float32(0)
			if i == peak {
				v = 100
			}
			m.Add(float32(i%side), float32(i/side), 0, v)
		}
		for a := range 2 {
			m.Axes[a] = FitAxis("", 0, float64(side-1), "")
		}
		if step := m.MeshStep(); (step > 1) != (side > 100) {
			t.Fatalf("a mesh of %d² is drawn at steps of %d", side, step)
		}
		p := m.Project()
		fills := map[Colour]int{}
		m.quads(&p, func(q *quad) { fills[q.fill]++ })
		if fills[Ramp("viridis", 1)] == 0 || len(fills) != 2 {
			t.Errorf("a mesh of %d² has pieces of the colours %v, and the peak's is %v", side, fills, Ramp("viridis", 1))
		}
		x, y, _ := p.At(float64(m.PX[peak]), float64(m.PY[peak]), 0)
		if side < 100 {
			if got, ok := m.Pick(x+1, y); !ok || got != peak {
				t.Errorf("at the peak %d is picked", got)
			}
		}
	}
}

// In a small panel things take most of the room, and no label is cut.
func TestSmallPicturesAreFilled(t *testing.T) {
	for _, size := range []Size{{180, 120}, {320, 200}, {640, 420}, {1600, 1000}} {
		m := box(8)
		m.W, m.H = float32(size.Width), float32(size.Height)
		for a := range m.Axes {
			m.Axes[a] = FitAxis("a long name of an axis", 0, 7, "")
		}
		p := m.Project()
		down := math.Hypot(7, 7)*math.Abs(p.sinE) + 7*p.cosE
		if share := down * p.Scale / float64(size.Height); share < 0.7 {
			t.Errorf("at %v the box is %.0f %% of the height", size, 100*share)
		}
		for _, mark := range m.Flatten() {
			text, ok := mark.(*Text)
			if !ok {
				continue
			}
			for i := range text.Len() {
				w := TextWidth(text.Text[i], TextSize, false)
				left := text.X[i] - w*map[Anchor]float32{Start: 0, Middle: 0.5, End: 1}[text.Anchor[i]]
				if left < -1 || left+w > m.W+1 || text.Y[i] > m.H || text.Y[i] < 8 {
					t.Errorf("at %v %q is cut: it begins at %v, %v", size, text.Text[i], left, text.Y[i])
				}
			}
		}
	}
}

// Few dots can be seen, many leave room; who asks for smaller ones gets them.
func TestDotsAreAsLargeAsTheirNumberAllows(t *testing.T) {
	size := Size{Width: 640, Height: 420}
	for n, want := range map[int]float64{1: 3, 100: 3, 1000: 2.6, 10_000: 0.9, 1_000_000: 0.9} {
		if got := LeastDot(n, size); math.Abs(float64(got)-want) > 0.05 {
			t.Errorf("%d dots are at least %v pixels, want %v", n, got, want)
		}
	}
	m := box(10)
	m.Radius, m.Least = 1e-6, 2
	p := m.Project()
	if r := m.dotRadius(&p); r != 2 {
		t.Errorf("the radius is %v", r)
	}
}

func TestLinksRunBetweenThingsThatAreShown(t *testing.T) {
	m := box(2)
	m.Links.Add(0, 1, UIAxis)
	m.Links.Add(1, 7, UIText)
	m.Links.Add(0, 99, UIText) // nowhere
	lines := func() int {
		p := m.Project()
		return m.flattenLinks(&p).Len()
	}
	if n := lines(); n != 2 {
		t.Errorf("%d lines of 2", n)
	}
	m.Filter = SpaceFilter{Ranged: true, Min: 0, Max: 3}
	if n := lines(); n != 1 {
		t.Errorf("%d lines where the thing 7 is hidden", n)
	}
	m.Bare = true
	for _, mark := range m.Flatten() {
		if text, ok := mark.(*Text); ok && text.Len() > 0 {
			t.Errorf("a bare picture has labels %v", text.Text)
		}
	}
}

func TestDetailIsStepsOfLight(t *testing.T) {
	last := 0
	for detail := 2; detail <= MostDetail; detail++ {
		m := box(3)
		m.Form, m.Detail = Balls, detail
		p := m.Project()
		n := m.flattenDots(&p).Len() / m.Len()
		if n <= last || detail == 2 && n != 1 {
			t.Errorf("detail %d has %d discs a ball, after %d", detail, n, last)
		}
		last = n
	}
}

// Things in a row stand on the axis itself: its numbers are written beside them, not on them.
func TestNumbersOfARowKeepClearOfItsThings(t *testing.T) {
	m := &Space{W: 1600, H: 950, Form: Balls, Camera: Camera{Azimuth: 30, Elevation: 20, Zoom: 1}, Radius: 1}
	m.Axes[0] = FitAxis("process", 0, 127, "count")
	for i := range 128 {
		m.PX, m.PY, m.PZ = append(m.PX, float32(i)), append(m.PY, 0), append(m.PZ, 0)
	}
	p := m.Project()
	text := m.flattenAxes(&p)[2].(*Text)
	r := m.dotRadius(&p)
	if text.Len() < 4 {
		t.Fatalf("only %q is written", text.Text)
	}
	for i, s := range text.Text {
		top := float64(text.Y[i]) - TextSize
		for k := range m.PX {
			x, y, _ := p.At(float64(m.PX[k]), 0, 0)
			if math.Abs(x-float64(text.X[i])) < 2 && y+r > top+3 {
				t.Errorf("%q begins at %.0f, a ball ends at %.0f", s, top, y+r)
			}
		}
	}
}
