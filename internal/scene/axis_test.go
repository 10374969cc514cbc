package scene

import (
	"slices"
	"strings"
	"testing"
)

// The name of an axis stands between ticks where it would hide the last one.
func TestTheNameOfAnAxisHidesNoTick(t *testing.T) {
	s := New(Size{Width: 640, Height: 100}, "", "")
	s.AddFrame(Frame{X: 40, Y: 10, W: 560, H: 50, XScale: Scale{Kind: "linear", End: 10, Label: "inclusive"}})
	s.XAxis(0, Axis{})
	var texts []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*Text); ok {
				texts = append(texts, x.Text...)
			}
		}
	}
	for _, want := range []string{"0", "10", "inclusive"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is missing among %q", want, texts)
		}
	}
}

// Every tick keeps its label whatever the name and however small the frame: there are fewer
// ticks, or the name is shortened or left out.
func TestTicksComeBeforeTheNameOfTheirAxis(t *testing.T) {
	for _, name := range []string{"time", "inclusive", "longest times of the calls, added up"} {
		for width := float32(80); width < 1500; width *= 1.13 {
			s := New(Size{Width: int(width) + 60, Height: 100}, "", "")
			s.AddFrame(Frame{X: 30, Y: 10, W: width, H: 50, XScale: Scale{Kind: "linear", End: 4.87e9, Label: name}})
			s.XAxis(0, Axis{Unit: "ns"})
			ticks, texts := 0, []string{}
			for _, l := range s.Layers {
				for _, m := range l.Marks {
					switch m := m.(type) {
					case *Text:
						texts = append(texts, m.Text...)
					case *Line:
						if l.Name == "axis" {
							ticks += m.Len() - 1 // but for the axis itself
						}
					}
				}
			}
			labels := len(texts)
			if n := texts[len(texts)-1]; strings.HasPrefix(n, name[:3]) || strings.HasSuffix(n, name[len(name)-2:]) {
				labels--
			} else if width > 250 {
				t.Errorf("%s, %.0f pixels: no name among %q", name, width, texts)
			}
			if labels != ticks || ticks < 2 {
				t.Errorf("%s, %.0f pixels: %d ticks and %q", name, width, ticks, texts)
			}
		}
	}
}

// Beside another chart the name of an axis ends over its own: "time" next to the "0" of the other read "time 0".
func TestNamesOfAxesSideBySideStayApart(t *testing.T) {
	for most := 1e6; most < 1e9; most *= 1.37 {
		s := New(Size{Width: 640, Height: 100}, "", "")
		one := s.AddFrame(Frame{X: 40, Y: 10, W: 340, H: 50, XScale: Scale{Kind: "linear", End: most, Label: "time"}})
		two := s.AddFrame(Frame{X: 412, Y: 10, W: 200, H: 50, XScale: Scale{Kind: "linear", End: 100, Label: "%"}})
		s.XAxis(one, Axis{Unit: "ns"})
		s.XAxis(two, Axis{})
		last, first := float32(0), float32(s.Width)
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*Text); ok {
					for i := range x.Text {
						half := TextWidth(x.Text[i], TextSize, false) / 2
						if x.X[i] < 396 {
							last = max(last, x.X[i]+half)
						} else {
							first = min(first, x.X[i]-half)
						}
						if x.Text[i] == "time" && x.X[i]+half > 380 {
							t.Errorf("up to %v: the name ends at %v, its axis at 380", most, x.X[i]+half)
						}
					}
				}
			}
		}
		if first-last < labelGap {
			t.Errorf("up to %v: %v pixels between the labels of two axes", most, first-last)
		}
	}
}
