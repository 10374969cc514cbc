package perfscript

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "header.txt", Anywhere: true},
		{Path: "system-wide.txt", Anywhere: true},
		{Path: "odd.txt", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.txt", "testdata/header.txt", "testdata/odd.txt")
}

// Samples counted in the files: lines that name the event, and their periods.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for file, want := range map[string]struct {
		samples, period float64
		threads         int
	}{
		"simple-with-header.linux-perf.txt": {136, 136136136, 1},
		"simple-with-pid.linux-perf.txt":    {137, 0, 1},
		"system-wide.linux-perf.txt":        {556, 556556556, 2},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "public/perf-script/speedscope/"+file))
		total := map[string]float64{}
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, row := range rows {
				total[r.Metrics()[row.Metric].Name] += row.Exclusive
			}
			return nil
		})
		threads := 0
		for _, k := range r.Locations().Kind {
			if k == trace.KindThread {
				threads++
			}
		}
		got := fmt.Sprint(total["samples of cpu-clock"], total["cpu-clock"], threads, r.Info().Instants, len(r.Info().Report))
		if w := fmt.Sprint(want.samples, want.period, want.threads, want.samples, 0); got != w || err != nil {
			t.Errorf("%s: samples, period, threads, instants, reports %s, want %s: %v", file, got, w, err)
		}
	}
}
