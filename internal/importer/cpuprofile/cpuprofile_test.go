package cpuprofile

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "node.cpuprofile", Most: 20, Cuts: 60}, {Path: "hits.cpuprofile"}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.cpuprofile", "testdata/node.cpuprofile", "testdata/hits.cpuprofile")
}

// Node itself wrote the file: the samples' time adds up to the time between its first sample and its end.
func TestSamplesAddUpToTheWhole(t *testing.T) {
	data, err := os.ReadFile("testdata/node.cpuprofile")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		StartTime, EndTime int64
		TimeDeltas         []int64
		Samples            []int64
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, Format, "testdata/node.cpuprofile")
	got := map[string]float64{}
	err = r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			got[r.Metrics()[p.Metric].Name] += p.Exclusive
		}
		return nil
	})
	if want := float64(file.EndTime-file.StartTime-file.TimeDeltas[0]) * 1000; err != nil || got["time"] != want || got["samples"] != float64(len(file.Samples)) {
		t.Errorf("%.0f ns in %.0f samples, want %.0f in %d: %v", got["time"], got["samples"], want, len(file.Samples), err)
	}
}
