package all

import (
	"context"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/importer/cube"
	"github.com/parallax-hpc/parallax/internal/importer/otf2"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// One run was recorded as a trace and as a profile: every region must have the
// same visits through both readers.
func TestOneRunInTwoFormats(t *testing.T) {
	dir := importertest.Shared(t, "public/otf2/sst-macro-mpi-coverage-10ranks")
	visits := func(r store.Reader) map[string]float64 {
		out := map[string]float64{}
		w := store.Window{End: r.Info().End + 1}
		err := runfacts.Totals(context.Background(), r, w, runfacts.DefaultMetric(r.Metrics()), func(list []runfacts.Total) {
			for _, x := range list {
				out[r.Regions()[x.Region].Name] += x.Calls
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	traced := visits(importertest.Import(t, otf2.Format, dir+"/traces.otf2"))
	profiled := visits(importertest.Import(t, cube.Format, dir+"/profile.cubex"))
	if len(profiled) != 21 {
		t.Errorf("the profile has %d regions, want 21", len(profiled))
	}
	for name, n := range profiled {
		if traced[name] != n {
			t.Errorf("%s: %v visits in the profile, %v in the trace", name, n, traced[name])
		}
	}
}
