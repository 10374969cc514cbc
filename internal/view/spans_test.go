package view

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Twelve hues are soon used up: further services have them in another lightness, and where these are used up it is said.
func TestServicesHaveColoursOfTheirOwn(t *testing.T) {
	c36, seen := Colours{services: map[trace.LocationID]scene.Colour{}}, map[scene.Colour]int{}
	for id := range 36 {
		c := serviceColour(id)
		c36.services[trace.LocationID(id)] = c
		if other, taken := seen[c]; taken {
			t.Errorf("services %d and %d have one colour", other, id)
		}
		seen[c] = id
	}
	if c36.ServiceNote() != "" {
		t.Errorf("36: %q", c36.ServiceNote())
	}
	if c36.services[36] = serviceColour(36); c36.ServiceNote() == "" {
		t.Error("37 services have colours of their own")
	}
}
