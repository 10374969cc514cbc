package paraver

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestDamagedSamplesAreReadAsFarAsTheyAreSound(t *testing.T) {
	for _, c := range []struct {
		path   string
		places int
	}{
		{"public/paraver/lulesh-8ranks", 200},
	} {
		t.Run(c.path, func(t *testing.T) { importertest.Damage(t, Format, c.path, c.places) })
	}
}
