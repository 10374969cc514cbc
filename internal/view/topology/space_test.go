package topology_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

func spaceOf(t *testing.T, s *scene.Scene) *scene.Space {
	t.Helper()
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if space, ok := m.(*scene.Space); ok {
				return space
			}
		}
	}
	t.Fatal("no space in the scene")
	return nil
}

// many has n ranks whose time in solve is their rank plus one.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..%d solve\n", i, i, i+1)
	}
	return b.String()
}

// threads writes as many locations as many, the threads of some ranks.
func threads(ranks, each int) string {
	var b strings.Builder
	for i := range ranks {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n", i, i)
		for k := range each {
			fmt.Fprintf(&b, "  location thread \"thread %d\"\n    0..%d solve\n", k, i*each+k+1)
		}
	}
	return b.String()
}

// Wherever a point is drawn in front of all others, Pick names its location.
func TestPickNamesTheLocationThatIsDrawn(t *testing.T) {
	for _, shape := range scene.FormNames {
		for _, camera := range []string{"30,20,1", "200,-35,1.4,0.1,0", "90,90,1"} {
			c := viewtest.Case{Trace: many(125), Options: map[string][]string{"shape": {shape}, "camera": {camera}, "point": {"0.5"}}}
			if shape == "bars" || shape == "mesh" {
				c.Options["layout"] = []string{"plane"}
			}
			r := c.Compute(t, topology.View, c.Open(t))
			s := r.Scene(scene.Size{Width: 700, Height: 500})
			m := spaceOf(t, s)
			p := m.Project()
			found := 0
			for i := range m.Len() {
				top := float64(m.PZ[i])
				if shape == "bars" {
					top += m.BarHeight(i)
				}
				x, y, _ := p.At(float64(m.PX[i]), float64(m.PY[i]), top)
				if at, ok := m.Pick(x, y); !ok || at != i || x < 0 || y < 0 || x >= s.Width || y >= s.Height {
					continue // another one is in front, or it is out of sight
				}
				found++
				f, ok, _ := view.PickAt(r, s, x, y)
				if want := fmt.Sprintf("rank %d", i); !ok || f.Title != want || len(f.Locations) != 1 {
					t.Fatalf("%s, camera %s: %q at the place of %q", shape, camera, f.Title, want)
				}
				if by, _, _ := view.FactOf(r, scene.Item{Of: 1, A: int32(i)}); by.Title != f.Title {
					t.Fatalf("item %d is %q, at its place is %q", i, by.Title, f.Title)
				}
			}
			if found < 25 {
				t.Errorf("%s, camera %s: only %d of 125 are found where they are drawn", shape, camera, found)
			}
			if _, ok, _ := view.PickAt(r, s, 1, 1); ok {
				t.Errorf("%s: something is picked in an empty corner", shape)
			}
		}
	}
}

func TestAFourthDimensionIsAveragedOrLaidOut(t *testing.T) {
	var b strings.Builder
	b.WriteString(many(8) + "topology grid 2x2x1x2\n")
	for i := range 8 {
		fmt.Fprintf(&b, "  at \"rank %d\" %d,%d,0,%d\n", i, i/2%2, i/4, i%2)
	}
	at := func(cores string) (*scene.Space, []float64) {
		c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"cores": {cores}, "event0": {"solve"}}}
		return spaceOf(t, c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 400, Height: 300})), colours(t, b.String(), c.Options)
	}
	m, values := at("mean")
	drawn := 0
	for i := range m.Len() {
		if m.Look(i) != scene.None {
			drawn++
		}
	}
	if drawn != 4 || values[0] != 1.5 || values[7] != 7.5 {
		t.Errorf("%d places, means %v; want 4 of 1.5 … 7.5", drawn, values)
	}
	if m, _ := at("expand"); m.PX[0] != 0 || m.PX[1] != 1 || m.PX[2] != 3 {
		t.Errorf("x of the first ranks is %v, %v, %v; want cores beside each other and a gap to the next place", m.PX[0], m.PX[1], m.PX[2])
	}
}

// The layout torus is one: 64 places at one distance from a ring.
func TestTheTorusPlacesAllRanksAtOneDistanceFromItsRing(t *testing.T) {
	c := viewtest.Case{Trace: many(64), Options: map[string][]string{"layout": {"torus"}}}
	places := map[[3]float64]bool{}
	for _, p := range points(t, c) {
		x, y, z := float64(*p.X), float64(*p.Y), float64(*p.Z)
		places[[3]float64{x, y, z}] = true
		if d := math.Hypot(math.Hypot(x, y)-100, z); math.Abs(d-35) > 1e-9 {
			t.Errorf("rank %d is %v from the ring", *p.Rank, d)
		}
	}
	if len(places) != 64 {
		t.Errorf("%d places of 64 ranks", len(places))
	}
}

func TestBoxesAndTreesAreLayouts(t *testing.T) {
	place := func(trace, layout string) (out []string) {
		c := viewtest.Case{Trace: trace, Options: map[string][]string{"layout": {layout}}}
		for _, p := range c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data).Points {
			out = append(out, fmt.Sprintf("%g,%g,%g", float64(*p.X), float64(*p.Y), float64(*p.Z)))
		}
		return out
	}
	if got := strings.Join(place(many(5), "fill:2x2x2"), " "); got != "0,0,0 1,0,0 0,1,0 1,1,0 0,0,1" {
		t.Error("filled as", got)
	}
	if got := strings.Join(place(rich, "hierarchy"), " "); got != "0,0,0 1,0,0 0,1,0" {
		t.Error("the tree is placed as", got)
	}
	c := viewtest.Case{Trace: many(9), Options: map[string][]string{"layout": {"fill:2x2x2"}}}
	if _, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t))); err == nil {
		t.Error("9 ranks fit into a box of 8")
	}
}

func TestAMapPlacesRanksOnACray(t *testing.T) {
	const names = "text:\n0:c0-0c0s0n0\n1:c1-0c0s2n1\n2:c0-1c1s0n0\n"
	c := viewtest.Case{Trace: many(3), Options: map[string][]string{"map": {names}}}
	d := c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data)
	if d.Layout != "cray" || float64(*d.Points[1].X) != 1 || float64(*d.Points[1].Z) != 2 || float64(*d.Points[2].Y) != 1 || float64(*d.Points[2].Z) != 8 {
		t.Errorf("layout %s: rank 1 at %v, %v, rank 2 at %v, %v", d.Layout, float64(*d.Points[1].X), float64(*d.Points[1].Z), float64(*d.Points[2].Y), float64(*d.Points[2].Z))
	}
	c.Options["layout"] = []string{"strict:\nBEGIN_VIZ=m\nx=metadata(x)\ny=coordY\nz=metadata(slot)\nEND_VIZ"}
	if d := c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data); float64(*d.Points[1].X) != 1 || float64(*d.Points[2].Y) != 1 || float64(*d.Points[1].Z) != 2 {
		t.Errorf("a layout sees rank 1 at %v, %v", float64(*d.Points[1].X), float64(*d.Points[1].Z))
	}
}

func TestTheRangeCanBeLocked(t *testing.T) {
	c := viewtest.Case{Trace: many(4), Options: map[string][]string{"range": {"-10,100"}, "event0": {"solve"}}}
	s := c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 400, Height: 300})
	if m := spaceOf(t, s); m.Low != -10 || m.High != 100 || s.Legend[0].RampHigh != "100 ns" {
		t.Errorf("colours run from %v to %v, legend to %q", m.Low, m.High, s.Legend[0].RampHigh)
	}
}

// Errors of the editor say where they are.
func TestFaultsOfALayoutHaveTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"strict:a\nBEGIN_VIZ=a\nx=q\ny=0\nz=0\nEND_VIZ":        "2:3 x=q\n  ^",
		"strict:a\nBEGIN_VIZ=a\nx=1+\ny=0\nz=0\nEND_VIZ":       "3:2 y=0\n ^",
		"strict:a\nBEGIN_VIZ=a\nx=sin(1,2)\ny=0\nz=0\nEND_VIZ": "2:3 x=sin(1,2)\n  ^",
		"strict:a\nx=1": "1:1 x=1\n^",
	} {
		c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {text}}}
		_, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t)))
		placed, ok := findPlace(err)
		if got := fmt.Sprintf("%d:%d %s", placed.line, placed.column, placed.caret); !ok || got != want {
			t.Errorf("%q: error %v at %q, want %q", text, err, got, want)
		}
	}
}

type place struct {
	line, column int
	caret        string
}

func findPlace(err error) (p place, ok bool) {
	for ; err != nil; err = unwrap(err) {
		if x, is := err.(interface{ Place() (int, int, string) }); is {
			p.line, p.column, p.caret = x.Place()
			return p, true
		}
	}
	return p, false
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

// Every layout that TAU ships can be read, and places 64 threads of 4 ranks as it does 256 ranks: each at its own place.
func TestLayoutsOfTAUAreRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "analysis", "formula", "testdata", "example_topologies.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "BEGIN_VIZ=")
		if !ok {
			continue
		}
		places := map[string]int{}
		for of, trace := range map[string]string{"ranks": many(256), "threads": threads(4, 64)} {
			c := viewtest.Case{Trace: trace, Options: map[string][]string{"layout": {"text:" + name + "\n" + string(text)}}}
			d := c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data)
			if d.Unplaced > 0 || len(d.Points)%256 != 0 || d.Layout != name {
				t.Errorf("%s of %s: layout %s, %d points, %d unplaced", name, of, d.Layout, len(d.Points), d.Unplaced)
			}
			met := map[[3]float64]bool{}
			for _, p := range d.Points {
				met[[3]float64{float64(*p.X), float64(*p.Y), float64(*p.Z)}] = true
			}
			places[of] = len(met)
		}
		if places["threads"] != places["ranks"] || places["ranks"] < 256 {
			t.Errorf("%s: places %v", name, places)
		}
	}
}
