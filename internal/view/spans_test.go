package view

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func treeOfServices(n int) *store.Tree {
	t := &store.Tree{}
	for range n {
		t.Kind = append(t.Kind, kindService)
	}
	return t
}

// Twelve hues are soon used up: further services have them in another lightness, and where these are used up it is said.
func TestServicesHaveColoursOfTheirOwn(t *testing.T) {
	tree := treeOfServices(36)
	colour, seen := ServiceColours(tree), map[scene.Colour]int{}
	for id := range 36 {
		c := colour(trace.LocationID(id))
		if other, taken := seen[c]; taken {
			t.Errorf("services %d and %d have one colour", other, id)
		}
		seen[c] = id
	}
	if ServiceNote(tree) != "" || ServiceNote(treeOfServices(37)) == "" {
		t.Errorf("36: %q, 37: %q", ServiceNote(tree), ServiceNote(treeOfServices(37)))
	}
}
