package overview_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// Two machines of two processes over 64 ns in two phases; on m2 one process
// waits in the second phase while the other three compute.
const phases = `
region run role=compute
region wait role=synchronization
location machine m1
  location process p1 rank=0
    0..32 wait
    32..64 run
  location process p2 rank=1
    0..32 wait
    32..64 run
location machine m2
  location process p1 rank=2
    0..32 wait
    32..64 run
  location process p2 rank=3
    0..64 wait
`

func TestView(t *testing.T) {
	viewtest.Run(t, overview.View,
		viewtest.Case{Name: "optimal", Trace: phases},
		viewtest.Case{Name: "all detail", Trace: phases, Options: map[string][]string{"p": {"0"}, "bins": {"8"}}},
		viewtest.Case{Name: "one box", Trace: phases, Options: map[string][]string{"p": {"1"}, "gain": {"values"}}},
		viewtest.Case{Name: "window", Trace: phases, Spec: view.Spec{From: "20", To: "60", Locations: []string{"m2"}},
			Options: map[string][]string{"bins": {"8"}}},
	)
}

func data(t *testing.T, options map[string][]string) overview.Data {
	t.Helper()
	c := viewtest.Case{Trace: phases, Options: options}
	return viewtest.Decoded[overview.Data](t, c.Compute(t, overview.View, c.Open(t)))
}

func TestBoxesAreLargeWhereAllAreAlikeAndSmallWhereOneDiffers(t *testing.T) {
	d := data(t, map[string][]string{"p": {"0.2"}, "bins": {"8"}})
	if d.Loss != 0 {
		t.Errorf("loss %v: the groups that are alike suffice", d.Loss)
	}
	odd := 0
	covered := int64(0)
	for _, p := range d.Parts {
		n := map[string]int64{"m1/p1": 1, "m1/p2": 1, "m2/p1": 1, "m2/p2": 1, "m1": 2, "m2": 2, "": 4}[p.Path]
		covered += n * int64(p.End-p.Begin)
		if p.Path == "m2/p2" && p.End == 64 {
			odd++
		}
	}
	if covered != 4*64 || odd != 1 {
		t.Errorf("%d of 256 ns are covered, the odd process has %d boxes at the end: %+v", covered, odd, d.Parts)
	}
	if len(d.Parts) > 6 {
		t.Errorf("%d boxes, want few: %+v", len(d.Parts), d.Parts)
	}
}

func TestTheEndsOfTheSlider(t *testing.T) {
	if d := data(t, map[string][]string{"p": {"0"}, "bins": {"8"}}); len(d.Parts) != 32 || d.Slices != 8 {
		t.Errorf("p = 0: %d boxes over %d slices, want 4 × 8", len(d.Parts), d.Slices)
	}
	if d := data(t, map[string][]string{"p": {"1"}, "gain": {"values"}, "bins": {"8"}}); len(d.Parts) != 1 {
		t.Errorf("p = 1: %d boxes, want 1", len(d.Parts))
	}
}

func TestRulesMakeGroupsThatTheSourceDoesNotHave(t *testing.T) {
	whole := data(t, map[string][]string{"p": {"1"}, "gain": {"values"}, "hierarchy": {"ranks:2"}})
	tree := data(t, map[string][]string{"p": {"1"}, "gain": {"values"}})
	if len(whole.Parts) != 1 || whole.Parts[0].Values["compute"] != tree.Parts[0].Values["compute"] {
		t.Errorf("by ranks %+v, by the tree %+v", whole.Parts, tree.Parts)
	}
}

// After the end of a rank nothing is recorded: its box there is blank, also at its corner.
func TestABoxWithoutContentHasNoFoldedCorner(t *testing.T) {
	c := viewtest.Case{Trace: `
region run role=compute
location process p1 rank=0
  0..64 run
location process p2 rank=1
  0..32 run
`, Options: map[string][]string{"p": {"0.2"}, "bins": {"8"}}}
	s := c.Compute(t, overview.View, c.Open(t)).Scene(scene.Size{Width: 400, Height: 200})
	ends := s.Frames[0].X + s.Frames[0].W*32/64 + 1
	folds, blank := 0, 0
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			p, ok := m.(*scene.Polygon)
			for i := 0; ok && l.Name == "boxes" && i < p.Len(); i++ {
				xs, ys := p.Corners(i)
				folds++
				if xs[0] > ends && ys[0] > s.Frames[0].Y+s.Frames[0].H/2 {
					blank++
				}
			}
		}
	}
	if folds == 0 || blank > 0 {
		t.Errorf("%d of %d folded corners are in the time after the end of p2", blank, folds)
	}
}
