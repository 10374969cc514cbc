package scene_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

func noFaults(t *testing.T, what string, s *scene.Scene) {
	t.Helper()
	for _, f := range scenetest.TextFaults(s) {
		t.Errorf("%s: %s", what, f)
	}
	if err := s.Check(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestTheGalleryHasNoTextOverAnother(t *testing.T) {
	for _, size := range []scene.Size{{Width: 960, Height: 640}, {Width: 480, Height: 360}, {Width: 320, Height: 240}, {Width: 2400, Height: 1400}} {
		noFaults(t, fmt.Sprint(size), scenetest.GalleryAt(size))
	}
}

func TestAxesOfAnyWindowAndSizeAreReadable(t *testing.T) {
	for _, width := range []int{60, 140, 320, 1200} {
		for begin := 0.0; begin < 1e13; begin = begin*31 + 7 {
			for span := 3.0; span < 1e13; span *= 19 {
				s := scene.New(scene.Size{Width: width, Height: 200}, "t", "d")
				f := s.AddFrame(scene.Frame{
					X: 20, Y: 20, W: float32(width) - 40, H: 140,
					XScale: scene.Scale{Kind: "time", Begin: begin, End: begin + span, Label: "time since start"},
					YScale: scene.Scale{Kind: "log", Begin: max(begin, 1), End: begin + span + 2, Label: "duration"},
				})
				s.XAxis(f, scene.Axis{})
				s.YAxis(f, scene.Axis{Unit: "ns", NoLabels: true})
				noFaults(t, fmt.Sprintf("%d pixels, %g + %g", width, begin, span), s)
				if got := countTexts(s); got < width/240 {
					t.Errorf("%d pixels, %g + %g: only %d labels", width, begin, span, got)
				}
			}
		}
	}
}

func TestAVerticalAxisFitsItsRoom(t *testing.T) {
	for _, unit := range []string{"ns", "bytes", "share", "count", ""} {
		for _, kind := range []string{"linear", "log"} {
			for hi := 1e-3; hi < 1e13; hi *= 17 {
				scale := scene.Scale{Kind: kind, Begin: hi / 1e4, End: hi, Label: "what it shows"}
				axis := scene.Axis{Unit: unit}
				s := scene.New(scene.Size{Width: 300, Height: 240}, "t", "d")
				x := scene.YAxisWidth(scale, 180, axis)
				f := s.AddFrame(scene.Frame{X: x, Y: 30, W: 300 - x, H: 180, YScale: scale})
				s.YAxis(f, axis)
				noFaults(t, fmt.Sprintf("%s %s to %g", kind, unit, hi), s)
			}
		}
	}
}

func TestValuesLieWhereTheScaleSays(t *testing.T) {
	f := scene.Frame{
		X: 100, Y: 50, W: 200, H: 100,
		XScale: scene.Scale{Kind: "time", Begin: 10, End: 20}, YScale: scene.Scale{Kind: "log", Begin: 1, End: 100},
	}
	if x := f.XPixel(15); x != 200 {
		t.Errorf("the middle of time is at %v", x)
	}
	if y := f.YPixel(10); math.Abs(float64(y)-100) > 1e-4 {
		t.Errorf("the middle of the logarithm is at %v", y)
	}
	if y := f.YPixel(-1); y == y {
		t.Errorf("a negative value is at %v of a logarithm", y)
	}
	if y := f.YPixel(1); y != 150 {
		t.Errorf("the least value is at %v, want the bottom", y)
	}
}

func rowsScene(n int, tree bool, height float32) *scene.Scene {
	s := scene.New(scene.Size{Width: 400, Height: int(height) + 20}, "t", "d")
	var rows []scene.Row
	for i := range n {
		y := 10 + height*float32(i)/float32(n)
		r := scene.Row{From: y, To: y + height/float32(n), Label: fmt.Sprintf("rank %d with a name", i)}
		if tree {
			r.Level, r.Open, r.Folded = min(i%5, 2), i%5 == 0, i%5 == 1
		}
		if i == 3 {
			r.Label = scenetest.Hostile()[3]
		}
		rows = append(rows, r)
	}
	x := scene.RowLabelWidth(rows, 160)
	f := s.AddFrame(scene.Frame{X: x, Y: 10, W: 400 - x, H: height, YScale: scene.Scale{Kind: "rows", Rows: rows}})
	s.RowLabels(f, 0)
	return s
}

func TestRowLabelsNeverOverlap(t *testing.T) {
	for _, n := range []int{1, 4, 20, 64, 1000, 5000} {
		for _, tree := range []bool{false, true} {
			s := rowsScene(n, tree, 300)
			noFaults(t, fmt.Sprintf("%d rows, tree %v", n, tree), s)
			if got := countTexts(s); got < min(n, 8) {
				t.Errorf("%d rows, tree %v: only %d labels", n, tree, got)
			}
		}
	}
}

func countTexts(s *scene.Scene) (n int) {
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if t, ok := m.(*scene.Text); ok {
				n += t.Len()
			}
		}
	}
	return n
}

func TestALegendIsNeverClipped(t *testing.T) {
	names := append(scenetest.Hostile(), "MPI_Send", "x", "a rather long name of a region that goes on", "solve")
	ramp := scene.RampSection("viridis")
	for _, width := range []float32{80, 200, 500, 1600} {
		for n := range 60 {
			var entries []scene.LegendEntry
			for i := range n {
				e := scene.LegendEntry{Label: names[i%len(names)], Colour: scene.LocationColour(i), RampEnd: scene.None}
				if i%7 == 3 {
					e = scene.LegendEntry{Label: "share", Colour: ramp.At(0), RampEnd: ramp.At(255), RampLow: "0 %", RampHigh: "100 %"}
				}
				entries = append(entries, e)
			}
			s := scene.New(scene.Size{Width: int(width), Height: 80}, "t", "d")
			used := s.DrawLegend(entries, 0, 0, width, 3)
			if want := scene.LegendHeight(entries, width, 3); used != want || used > 60 {
				t.Errorf("%d entries in %v: height %v, said %v", n, width, used, want)
			}
			noFaults(t, fmt.Sprintf("%d entries in %v", n, width), s)
			if shown := legendEntries(s); n > 0 && shown < n && !strings.Contains(allText(s), "more") {
				t.Errorf("%d of %d entries in %v shown, and nothing says so", shown, n, width)
			}
		}
	}
}

func legendEntries(s *scene.Scene) (n int) {
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			switch m := m.(type) {
			case *scene.Rect:
				n += m.Len()
			case *scene.Image:
				n++
			}
		}
	}
	return n
}

func allText(s *scene.Scene) string {
	var b strings.Builder
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if t, ok := m.(*scene.Text); ok {
				b.WriteString(strings.Join(t.Text, "\n") + "\n")
			}
		}
	}
	return b.String()
}

func TestAddTitleAndLegendKeepsTheSizeAndWritesEverything(t *testing.T) {
	for _, size := range []scene.Size{{Width: 400, Height: 300}, {Width: 1600, Height: 900}, {Width: 200, Height: 90}, {Width: 20, Height: 20}} {
		asked := []scene.Size{}
		s := scene.AddTitleAndLegend(size, func(inner scene.Size) *scene.Scene {
			asked = append(asked, inner)
			plot := scene.New(inner, "A title", "d")
			plot.Legend = []scene.LegendEntry{{Label: "compute", Colour: scene.RoleColour(1)}}
			plot.Notes = []string{"aggregated: 1,024 rows", strings.Repeat("a long note ", 40), "c", "d", "e", "f"}
			m := &scene.Rect{}
			m.Add(0, 0, float32(inner.Width), float32(inner.Height), scene.UIData)
			plot.AddFrame(scene.Frame{W: float32(inner.Width), H: float32(inner.Height)})
			plot.AddLayer("plot", 0, m)
			return plot
		})
		if s.Width != float64(size.Width) || s.Height != float64(size.Height) {
			t.Errorf("%v became %v × %v", size, s.Width, s.Height)
		}
		noFaults(t, fmt.Sprint(size), s)
		if size.Height < 100 {
			continue // nothing but the plot has room
		}
		for _, want := range []string{"A title", "compute", "aggregated: 1,024 rows"} {
			if !strings.Contains(allText(s), want) {
				t.Errorf("%v: %q is not written", size, want)
			}
		}
		inner := asked[len(asked)-1]
		if f := s.Frames[0]; f.Y <= 0 || int(f.Y)+inner.Height >= size.Height || int(f.H) != inner.Height {
			t.Errorf("%v: the plot lies at %v with height %v", size, f.Y, f.H)
		}
	}
	if s := scene.AddTitleAndLegend(scene.Size{Width: 9, Height: 9}, func(scene.Size) *scene.Scene { return nil }); s == nil {
		t.Error("no scene for no plot")
	}
}

// The head of a group is low, and its label needs some of the row below: that keeps its own.
func TestRowsBelowAHeadKeepTheirLabels(t *testing.T) {
	for _, c := range []struct {
		head, row float32
		want      string
	}{
		{9, 14, "node P0 P1 P2 P3 P4 P5"},
		{9, 12, "node P0 P1 P2 P3 P4 P5"},
		{12, 12, "node P0 P1 P2 P3 P4 P5"},
		{9, 8, "node P0 P2 P4"}, // every second, from the first on
	} {
		s := scene.New(scene.Size{Width: 400, Height: 120}, "t", "d")
		rows := []scene.Row{{From: 4, To: 4 + c.head, Label: "node", Open: true}}
		for i := range 6 {
			y := 4 + c.head + float32(i)*c.row
			rows = append(rows, scene.Row{From: y, To: y + c.row, Label: fmt.Sprint("P", i), Level: 1})
		}
		f := s.AddFrame(scene.Frame{X: 100, Y: 4, W: 280, H: c.head + 6*c.row, YScale: scene.Scale{Kind: "rows", Rows: rows}})
		s.RowLabels(f, 0)
		noFaults(t, c.want, s)
		if got := strings.Fields(allText(s)); strings.Join(got, " ") != c.want {
			t.Errorf("a head of %v and rows of %v pixels: %q, want %q", c.head, c.row, got, c.want)
		}
	}
}
