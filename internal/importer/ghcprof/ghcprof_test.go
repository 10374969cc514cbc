package ghcprof

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "mp.prof", Anywhere: true}, {Path: "exact.prof", Anywhere: true}, {Path: "small.json.prof"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.prof", "testdata/mp.prof", "testdata/exact.prof", "testdata/small.json.prof")
}

// Ticks and bytes of the files, added up by a script.
func TestTotals(t *testing.T) {
	for file, want := range map[string]struct{ time, bytes, within float64 }{
		"mp.prof": {28e6, 43246288, 0.002}, "mp-json.prof": {58e6, 43398728, 0}, "speedscope-simple.prof": {798e6, 1921672664, 0},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "readers3/ghc/"+file))
		got := map[string]float64{}
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				got[r.Metrics()[p.Metric].Name] += p.Exclusive
			}
			return nil
		})
		near := func(a, b float64) bool { return a >= b*(1-want.within) && a <= b*(1+want.within) }
		if err != nil || !near(got["time"], want.time) || !near(got["allocated"], want.bytes) {
			t.Errorf("%s: %v, want %+v: %v", file, got, want, err)
		}
	}
}
