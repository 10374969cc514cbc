package topology_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// line is n ranks whose coordinates have one side alone.
func line(n int) string {
	var b strings.Builder
	b.WriteString(many(n) + fmt.Sprintf("topology \"process x thread\" %dx1\n", n))
	for i := range n {
		fmt.Fprintf(&b, "  at \"rank %d\" %d,0\n", i, i)
	}
	return b.String()
}

// wide is how many places points have along x and y.
func wide(points []topology.Point) (x, y int) {
	for _, p := range points {
		x, y = max(x, int(float64(*p.X))+1), max(y, int(float64(*p.Y))+1)
	}
	return x, y
}

func TestALongLineOpensInRows(t *testing.T) {
	c := viewtest.Case{Trace: line(128)}
	r := c.Compute(t, topology.View, c.Open(t))
	d := r.Data().(topology.Data)
	if x, y := wide(d.Points); x != 16 || y != 8 || d.Layout != "rows" {
		t.Errorf("layout %s, %d × %d", d.Layout, x, y)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, `--layout "process x thread" shows the line`) {
		t.Errorf("notes are %q", notes)
	}
	c.Options = map[string][]string{"layout": {"process x thread"}}
	if x, y := wide(points(t, c)); x != 128 || y != 1 {
		t.Errorf("the line has %d × %d", x, y)
	}
	if x, y := wide(points(t, viewtest.Case{Trace: line(32)})); x != 32 || y != 1 {
		t.Errorf("a short line opens as %d × %d", x, y)
	}
}

func TestRowsAreAsWideAsADivisor(t *testing.T) {
	for n, want := range map[int]int{5: 5, 7: 4, 8: 4, 12: 4, 16: 4, 17: 6, 32: 8, 60: 10, 64: 8, 96: 12, 97: 13, 128: 16, 256: 16} {
		c := viewtest.Case{Trace: many(n), Options: map[string][]string{"layout": {"rows"}}}
		if x, _ := wide(points(t, c)); x != want {
			t.Errorf("%d locations: rows of %d, want %d", n, x, want)
		}
	}
}

// Containers without locations do not count, and steps that tell nothing apart are no axis.
func TestTheHierarchyCountsOnlyWhatHoldsLocations(t *testing.T) {
	var b strings.Builder
	for node := range 3 {
		fmt.Fprintf(&b, "location machine n%d\n", node)
		for core := range 40 {
			fmt.Fprintf(&b, "  location process c%d.%d\n", node, core)
			if core >= 37 {
				fmt.Fprintf(&b, "    location thread t\n      0..%d solve\n", core+node)
			}
		}
	}
	c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"layout": {"hierarchy"}}}
	var got []string
	for _, p := range points(t, c) {
		got = append(got, fmt.Sprintf("%g,%g,%g", float64(*p.X), float64(*p.Y), float64(*p.Z)))
	}
	if s := strings.Join(got, " "); s != "0,0,0 1,0,0 2,0,0 0,1,0 1,1,0 2,1,0 0,2,0 1,2,0 2,2,0" {
		t.Error(s)
	}
}

// Two axes are seen straight and fill the picture, three obliquely; who sets a camera has it.
func TestAPlaneIsSeenFromAbove(t *testing.T) {
	of := func(options map[string][]string) *scene.Space {
		c := viewtest.Case{Trace: many(64), Options: options}
		return spaceOf(t, c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 500}))
	}
	for layout, want := range map[string][2]float64{"x=mod(rank,8)\ny=floor(rank/8)\nz=0": {0, 90}, "x=rank\ny=0\nz=event0.val": {0, 0}, "x=3\ny=rank\nz=mod(rank,4)": {270, 0}} {
		m := of(map[string][]string{"layout": layoutOf(layout)})
		if m.Camera.Azimuth != want[0] || m.Camera.Elevation != want[1] {
			t.Errorf("%s: camera %+v", layout, m.Camera)
		}
		p := m.Project()
		x0, y0, _ := p.At(m.Axes[0].Begin, m.Axes[1].Begin, m.Axes[2].Begin)
		x1, y1, _ := p.At(m.Axes[0].End, m.Axes[1].End, m.Axes[2].End)
		if w, h := x1-x0, y0-y1; w <= 0 || h <= 0 || w > 800 || h > 500 || w < 500 && h < 340 {
			t.Errorf("%s: %v × %v pixels", layout, w, h)
		}
	}
	for _, options := range []map[string][]string{{"layout": {"block"}}, {"layout": {"plane"}, "camera": {"30,20,1"}}, {"layout": {"plane"}, "shape": {"bars"}}} {
		if m := of(options); m.Camera != scene.UsualCamera {
			t.Errorf("%v: camera %+v", options, m.Camera)
		}
	}
}

// A few locations in a plane have their names beside them; in space, and of many, names would be in the way.
func TestFewLocationsInAPlaneHaveTheirNames(t *testing.T) {
	for _, c := range []struct {
		layout string
		n      int
		want   int
	}{{"plane", 16, 16}, {"block", 27, 0}, {"plane", 128, 0}} {
		x := viewtest.Case{Trace: many(c.n), Options: map[string][]string{"layout": {c.layout}}}
		m := spaceOf(t, x.Compute(t, topology.View, x.Open(t)).Scene(scene.Size{Width: 800, Height: 500}))
		if len(m.Labels) != c.want || c.want > 0 && m.Labels[1].Text != "rank 1" {
			t.Errorf("%s of %d: %v", c.layout, c.n, m.Labels)
		}
	}
}

// No disc lies over a label.
func TestLabelsKeepClearOfDiscs(t *testing.T) {
	for _, layout := range []string{"plane", "rows", "block", "cylinder", "hierarchy"} {
		for _, camera := range []string{"", "30,20,1", "60,45,1", "200,-35,1", "10,5,1"} {
			for _, n := range []int{4, 30, 128} {
				c := viewtest.Case{Trace: many(n), Options: map[string][]string{"layout": {layout}}}
				if camera != "" {
					c.Options["camera"] = []string{camera}
				}
				m := spaceOf(t, c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 500}))
				if text := covered(m); text != "" {
					t.Errorf("%s of %d, camera %q: a disc lies over %q", layout, n, camera, text)
				}
			}
		}
	}
}

// covered gives a label that a disc reaches into, "" where none does.
func covered(m *scene.Space) string {
	marks := m.Flatten()
	labels := marks[len(marks)-1].(*scene.Text)
	for _, mark := range marks {
		discs, ok := mark.(*scene.Point)
		if !ok {
			continue
		}
		for k, text := range labels.Text {
			w := scene.TextWidth(text, labels.Size, false)
			left := labels.X[k]
			switch labels.Anchor[k] {
			case scene.Middle:
				left -= w / 2
			case scene.End:
				left -= w
			}
			top, bottom := labels.Y[k]-8, labels.Y[k]
			for i := range discs.X {
				dx := max(left-discs.X[i], discs.X[i]-left-w, 0)
				dy := max(top-discs.Y[i], discs.Y[i]-bottom, 0)
				if math.Hypot(float64(dx), float64(dy)) < float64(discs.R[i])-0.5 {
					return text
				}
			}
		}
	}
	return ""
}
