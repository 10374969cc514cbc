package requests_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/requests"
)

func layer(s *scene.Scene, name string) (marks []scene.Mark) {
	for _, l := range s.Layers {
		if l.Name == name {
			marks = append(marks, l.Marks...)
		}
	}
	return marks
}

// Five requests must lie beyond a percentile, or it has no line and the notes say so.
func TestPercentilesNeedEnoughRequests(t *testing.T) {
	for _, x := range []struct {
		requests int
		lines    string
		missing  string
	}{
		{4, "", "p50, p95, p99"}, {12, "p50", "p95, p99"}, {99, "p50", "p95, p99"}, {100, "p95 p50", "p99"}, {500, "p95 p50", ""}, // p99 is where p95 is, and has no name of its own
	} {
		c := viewtest.Case{Trace: shop(x.requests), Size: scene.Size{Width: 600, Height: 400}}
		v := c.Compute(t, requests.View, c.Open(t))
		var names []string
		for _, m := range layer(v.Scene(c.Size), "names") {
			names = append(names, m.(*scene.Text).Text...)
		}
		if got := strings.Join(names, " "); got != x.lines {
			t.Errorf("%d requests have lines of %q, want %q", x.requests, got, x.lines)
		}
		notes := strings.Join(v.Notes(), "\n")
		if said := strings.Contains(notes, "too few for a line of "+x.missing+","); said != (x.missing != "") {
			t.Errorf("%d requests: %q is missing, and said is %q", x.requests, x.missing, notes)
		}
	}
}

// The first and the last request begin where time begins and nearly ends: their points are whole.
func TestPointsAtTheEdgesAreWhole(t *testing.T) {
	for _, width := range []int{120, 390, 1440} {
		c := viewtest.Case{Trace: shop(3), Size: scene.Size{Width: width, Height: 300}}
		s := c.Compute(t, requests.View, c.Open(t)).Scene(c.Size)
		f := &s.Frames[0]
		count := 0
		for _, m := range layer(s, "points") {
			p := m.(*scene.Point)
			count += p.Len()
			for i := range p.X {
				if p.X[i]-p.R[i] < f.X-0.01 || p.X[i]+p.R[i] > f.X+f.W+0.01 {
					t.Errorf("%d wide: a point of radius %g at %g, in a frame from %g to %g", width, p.R[i], p.X[i], f.X, f.X+f.W)
				}
			}
		}
		if count != 3 {
			t.Errorf("%d points", count)
		}
	}
}

// Words over a tree are fewer where there is less room, and never cut.
func TestTheHeadOfATreeFits(t *testing.T) {
	for _, width := range []int{160, 240, 320, 390, 600, 1440} {
		c := viewtest.Case{Trace: shop(5), Options: map[string][]string{"request": {"t4"}, "expand": {"select"}}, Size: scene.Size{Width: width, Height: 130}}
		head := layer(c.Compute(t, requests.View, c.Open(t)).Scene(c.Size), "head")[0].(*scene.Text).Text[0]
		if strings.Contains(head, "…") || !strings.Contains(head, "10.1 µs, 9 calls") || scene.TextWidth(head, scene.TextSize, false) > float32(width) {
			t.Errorf("%d wide: %q", width, head)
		}
	}
}
