package view

import (
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A location above those compared is in the group of most below it, of equal ones the first, at the first place that
// this group has there.
func TestLocationsAboveAreInTheGroupOfMost(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n, groups := 1+r.IntN(60), int32(1+r.IntN(4))
		tree := &store.Tree{Parent: make([]trace.LocationID, n), Name: make([]string, n)}
		a := &Arrangement{place: make([]int32, n), group: make([]int32, n)}
		for i := range n {
			tree.Parent[i] = trace.NoLocation
			if i > 0 && r.IntN(5) > 0 {
				tree.Parent[i] = trace.LocationID(r.IntN(i))
			}
			if a.place[i], a.group[i] = -1, -1; r.IntN(3) == 0 {
				a.place[i], a.group[i] = int32(r.IntN(n)), r.Int32N(groups)
				a.units = append(a.units, trace.LocationID(i))
			}
		}
		wantGroup, wantPlace := make([]int32, n), make([]int32, n)
		for up := range n {
			wantGroup[up], wantPlace[up] = a.group[up], a.place[up]
			if a.place[up] >= 0 {
				continue
			}
			units, first := make([]int, groups), make([]int32, groups)
			for _, id := range a.units {
				at := tree.Parent[id]
				for at != trace.NoLocation && int(at) != up && a.place[at] < 0 {
					at = tree.Parent[at]
				}
				if int(at) != up || at == trace.NoLocation {
					continue
				}
				g := a.group[id]
				if units[g]++; units[g] == 1 || a.place[id] < first[g] {
					first[g] = a.place[id]
				}
			}
			for g := range groups {
				if units[g] > 0 && (wantGroup[up] < 0 || units[g] > units[wantGroup[up]]) {
					wantGroup[up], wantPlace[up] = g, first[g]
				}
			}
		}
		a.placeAbove(tree)
		for i := range n {
			if a.group[i] != wantGroup[i] || a.place[i] != wantPlace[i] {
				t.Fatalf("location %d is in group %d at %d, want %d at %d", i, a.group[i], a.place[i], wantGroup[i], wantPlace[i])
			}
		}
	}
}
