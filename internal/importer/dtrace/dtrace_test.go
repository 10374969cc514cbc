package dtrace

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "stacks.dtrace.txt", Anywhere: true}, {Path: "small.bpftrace.txt", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/stacks.dtrace.txt", "testdata/small.bpftrace.txt")
}

// Counts added up by a script.
func TestCountsOfBpftrace(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "readers3/bpftrace/stacks.bpftrace.txt"))
	total := map[string]float64{}
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			total[r.Metrics()[p.Metric].Name] += p.Exclusive
		}
		return nil
	})
	if err != nil || total["samples"] != 5709 || total["@off"] != 6832 || len(r.Regions()) != 25 {
		t.Errorf("%v in %d functions: %v", total, len(r.Regions()), err)
	}
}
