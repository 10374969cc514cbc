package grouping

import (
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestOwnersAreGroupedByTheBestCut: of two machines of three, one is all alike and one
// has an odd owner; owners come in the order of the tree.
func TestOwnersAreGroupedByTheBestCut(t *testing.T) {
	b := &trace.Behaviour{Owners: 6, Tree: &trace.BehaviourTree{
		Parent: []int32{-1, 0, 1, 1, 1, 0, 5, 5, 5}, Last: []int32{8, 4, 2, 3, 4, 8, 6, 7, 8},
		Leaf:   []int32{6, 7, 8, 2, 3, 4}, // the owners of the second machine come first
		Values: [][]float64{{0, 0, 80, 80, 80, 0, 80, 10, 80}},
	}}
	for p, want := range map[float64][]int32{0: {3, 4, 5, 0, 1, 2}, 0.1: {1, 2, 3, 0, 0, 0}, 1: {0, 0, 0, 0, 0, 0}} {
		order, of, err := Order(b, trace.Likeness{By: "optimal", P: p})
		if err != nil || !slices.Equal(order, []int32{3, 4, 5, 0, 1, 2}) || !slices.Equal(of, want) {
			t.Errorf("p = %v: order %v, groups %v, want %v", p, order, of, want)
		}
	}
}
