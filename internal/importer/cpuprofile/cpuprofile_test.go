package cpuprofile

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "node.cpuprofile", Most: 20, Cuts: 60}, {Path: "hits.cpuprofile"}, {Path: "head.cpuprofile"},
		{Path: "node10.heapprofile", Most: 20, Cuts: 60}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.cpuprofile", "testdata/node.cpuprofile", "testdata/hits.cpuprofile", "testdata/head.cpuprofile", "testdata/node10.heapprofile")
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

// A heap profile has its bytes, an older profile its samples: counted by a script that walks the JSON.
func TestProfilesWithNestedNodesAddUp(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		"node10.heapprofile": {"allocated": 525704},
		"head.cpuprofile":    {"samples": 4, "time": 5e6},
	} {
		r := importertest.Import(t, Format, "testdata/"+file)
		got := map[string]float64{}
		err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				got[r.Metrics()[p.Metric].Name] += p.Exclusive
			}
			return nil
		})
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v: %v", file, got, want, err)
		}
	}
}

// Nodes that are missing from a call tree are told by those that name them. Bytes may be missing such that two nodes
// become one sound node: nothing tells that.
func TestNodesThatAreMissingAreReported(t *testing.T) {
	for harm, most := range map[string]int{"removed": 2, "zeroed": 0, "cut": 0} {
		silent := importertest.Silent(t, Format, "testdata/node.cpuprofile", "node.cpuprofile", harm, 200)
		if len(silent) > most {
			t.Error(silent)
		}
	}
}
