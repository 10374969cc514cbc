package timeline

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

func TestLocationsThatBehaveAlikeAreNextToEachOther(t *testing.T) {
	c := viewtest.Case{Trace: `
region main role=compute
region solve role=compute
region io role=io
location machine m0
  location process p0 rank=0
    0..100 main
      10..90 solve
  location process p1 rank=1
    0..100 main
      10..90 io
location machine m1
  location process p2 rank=2
    0..100 main
      12..90 solve
  location process p3 rank=3
    0..100 main
      15..90 io
`, Options: map[string][]string{"arrange": {"groups"}}}
	r := c.Compute(t, View, c.Open(t))
	var got []string
	for _, row := range r.Scene(scene.Size{Width: 600, Height: 300}).Frames[0].YScale.Rows {
		got = append(got, row.Label)
	}
	if s := strings.Join(got, ", "); !strings.Contains(s, "rank 0, m1 · rank 2") && !strings.Contains(s, "rank 0, rank 2") && !strings.Contains(s, "rank 2, rank 0") {
		t.Errorf("rows %s; want ranks 0 and 2 together, and 1 and 3", s)
	}
	all := viewtest.Case{Trace: c.Trace}
	if a, b := marksOf(r.Scene(scene.Size{Width: 600, Height: 300})), marksOf(all.Compute(t, View, all.Open(t)).Scene(scene.Size{Width: 600, Height: 300})); a == 0 || a != b {
		t.Errorf("%d rectangles, %d where the rows are as in the tree", a, b)
	}
	if n := strings.Join(r.Notes(), "; "); !strings.Contains(n, "2 groups") {
		t.Errorf("notes %s", n)
	}
}

// marksOf counts the rectangles of intervals.
func marksOf(s *scene.Scene) (n int) {
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if r, ok := m.(*scene.Rect); ok && l.Name == "spans" {
				n += len(r.X)
			}
		}
	}
	return n
}
