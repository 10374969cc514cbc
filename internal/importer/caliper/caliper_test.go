package caliper

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "example-profile.cali", Anywhere: true, Cuts: 80}, {Path: "cpi-callpath-profile.json", Most: 20, Cuts: 80},
		{Path: "lulesh-annotation-profile.json", Most: 20, Cuts: 80}, {Path: "events.cali", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/events.cali", "testdata/example-profile.cali", "testdata/lulesh-annotation-profile.json")
}

// table sums a metric by region over all locations.
func table(t *testing.T, r store.Reader, metric string) (inclusive, exclusive map[string]float64) {
	t.Helper()
	inclusive, exclusive = map[string]float64{}, map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			if r.Metrics()[p.Metric].Name == metric {
				name := r.Regions()[r.CallPaths()[p.Path].Region].Name
				inclusive[name] += p.Inclusive
				exclusive[name] += p.Exclusive
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return inclusive, exclusive
}

// Values as the files' own lines say them.
func TestValuesAreThoseOfTheFile(t *testing.T) {
	for _, c := range []struct {
		file, metric, region string
		inclusive            float64
		rows, ranks, metrics int
	}{
		{"readers/caliper/mpi-scaling-27cores.cali", "sum#sum#time.duration", "main", 1275.434023e9, 184, 0, 4},
		{"readers/caliper/mpi-scaling-343cores.cali", "max#sum#time.duration", "lulesh.cycle", 52.568422e9, 184, 0, 4},
		{"readers/caliper/example-profile.cali", "sum#sum#time.duration", "LagrangeNodal", 0.167301e9, 100, 0, 4},
		{"public/caliper/lulesh-8ranks/lulesh-annotation-profile.json", "sum#time.duration", "main", 47247337e3, 192, 8, 1},
		{"readers/caliper/cpi-callpath-profile.json", "count", "_start", 435, 328, 4, 2},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, c.file))
		inclusive, _ := table(t, r, c.metric)
		ranks := map[int32]bool{}
		for _, n := range r.Locations().Rank {
			if n >= 0 {
				ranks[int32(n)] = true
			}
		}
		if got := inclusive[c.region]; math.Abs(got-c.inclusive) > 1e-9*c.inclusive {
			t.Errorf("%s: %s of %s is %.0f, want %.0f", c.file, c.metric, c.region, got, c.inclusive)
		}
		if got, want := fmt.Sprint(r.Info().Profile, len(ranks), len(r.Metrics())), fmt.Sprint(c.rows, c.ranks, c.metrics); got != want {
			t.Errorf("%s: rows, ranks, metrics %s, want %s", c.file, got, want)
		}
	}
}

// Where a file gives only one of the two values, the other one follows: what regions take for
// themselves adds up to what the outermost take with all below.
func TestExclusiveValuesAddUpToTheWhole(t *testing.T) {
	for _, file := range []string{"readers/caliper/mpi-scaling-64cores.cali", "readers/caliper/example-profile.cali", "readers/caliper/cpi-callpath-profile.json", "readers/caliper/caliper_cuda_activity_profile.cali"} {
		r := importertest.Import(t, Format, importertest.Shared(t, file))
		var roots, all float64
		err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				if !r.Metrics()[p.Metric].Default {
					continue
				}
				all += p.Exclusive
				if r.CallPaths()[p.Path].Parent == trace.NoCallPath {
					roots += p.Inclusive
				}
			}
			return nil
		})
		if err != nil || roots == 0 || math.Abs(roots-all) > 1e-4*roots {
			t.Errorf("%s: outermost %.0f, all for themselves %.0f: %v", file, roots, all, err)
		}
	}
}

func TestMissingUnitsAreGuessedAndReported(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/caliper/lulesh-8ranks/lulesh-annotation-profile.cali"))
	inclusive, _ := table(t, r, "sum#time.duration")
	if got := inclusive["main"]; got < 0.4e9 || got > 0.6e9 {
		t.Errorf("main takes %.0f ns, want about half a second", got)
	}
	said := false
	for _, e := range r.Info().Report {
		said = said || e.Kind == trace.Guessed
	}
	if !said {
		t.Error("the guess is not in the report")
	}
}
