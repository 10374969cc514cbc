package v8log

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "isolate.log", Most: 12, Anywhere: true, Cuts: 60},
		{Path: "events.log", Most: 40, Anywhere: true, Cuts: 60}, {Path: "ticks.json", Most: 12, Cuts: 60}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.log", "testdata/isolate.log", "testdata/events.log", "testdata/ticks.json")
}

// Ticks, those that `node --prof-process` counts for functions in JavaScript, and those in the collector.
func TestTicksOfRealLogs(t *testing.T) {
	for _, file := range []string{"app.v8.log", "app.v8log.json.gz"} {
		r := importertest.Import(t, Format, importertest.Shared(t, "readers3/node/"+file))
		ticks, script, collector := 0.0, 0.0, 0.0
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, row := range rows {
				if r.Metrics()[row.Metric].Name != "samples" {
					continue
				}
				ticks += row.Exclusive
				switch region := r.Regions()[r.CallPaths()[row.Path].Region]; {
				case region.Category == "JS":
					script += row.Exclusive
				case region.Name == "(garbage collector)":
					collector += row.Exclusive
				}
			}
			return nil
		})
		if err != nil || ticks != 130 || script != 16 || collector != 45 {
			t.Errorf("%s: %v ticks, %v in JavaScript, %v in the collector: %v", file, ticks, script, collector, err)
		}
	}
}
