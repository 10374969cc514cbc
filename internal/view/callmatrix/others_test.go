package callmatrix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// manyGroups is twenty-four groups of four ranks, each with a region of its own.
func manyGroups() string {
	var b strings.Builder
	for k := range 96 {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  0..20 work%d\n", k, k, k/4)
	}
	return b.String()
}

// In a thirty-sixth of a square no ring can be told from another.
func TestGroupsPastTwelveShareASlice(t *testing.T) {
	c := viewtest.Case{Trace: manyGroups()}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	d := r.Data().(callmatrix.Data)
	if len(d.Groups) != 24 || d.Others != 13 {
		t.Errorf("%d groups, %d of them share a slice; want 24 and 13", len(d.Groups), d.Others)
	}
	s := r.Scene(scene.Size{Width: 1200, Height: 900})
	if !strings.Contains(s.Description, "squares of 12 slices") {
		t.Errorf("%s", s.Description)
	}
	if !slices.ContainsFunc(s.Notes, func(n string) bool {
		return strings.Contains(n, "13 other groups with 52 locations share the last slice")
	}) {
		t.Errorf("notes %q", s.Notes)
	}
	told := false
	for _, it := range s.Items {
		it.C = scene.Whole / 10 // at the left edge near the top, in the last slice
		f, _ := r.(view.Facts).Fact(it)
		told = told || slices.ContainsFunc(f.Lines, func(l view.FactLine) bool {
			return l.Label == "groups" && l.Value == "13 others"
		})
	}
	if !told {
		t.Error("no hover tells of the others")
	}
	c.Options = map[string][]string{"k": {"24"}}
	if d := c.Compute(t, callmatrix.View, c.Open(t)).Data().(callmatrix.Data); d.Others != 0 {
		t.Errorf("--k 24: %d groups share a slice", d.Others)
	}
}
