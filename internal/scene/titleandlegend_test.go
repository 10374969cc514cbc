package scene

import (
	"math"
	"strings"
	"testing"
)

// rowsScene draws some rows from the top, in a part of the width.
func rowsScene(rows int, share float32) func(Size) *Scene {
	return func(size Size) *Scene {
		s := New(size, "", "rows")
		r := &Rect{}
		for i := range rows {
			r.Add(4, float32(4+20*i), float32(size.Width)*share-8, 16, UIText)
		}
		s.AddLayer("rows", -1, r)
		s.Legend = []LegendEntry{{Label: "rows", Colour: UIText, Region: NoID, Parent: NoID}}
		s.Notes = []string{"all of them are alike"}
		return s
	}
}

func TestFilesEndWhereTheirPlotDoes(t *testing.T) {
	for _, c := range []struct {
		name          string
		size          Size
		rows          int
		share         float32
		width, height float64 // at least and at most, as shares of the size
	}{
		{"full", Size{1200, 800}, 36, 1, 1, 1},
		{"few rows", Size{1200, 800}, 12, 1, 1, 0.5},
		{"a square", Size{1200, 800}, 36, 0.5, 0.55, 1.02},
		{"small pictures stay", Size{600, 400}, 3, 0.3, 1, 1},
		{"a poster", Size{2400, 1600}, 12, 1, 1, 0.45},
	} {
		s := AddTitleAndLegend(c.size, rowsScene(c.rows, c.share))
		w, h := s.Width*s.Zoomed()/float64(c.size.Width), s.Height*s.Zoomed()/float64(c.size.Height)
		if w > c.width+0.001 || h > c.height+0.001 || c.width == 1 && w < 0.999 {
			t.Errorf("%s: %.2f of the width and %.2f of the height, want %g and %g", c.name, w, h, c.width, c.height)
		}
		if b := s.Extent(); float64(b.Bottom) > s.Height || float64(b.Right) > s.Width {
			t.Errorf("%s: drawn to %v in a picture of %g × %g", c.name, b, s.Width, s.Height)
		}
	}
}

func TestTextGrowsWithThePicture(t *testing.T) {
	last := 0.0
	for _, size := range []Size{{400, 300}, {1600, 900}, {2400, 1600}, {3840, 2160}} {
		s := AddTitleAndLegend(size, rowsScene(400, 1))
		zoom := s.Zoomed()
		if zoom < last || zoom > math.Max(1, float64(size.Width)/1600) {
			t.Errorf("%v is zoomed by %g", size, zoom)
		}
		if w := s.Width * zoom; math.Abs(w-float64(size.Width)) > 0.01 {
			t.Errorf("%v is %g wide", size, w)
		}
		last = zoom
	}
	if last*TextSize < 20 {
		t.Errorf("text of %g pixels in 4K", last*TextSize)
	}
}

// Every kind of mark has an extent.
func TestExtentKnowsEveryMark(t *testing.T) {
	text := &Text{Size: TextSize}
	text.Add(50, 50, "middle", UIText, Middle)
	if b := extentOf(text); b.Left > 40 || b.Right < 60 || b.Top > 45 || b.Bottom < 50 {
		t.Errorf("a text round 50, 50 takes %v", b)
	}
	text.Turned = true
	if b := extentOf(text); b.Bottom-b.Top < b.Right-b.Left {
		t.Errorf("a turned text takes %v", b)
	}
	path := &Path{}
	path.Add([]float32{1, 9}, []float32{1, 9}, UIText)
	for _, m := range []Mark{path, &Image{X: 1, Y: 1, W: 5, H: 5}, &Space{X: 1, Y: 1, W: 5, H: 5}} {
		if extentOf(m).Empty() {
			t.Errorf("a %s has no extent", m.Kind())
		}
	}
}

// What a plot says of itself belongs to the plot that is drawn, not to a larger one.
func TestNotesAreThoseOfThePlotThatIsDrawn(t *testing.T) {
	said := "a row stands for two"
	s := AddTitleAndLegend(Size{480, 320}, func(size Size) *Scene {
		s := rowsScene(10, 1)(size)
		if size.Height < 300 {
			s.Notes = append(s.Notes, "and this makes it a line longer than one that has room for all of it", said)
		}
		return s
	})
	bottom := float32(0)
	notes := ""
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			switch m := m.(type) {
			case *Rect:
				if l.Name == "rows" {
					bottom = m.Y[m.Len()-1] + m.H[m.Len()-1]
				}
			case *Text:
				for i, text := range m.Text {
					if l.Name == "notes" {
						notes += text + " "
					}
					if float64(m.Y[i]) > s.Height || l.Name == "notes" && m.Y[i] < bottom {
						t.Errorf("%q stands at %g", text, m.Y[i])
					}
				}
			}
		}
	}
	if !strings.Contains(notes, said) {
		t.Errorf("the note of the lower plot is missing: %q", notes)
	}
}
