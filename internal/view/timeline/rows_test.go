package timeline

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// A table is made where there is room for it: the view says beforehand how many rows it has at most.
func TestTablesHaveAtMostTheAnnouncedRows(t *testing.T) {
	for _, all := range []string{"false", "true"} {
		c := viewtest.Case{Trace: `
location process p0 rank=0
  0..100 main
    10..20 solve
    21..90 io
location process p1 rank=1
  0..100 main
    10..90 io
`, Options: map[string][]string{"all": {all}}}
		r := c.Compute(t, View, c.Open(t)).(*result)
		got, said := len(r.Table().Rows), r.Rows()
		if got == 0 || got > said || all == "true" && (got != said || got != 5) {
			t.Errorf("all %s: %d rows, %d were said", all, got, said)
		}
	}
}

// Rows of a Go program each have a name of their own: where all have room for it, all have it, also
// the first of a group, whose head takes less.
func TestEveryRowOfAGoProgramIsNamed(t *testing.T) {
	viewtest.Shared(t, "data", "go-compile", "gocompile.trace")
	run := viewtest.Import(t, "data", "go-compile", "gocompile.trace")
	c := viewtest.Case{Size: scene.Size{Width: 560, Height: 310}}
	r := c.Compute(t, View, run)
	s := r.Scene(c.Size)
	named := 0
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Text); ok && l.Name == "rows" {
				named += x.Len()
			}
		}
	}
	if rows := s.Frames[0].YScale.Rows; len(rows) < 15 || named != len(rows) {
		t.Errorf("%d of %d rows are named", named, len(rows))
	}
}
