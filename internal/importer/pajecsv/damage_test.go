package pajecsv

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestDamagedSamplesAreReadAsFarAsTheyAreSound(t *testing.T) {
	for _, c := range []struct {
		path   string
		places int
	}{
		{"public/paje-csv/starpu-lu-2ranks", 200},
	} {
		t.Run(c.path, func(t *testing.T) { importertest.Damage(t, Format, c.path, c.places) })
	}
}
