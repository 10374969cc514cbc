package scene

import (
	"slices"
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
