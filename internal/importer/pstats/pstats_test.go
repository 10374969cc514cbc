package pstats

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "cprofile-cycle.pstats"}, {Path: "cprofile-cycle-py2.pstats"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.pstats", "testdata/cprofile-cycle.pstats", "testdata/cprofile-cycle-py2.pstats")
}

// What Python's own pstats prints of the files.
func TestTotalsArePythons(t *testing.T) {
	for file, want := range map[string]struct{ functions, calls, seconds float64 }{
		"testdata/cprofile-cycle.pstats": {9, 101204007, 23.045403}, "testdata/cprofile-cycle-py2.pstats": {9, 10215108, 2.361709},
		"sim.pstats": {239, 6472, 0.027623},
	} {
		if file == "sim.pstats" {
			file = importertest.Shared(t, "readers3/python/sim.pstats")
		}
		r := importertest.Import(t, Format, file)
		var functions, calls, time float64
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				if r.CallPaths()[p.Path].Flat {
					functions++
					calls += p.Calls
					time += p.Exclusive / 1e9
				}
			}
			return nil
		})
		if err != nil || functions != want.functions || calls != want.calls || math.Abs(time-want.seconds) > 1e-5 {
			t.Errorf("%s: %v functions, %v calls, %v s; want %+v: %v", file, functions, calls, time, want, err)
		}
	}
}
