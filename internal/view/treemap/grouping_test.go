package treemap_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// gridText is 32 ranks on four machines, eight ranks each, that exchange messages with
// their neighbours on a grid of 4 × 8. Ranks of one column wait for the
// same time, or, one after the other, a little longer.
func gridText(apart int) string {
	var b strings.Builder
	b.WriteString("region work role=compute\nregion wait role=synchronization\n")
	for m := range 4 {
		fmt.Fprintf(&b, "location machine m%d\n", m)
		for k := range 8 {
			rank := 8*m + k
			busy := 100 + 50*(rank%4) - apart*(rank/4)
			fmt.Fprintf(&b, "  location process p%d rank=%d\n    0..%d work\n    %d..300 wait\n", rank, rank, busy, busy)
		}
	}
	at := func(rank int) string { return fmt.Sprintf("m%d/p%d", rank/8, rank) }
	for rank := range 32 {
		if rank%4 < 3 {
			fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=1000\n", at(rank), at(rank+1))
		}
		if rank+4 < 32 {
			fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=1000\n", at(rank), at(rank+4))
		}
	}
	return b.String()
}

// TestAGroupingThatExplainsMoreTakesTheTreesPlace: columns of the rank grid explain all of
// how ranks differ and machines nothing, so ranks are grouped by columns, and that is said.
func TestAGroupingThatExplainsMoreTakesTheTreesPlace(t *testing.T) {
	used := func(d treemap.Data) (name string) {
		for _, g := range d.Groupings {
			if g.Used {
				name += g.Name
			}
		}
		return name
	}
	groups := func(d treemap.Data) (out []string) {
		for _, p := range d.Parts {
			if top, _, _ := strings.Cut(p.Path, "/"); !slices.Contains(out, top) {
				out = append(out, top)
			}
		}
		return out
	}
	const columns = "columns of the 4 × 8 rank grid"
	c := viewtest.Case{Trace: gridText(0), Options: map[string][]string{"p": {"0.1"}}}
	d := data(t, c)
	all := data(t, viewtest.Case{Trace: gridText(1), Options: map[string][]string{"p": {"0"}}})
	if len(all.Parts) != 32 {
		t.Errorf("%d parts, want one per rank", len(all.Parts))
	}
	for _, part := range all.Parts {
		if !strings.HasPrefix(part.Group, "column ") {
			t.Errorf("%s is in group %q of the JSON, want a column", part.Path, part.Group)
		}
	}
	if want := []string{"column 0", "column 1", "column 2", "column 3"}; used(d) != columns ||
		!slices.Equal(groups(d), want) {
		t.Errorf("groups %v by %q, want %v by %q", groups(d), used(d), want, columns)
	}
	for _, g := range d.Groupings {
		switch {
		case g.Score == nil:
			t.Errorf("%s has no score", g.Name)
		case g.Name == columns && math.Abs(*g.Score-1) > 1e-9 || g.Name == "tree" && *g.Score > 0:
			t.Errorf("%s has score %v", g.Name, *g.Score)
		}
	}
	if notes := strings.Join(c.Compute(t, treemap.View, c.Open(t)).Notes(), "\n"); !strings.Contains(notes, columns) ||
		!strings.Contains(notes, "--hierarchy tree") {
		t.Errorf("notes do not say so: %s", notes)
	}
	c.Options["hierarchy"] = []string{"tree"}
	if d := data(t, c); used(d) != "tree" || slices.Contains(groups(d), "column 0") {
		t.Errorf("--hierarchy tree: groups %v by %q", groups(d), used(d))
	}
	c.Options["hierarchy"] = []string{"ranks:8"}
	if d := data(t, c); used(d) != "" {
		t.Errorf("--hierarchy ranks:8: used %q", used(d))
	}
	delete(c.Options, "hierarchy")
	c.Options["group"] = []string{"machine"}
	if d := data(t, c); used(d) != "tree" || len(d.Parts) != 4 {
		t.Errorf("--group machine: %d parts by %q", len(d.Parts), used(d))
	}
}
