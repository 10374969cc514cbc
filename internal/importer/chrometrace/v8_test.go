package chrometrace

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// chunks is what a plain JSON decoder finds of V8's profiles in a file: samples by the thread that they are of, and
// the time from its first to its last.
func chunks(t *testing.T, name string) (samples map[int]int, span map[int]int64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, ID string
			Tid      int
			Args     struct {
				Data struct {
					CPUProfile struct{ Samples []int }
					TimeDeltas []int64
				}
			}
		}
	}
	if err := json.NewDecoder(in).Decode(&file); err != nil {
		t.Fatal(err)
	}
	thread := map[string]int{}
	samples, span = map[int]int{}, map[int]int64{}
	for _, e := range file.TraceEvents {
		switch e.Name {
		case "Profile":
			thread[e.ID] = e.Tid
		case "ProfileChunk":
			at := thread[e.ID]
			for i, d := range e.Args.Data.TimeDeltas {
				if samples[at]+i > 0 {
					span[at] += d
				}
			}
			samples[at] += len(e.Args.Data.CPUProfile.Samples)
		}
	}
	return samples, span
}

// Every sample counts for the thread that was sampled, not for the one that wrote the chunk, and the
// time between samples is all there.
func TestSamplesOfV8AreThoseOfTheFile(t *testing.T) {
	const name = "testdata/v8/chromium.json.gz"
	want, span := chunks(t, name)
	r := importertest.Import(t, Format, name)
	samples, times := map[string]float64{}, map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			at := r.Locations().Name[p.Location]
			if r.Metrics()[p.Metric].Name == "samples" {
				samples[at] += p.Exclusive
			} else {
				times[at] += p.Exclusive
			}
		}
		return nil
	})
	if err != nil || len(want) != 2 || len(samples) != 2 {
		t.Fatalf("samples on %v, want %v: %v", samples, want, err)
	}
	all := 0
	for i, name := range r.Locations().Name {
		for _, a := range r.Locations().Attributes[i] {
			if n, ok := a.Value.Number(); ok && a.Key == "tid" && want[int(n)] > 0 {
				if got := samples[name]; got != float64(want[int(n)]) || times[name] != float64(span[int(n)])*1000 {
					t.Errorf("%s: %v samples in %v ns, want %d in %d µs", name, got, times[name], want[int(n)], span[int(n)])
				}
				all += want[int(n)]
			}
		}
	}
	if all != 2109 {
		t.Errorf("%d samples were looked at, want 2,109", all)
	}
	for _, e := range r.Info().Report {
		if strings.Contains(e.What, "sample") {
			t.Errorf("reported: %v %s %d", e.Kind, e.What, e.Count)
		}
	}
}

// What versions write differently comes to the same: times beside the samples, or all in one record.
func TestOldFormsOfV8Profiles(t *testing.T) {
	const tree = `"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"work"}},{"id":3,"parent":2,"callFrame":{"functionName":"inner"}}],"samples":[2,3,3]`
	for name, text := range map[string]string{
		"in one record": `[{"ph":"I","name":"CpuProfile","pid":1,"tid":2,"ts":50,"args":{"data":{"cpuProfile":{` + tree + `,"timeDeltas":[10,10,10],"startTime":100,"endTime":140}}}}]`,
		"in chunks": `[{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":2,"ts":50,"args":{"data":{"startTime":100}}},
			{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":60,"args":{"data":{"cpuProfile":{` + tree + `},"timeDeltas":[10,10,10],"endTime":140}}}]`,
	} {
		file := t.TempDir() + "/x.json"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, file)
		got := map[string]float64{}
		err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
			for _, p := range rows {
				got[r.Metrics()[p.Metric].Name+" "+r.Regions()[r.CallPaths()[p.Path].Region].Name] = p.Exclusive
			}
			return nil
		})
		if err != nil || got["time work"] != 10_000 || got["time inner"] != 20_000 || got["samples inner"] != 2 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
