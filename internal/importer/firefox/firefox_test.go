package firefox

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "gecko.json.gz", Most: 20, Cuts: 60},
		{Path: "processed-24.json.gz", Most: 20, Cuts: 60},
		{Path: "processed-66.json.gz", Most: 20, Cuts: 60},
		{Path: "old.json"},
		{Path: "markers-only.json"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.json", "testdata/old.json", "testdata/markers-only.json")
}

// sums adds up a profile by thread, path and metric.
func sums(t *testing.T, r store.Reader) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			path := ""
			for id := p.Path; id != trace.NoCallPath; id = r.CallPaths()[id].Parent {
				g := r.Regions()[r.CallPaths()[id].Region]
				path = fmt.Sprintf("%s/%s(%s:%d)%s", g.Category, g.Name, g.File, g.Line, path)
			}
			out[r.Locations().Path(p.Location)+" "+path+" "+r.Metrics()[p.Metric].Name] = p.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The developer tools saved a profile within an object of their own.
func TestAProfileWithinARecordingOfTheDeveloperToolsIsTheSame(t *testing.T) {
	f, err := os.Open("testdata/gecko.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	marker := `{"end":306.75,"endStack":null,"name":"Styles","stack":null,"start":306.73}`
	text := `{"label":"a","duration":74.1,"markers":[` + marker + `],"frames":[],"memory":[],"ticks":[],"allocations":{"sites":[]},"profile":` + string(profile) + `,"fileType":"Recorded Performance Data","version":3}`
	path := filepath.Join(t.TempDir(), "gecko.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !isProfile([]byte(text[:4096])) {
		t.Error("it is not taken for a profile")
	}
	want, got := sums(t, importertest.Import(t, Format, "testdata/gecko.json.gz")), sums(t, importertest.Import(t, Format, path))
	if !maps.Equal(got, want) {
		t.Errorf("%d sums, want the same %d", len(got), len(want))
	}
}

// One recording in three forms: what Firefox wrote, and two versions of what the profiler makes of it.
func TestFormsOfOneRecordingAreTheSame(t *testing.T) {
	gecko := importertest.Import(t, Format, "testdata/gecko.json.gz")
	want := sums(t, gecko)
	if len(want) < 1000 {
		t.Fatalf("only %d sums", len(want))
	}
	for _, version := range []string{"24", "66"} {
		r := importertest.Import(t, Format, "testdata/processed-"+version+".json.gz")
		if got := sums(t, r); !maps.Equal(got, want) {
			n := 0
			for k, v := range want {
				if got[k] != v && n < 5 {
					n++
					t.Errorf("version %s: %s: %v, want %v", version, k, got[k], v)
				}
			}
			t.Errorf("version %s: %d sums, want %d", version, len(got), len(want))
		}
		if g, w := r.Info(), gecko.Info(); g.Intervals != w.Intervals || g.Instants != w.Instants || g.Samples != w.Samples || math.Abs(float64(g.End-w.End)) > 1000 {
			t.Errorf("version %s: %d intervals, %d instants, %d samples, %d ns; want %d, %d, %d, %d", version, g.Intervals, g.Instants, g.Samples, g.End, w.Intervals, w.Instants, w.Samples, w.End)
		}
	}
}

// What a plain decoder counts in the recording is what is there: samples of each thread, and markers by phase.
func TestCountsAreThoseOfTheFile(t *testing.T) {
	f, err := os.Open("testdata/gecko.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	type profile struct {
		Threads []struct {
			Samples, Markers struct{ Data [][]any }
		}
		Processes []profile
	}
	var file profile
	if err := json.NewDecoder(in).Decode(&file); err != nil {
		t.Fatal(err)
	}
	samples, phases := 0.0, [4]int64{}
	var count func(p profile)
	count = func(p profile) {
		for _, thread := range p.Threads {
			samples += float64(len(thread.Samples.Data))
			for _, m := range thread.Markers.Data {
				phases[int(m[3].(float64))]++
			}
		}
		for _, inner := range p.Processes {
			count(inner)
		}
	}
	count(file)
	r := importertest.Import(t, Format, "testdata/gecko.json.gz")
	got := 0.0
	for k, v := range sums(t, r) {
		if k[len(k)-len(" samples"):] == " samples" {
			got += v
		}
	}
	if got != samples || samples != 24 {
		t.Errorf("%v samples, want %v", got, samples)
	}
	w := importertest.CountOf(t, Format, "testdata/gecko.json.gz")
	if w.Instants != phases[0] || w.Intervals != phases[1] || phases[0]*phases[1]*phases[2] == 0 {
		t.Errorf("%d instants and %d intervals, want %d and %d", w.Instants, w.Intervals, phases[0], phases[1])
	}
}

// Frames of Gecko profiles are texts.
func TestLocationsOfGeckoFrames(t *testing.T) {
	s := &stacker{process: &process{libraries: []library{{"libxul.so", 0x1000, 0x2000}}}}
	for text, want := range map[string]trace.Region{
		"0x1010":                          {Name: "libxul.so+0x10"},
		"0x3000":                          {Name: "0x3000"},
		"js::RunScript":                   {Name: "js::RunScript"},
		"work (http://a.b/c.js:12:7)[34]": {Name: "work", File: "http://a.b/c.js", Line: 12},
		"old (chrome://blargh:34)":        {Name: "old", File: "chrome://blargh", Line: 34},
		"resource://gre/x.js[22]":         {Name: "resource://gre/x.js"},
		"operator (int)":                  {Name: "operator (int)"},
	} {
		if got := s.location(text); got.Name != want.Name || got.File != want.File || got.Line != want.Line {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
