package pyinstrument

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "small.json"}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "x.json", "testdata/small.json") }

func TestExclusiveTimesAddUpToTheRoot(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "readers3/python/hatchet.pyinstrument.json"))
	total := 0.0
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			total += p.Exclusive
		}
		return nil
	})
	if err != nil || math.Abs(total-478150000) > 1e4 || len(r.Regions()) < 44 {
		t.Errorf("%v ns in %d functions: %v", total, len(r.Regions()), err)
	}
}
