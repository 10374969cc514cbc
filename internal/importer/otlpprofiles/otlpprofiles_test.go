package otlpprofiles

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "two-hosts.otlp.pb", Anywhere: true}, {Path: "two-hosts.otlp.json"}, {Path: "timed.otlp.pb", Anywhere: true, Most: 5, Cuts: 60},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/two-hosts.otlp.pb", "testdata/two-hosts.otlp.json", "testdata/timed.otlp.pb")
}

// What the program that wrote the files put into them.
func TestTotals(t *testing.T) {
	for file, want := range map[string]struct {
		samples, off float64
		instants     int64
	}{
		"two-hosts.otlp.pb": {1200, 120000000, 0}, "two-hosts.otlp.json": {1200, 120000000, 0}, "timed.otlp.pb": {600, 60000000, 600},
	} {
		r := importertest.Import(t, Format, "testdata/"+file)
		got := map[string]float64{}
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				got[r.Metrics()[p.Metric].Name] += p.Exclusive
			}
			return nil
		})
		if err != nil || got["samples"] != want.samples || got["off_cpu"] != want.off || r.Info().Instants != want.instants {
			t.Errorf("%s: %v and %d instants, want %+v: %v", file, got, r.Info().Instants, want, err)
		}
	}
}
