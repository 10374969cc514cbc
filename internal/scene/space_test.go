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
func TestEverythingFitsWhateverTheSide(t *testing.T) {
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
