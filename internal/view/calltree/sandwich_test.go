package calltree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/calltree"
)

const recursion = `
region main role=compute
region a role=compute
region b role=compute
region work role=compute
region leaf role=compute
location process r0 rank=0
  0..100 main
    0..40 a
      0..30 work
        10..20 work
          10..15 leaf
    50..90 b
      50..70 work
        60..70 leaf
`

func sandwich(t *testing.T, text string, options map[string][]string) (view.Result, calltree.Data) {
	t.Helper()
	c := viewtest.Case{Trace: text, Options: options}
	r := c.Compute(t, calltree.View, c.Open(t))
	return r, r.Data().(calltree.Data)
}

func TestASandwichHasCallersAndCalleesOfOneRegion(t *testing.T) {
	r, d := sandwich(t, recursion, map[string][]string{"direction": {"sandwich"}, "root": {"work"}})
	var got []string
	for _, n := range d.Nodes {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d:%s=%g/%g", n.Side, n.Depth, n.Region, n.Inclusive, n.Exclusive)))
	}
	// The recursion is inside the outer call: it adds nothing to the 50 of the region, and stands below it.
	want := "0:work=50/30, callee 1:leaf=10/10, callee 1:work=10/5, callee 2:leaf=5/5, caller 1:a=30/20, caller 2:main=30/20, caller 1:b=20/10, caller 2:main=20/10"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("\n%s, want\n%s", s, want)
	}
	s := r.Scene(scene.Size{Width: 600, Height: 300})
	y := map[string]float32{}
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Text); ok {
				for i, name := range x.Text {
					y[name] = x.Y[i]
				}
			}
		}
	}
	if !(y["main"] < y["a"] && y["a"] == y["b"] && y["a"] < y["work"] && y["work"] < y["leaf"]) {
		t.Errorf("names stand at %v, want callers above and callees below", y)
	}
}

func TestASandwichOfTheRegionWithMostTimeOfItsOwn(t *testing.T) {
	if _, d := sandwich(t, recursion, map[string][]string{"direction": {"sandwich"}}); d.Nodes[0].Region != "work" {
		t.Errorf("it is of %s", d.Nodes[0].Region)
	}
	if _, d := sandwich(t, paths, map[string][]string{"direction": {"sandwich"}, "root": {"main → work"}}); d.Nodes[0].Region != "work" || d.Nodes[0].Inclusive != 80 {
		t.Errorf("the end of a path gives %+v", d.Nodes[0])
	}
}

func TestMatchesStayBrightAndTheirTimeIsNoted(t *testing.T) {
	r, _ := sandwich(t, recursion, map[string][]string{"find": {"WOR"}})
	s := r.Scene(scene.Size{Width: 600, Height: 300})
	// 50 of 100: the work inside of work is not counted again.
	if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, `3 paths with "wor" light up: 50.0 ns, 50.0 % of all time`) {
		t.Errorf("it says %s", notes)
	}
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Rect); ok {
				bright := 0
				for i := range x.X {
					if x.Flags[i]&scene.Dimmed == 0 {
						bright++
					}
				}
				if bright != 3 {
					t.Errorf("%d boxes are bright", bright)
				}
			}
		}
	}
}
