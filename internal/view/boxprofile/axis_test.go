package boxprofile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

// layerOf gives the marks of a layer.
func layerOf(t *testing.T, s *scene.Scene, name string) *scene.Layer {
	t.Helper()
	for i := range s.Layers {
		if s.Layers[i].Name == name {
			return &s.Layers[i]
		}
	}
	t.Fatalf("no layer %s", name)
	return nil
}

// zeros has calls of 0, 1, 3 and 7 µs in equal parts, and waits of some milliseconds, as
// the computing and PMPI_Wait of a simulated LINPACK.
func zeros() string {
	var b strings.Builder
	b.WriteString("location process \"rank 0\" rank=0\n")
	at := 0
	for i := range 40 {
		fmt.Fprintf(&b, "  %dus..%dus computing\n", at, at+[]int{0, 1, 3, 7}[i%4])
		fmt.Fprintf(&b, "  %dus..%dus PMPI_Wait\n", at+10, at+2010+i)
		at += 3000
	}
	return b.String()
}

// TestTheLogAxisReachesTheSmallestValueDrawn: the lowest quantile of one region is 0 and
// says nothing about where its others lie.
func TestTheLogAxisReachesTheSmallestValueDrawn(t *testing.T) {
	c := viewtest.Case{Trace: zeros()}
	r := c.Compute(t, boxprofile.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 800, Height: 300})
	f := s.Frames[2]
	if f.XScale.Kind != "log" || f.XScale.Begin > 750 {
		t.Errorf("the axis begins at %g ns, want at most 750: the first quartile of computing", f.XScale.Begin)
	}
	x := find(data(t, c), "computing", "rank 0")
	if *x.Q02 != 0 || *x.Q25 != 750 || *x.Q75 != 4000 {
		t.Fatalf("%+v", x)
	}
	bodies := layerOf(t, s, "boxes").Marks[1].(*scene.Rect)
	found := false
	for i := range bodies.Len() {
		found = found || near(bodies.X[i], f.XPixel(750)) && near(bodies.X[i]+bodies.W[i], f.XPixel(4000))
	}
	if !found {
		t.Errorf("no box from 750 ns to 4 µs: %v %v", bodies.X, bodies.W)
	}
	if !strings.Contains(legendText(s), "down to 0") {
		t.Errorf("the legend does not say that a whisker reaches 0: %s", legendText(s))
	}
}

func near(a, b float32) bool { return a-b < 0.6 && b-a < 0.6 }

func legendText(s *scene.Scene) string {
	out := ""
	for _, e := range s.Legend {
		out += e.Label + "; "
	}
	return out
}

// TestValuesBeyondTheAxisAreMarkedAsCut: zoomed in, a box that goes on carries a mark
// at the edge and no cap there; one that lies outside carries the mark alone.
func TestValuesBeyondTheAxisAreMarkedAsCut(t *testing.T) {
	for _, stretch := range []string{"log", "linear"} {
		c := viewtest.Case{Trace: zeros(), Options: map[string][]string{"min": {"2us"}, "max": {"2020us"}, "value-scale": {stretch}}}
		s := c.Compute(t, boxprofile.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 300})
		f := s.Frames[2]
		left, right := 0, 0
		for _, m := range layerOf(t, s, "boxes").Marks {
			if p, ok := m.(*scene.Polygon); ok {
				for i := range p.Len() {
					switch xs, _ := p.Corners(i); xs[0] {
					case f.X:
						left++
					case f.X + f.W:
						right++
					}
				}
			}
		}
		if left != 1 || right != 1 {
			t.Errorf("%s: %d marks on the left and %d on the right, want one each", stretch, left, right)
		}
		c.Options["min"], c.Options["max"] = []string{"50us"}, []string{"100us"}
		s = c.Compute(t, boxprofile.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 300})
		for _, m := range layerOf(t, s, "boxes").Marks {
			if _, ok := m.(*scene.Polygon); !ok && m.Len() > 0 {
				t.Errorf("%s: a box is drawn between 50 and 100 µs, where there is none: %s", stretch, viewtest.Dump(s))
			}
		}
	}
}

// ranks gives n equal ranks with one call each of a few regions.
func ranks(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n", k, k)
		for i, name := range []string{"alpha", "beta", "gamma", "delta"} {
			fmt.Fprintf(&b, "  %dus..%dus %s\n  %dus..%dus %s\n", 1000*i, 1000*i+10, name, 1000*i+100, 1000*i+140, name)
		}
	}
	return b.String()
}

// TestEqualLanesStayApart: of 64 equal ranks each has a bar, a colour and a box of its own.
func TestEqualLanesStayApart(t *testing.T) {
	c := viewtest.Case{Trace: ranks(64), Size: scene.Size{Width: 1600, Height: 816}}
	s := c.Compute(t, boxprofile.View, c.Open(t)).Scene(c.Size)
	for _, name := range []string{"locations", "calls", "boxes"} {
		m := layerOf(t, s, name).Marks[0].(*scene.Rect)
		for i := 1; i < m.Len(); i++ {
			if gap := m.Y[i] - m.Y[i-1] - m.H[i-1]; gap < 1 || m.Y[i] != float32(int(m.Y[i])) {
				t.Fatalf("%s: %g pixels between lane %d and the one above, at %g", name, gap, i, m.Y[i])
			}
		}
	}
	colours := map[scene.Colour]bool{}
	m := layerOf(t, s, "locations").Marks[0].(*scene.Rect)
	for i := range 64 {
		colours[m.Fill[i]] = true
	}
	if len(colours) != 64 {
		t.Errorf("64 locations have %d colours", len(colours))
	}
}

// TestLabelsOfTheTwoAxesDoNotCollide at any width with labels.
func TestLabelsOfTheTwoAxesDoNotCollide(t *testing.T) {
	c := viewtest.Case{Trace: ranks(8)}
	r := c.Compute(t, boxprofile.View, c.Open(t))
	for width := 400; width <= 1700; width += 37 {
		s := r.Scene(scene.Size{Width: width, Height: 400})
		var ends [][2]float32
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*scene.Text); ok && l.Name == "axis" {
					for i, text := range x.Text {
						w := scene.TextWidth(text, scene.TextSize, false) / 2
						for _, e := range ends {
							if x.X[i]-w < e[1]+4 && x.X[i]+w > e[0]-4 {
								t.Fatalf("at %d pixels %q touches another label", width, text)
							}
						}
						ends = append(ends, [2]float32{x.X[i] - w, x.X[i] + w})
					}
				}
			}
		}
	}
}

// TestOneGroupIsComparedByBlocks: 128 ranks that behave alike are drawn by blocks of
// neighbours, and each where that is asked for.
func TestOneGroupIsComparedByBlocks(t *testing.T) {
	c := viewtest.Case{Trace: ranks(128), Size: scene.Size{Width: 900, Height: 700}}
	r := c.Compute(t, boxprofile.View, c.Open(t))
	d := r.Data().(boxprofile.Data)
	if len(d.Groups) != 8 || len(d.Groups[3].Members) != 16 || d.Groups[3].Name != "rank 48–63" {
		t.Errorf("%d groups, the fourth of %d named %q", len(d.Groups), len(d.Groups[3].Members), d.Groups[3].Name)
	}
	if n := strings.Join(r.Notes(), "; "); !strings.Contains(n, "128 locations are similar") || !strings.Contains(n, "8 in all") {
		t.Errorf("notes %q", n)
	}
	c.Options = map[string][]string{"group": {"ranks"}}
	s := c.Compute(t, boxprofile.View, c.Open(t)).Scene(c.Size)
	if n := layerOf(t, s, "locations").Marks[0].Len(); n < 128 || n%128 != 0 {
		t.Errorf("%d swatches where each of 128 ranks is asked for", n)
	}
}

// A colour a location is a box a location, or a note says why not.
func TestAColourALocationIsABoxEach(t *testing.T) {
	c := viewtest.Case{Trace: ranks(128), Size: scene.Size{Width: 900, Height: 700}, Options: map[string][]string{"colour": {"location"}}}
	s := c.Compute(t, boxprofile.View, c.Open(t)).Scene(c.Size)
	colours := map[scene.Colour]bool{}
	for _, fill := range layerOf(t, s, "locations").Marks[0].(*scene.Rect).Fill {
		colours[fill] = true
	}
	if len(colours) != 128 {
		t.Errorf("%d colours of 128 ranks", len(colours))
	}
	c.Size.Height = 200
	if n := strings.Join(c.Compute(t, boxprofile.View, c.Open(t)).Notes(), "; "); !strings.Contains(n, "--colour location needs a box each") {
		t.Errorf("notes of a low picture: %q", n)
	}
}
