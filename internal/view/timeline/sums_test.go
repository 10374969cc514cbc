package timeline

import (
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Bins of some regions must look the same whether the store's sums decide them or the
// rows do: leaves of many rows a bin, and folded groups.
func TestSumsDecideAsRowsDo(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		size  scene.Size
	}{
		{"leaves", 4, scene.Size{Width: 300, Height: 300}},
		{"groups", 200, scene.Size{Width: 300, Height: 120}},
	} {
		r := viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, c.ranks, 400_000) })
		rows := struct{ store.Reader }{r} // without sums
		for _, regions := range [][]string{{"MPI_Call0"}, {"compute *"}, {"MPI_*", "compute 2", "compute 37"}} {
			for _, colour := range []string{"region", "role", "busy"} {
				for _, spec := range []view.Spec{{Regions: regions}, {Regions: regions, From: "33%", To: "71%"}} {
					options := map[string][]string{"colour": {colour}}
					a, b := computeFor(t, r, spec, options, c.size), computeFor(t, rows, spec, options, c.size)
					compareDecided(t, a, b)
					if t.Failed() {
						t.Fatalf("%s, regions %q by %s, %+v", c.name, regions, colour, spec)
					}
				}
			}
		}
	}
}

func compareDecided(t *testing.T, a, b *result) {
	t.Helper()
	seen := false
	for i := range a.rows {
		if g := a.groups[i]; g != nil {
			seen = seen || g.any()
			if !slices.Equal(g.time, b.groups[i].time) {
				t.Errorf("row %d: the shares differ", i)
			}
		}
		if a.leaves[i] == nil {
			continue
		}
		for k := range a.leaves[i].list {
			x, y := a.leaves[i].list[k].spans, b.leaves[i].list[k].spans
			seen = seen || len(x) > 0
			same := slices.EqualFunc(x, y, func(p, q span) bool {
				return p.begin == q.begin && p.end == q.end && p.region == q.region && p.role == q.role && p.open == q.open && (p.loose || q.loose || p.count == q.count)
			})
			if !same {
				t.Errorf("row %d, strip %d: %d spans, %d by rows, or they differ", i, k, len(x), len(y))
			}
		}
	}
	if !seen {
		t.Error("nothing is drawn: the test says nothing")
	}
}
