package importtime

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "small.txt", Anywhere: true}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "x.txt", "testdata/small.txt") }

// Own times added up by a script.
func TestTotal(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "readers3/python/asyncio.importtime"))
	total := 0.0
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			total += p.Exclusive
		}
		return nil
	})
	if err != nil || total != 133201e3 || len(r.Regions()) < 130 {
		t.Errorf("%v ns in %d modules: %v", total, len(r.Regions()), err)
	}
}
