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

// The graph has each region once with what all its paths have, below its callers, and a
// line for each pair; a region that calls itself counts its inclusive time once.
func TestTheGraphHasEachRegionOnce(t *testing.T) {
	c := viewtest.Case{Trace: ranks, Options: map[string][]string{"form": {"graph"}}}
	r := c.Compute(t, calltree.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 600, Height: 400})
	if err := viewtest.CheckScene(s); err != nil {
		t.Error(err)
	}
	m := s.Layers[0].Marks[0].(*scene.Space)
	var got []string
	for i := range m.Len() {
		f, ok, _ := view.FactOf(r, scene.Item{Of: 2, A: int32(i)})
		if !ok || len(f.Regions) != 1 {
			t.Fatalf("%+v", f)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s z%v", f.Title, f.Lines[0].Exact, f.Lines[1].Exact, f.Lines[2].Exact, m.PZ[i]))
	}
	// main: 300 inclusive on three ranks; work 40+70, of which 10 is inside itself and 15 waiting.
	want := "main 150 300 3 z0, work 95 110 3 z-1, MPI_Wait 55 55 3 z-1"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("regions are\n%s, want\n%s", s, want)
	}
	// main → work, main → MPI_Wait, work → MPI_Wait; work → work is no line.
	if len(m.Links.From) != 3 || len(m.Labels) != 3 {
		t.Errorf("%d lines, %d names", len(m.Links.From), len(m.Labels))
	}
	c.Options["direction"] = []string{"bottom-up"}
	if _, err := calltree.View.Compute(t.Context(), c.Request(t, calltree.View, c.Open(t))); err == nil {
		t.Error("a graph is turned round")
	}
}
