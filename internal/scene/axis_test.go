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
