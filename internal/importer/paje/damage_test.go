package paje

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestDamagedSamplesAreReadAsFarAsTheyAreSound(t *testing.T) {
	for _, c := range []struct {
		path   string
		places int
	}{
		{"paje-hpl128-g5k", 10}, // the same platform as the next, and far longer
		{"paje-is128-g5k", 60},
		{"paje-pingpong4", 60},
		{"public/paje/simgrid-cluster", 60},
		{"public/paje/smpi-replay-extract", 60},
		{"public/paje/starpu-native-sample", 60},
		{"public/paje/record-kinds-small/containers.trace", 60},
		{"public/paje/record-kinds-small/events.trace", 60},
		{"public/paje/record-kinds-small/gattaca.trace", 60},
		{"public/paje/record-kinds-small/links.trace", 60},
		{"public/paje/record-kinds-small/states.trace", 60},
		{"public/paje/record-kinds-small/variables.trace", 60},
	} {
		t.Run(c.path, func(t *testing.T) { importertest.Damage(t, Format, c.path, c.places) })
	}
}
