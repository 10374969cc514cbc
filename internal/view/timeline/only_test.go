package timeline

import (
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// Rows that a panel is made of stay when regions are selected that only other rows have; without --only that is an error.
func TestChosenRowsStayWithoutTheSelectedRegions(t *testing.T) {
	c := viewtest.Case{Trace: "region run role=compute\nregion wait role=idle\nlocation processor p0\n  0..100 run\n" +
		"location goroutine g1\n  0..100 wait\n", Options: map[string][]string{"only": {"kind:processor"}}}
	c.Spec.Regions = []string{"wait"}
	r := c.Compute(t, View, c.Open(t))
	s := r.Scene(scene.Size{Width: 600, Height: 200})
	if rows := s.Frames[0].YScale.Rows; len(rows) != 1 || rows[0].Label != "p0" {
		t.Errorf("rows %+v", rows)
	}
	if !slices.Contains(r.Notes(), "none of the selected regions is on these rows") {
		t.Errorf("notes %q", r.Notes())
	}
}
