package xplane

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "jax-vm.xplane.pb.gz", Most: 10, Cuts: 60}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.xplane.pb", "testdata/jax-vm.xplane.pb.gz")
}

// The profiler wrote the same run a second time, as Chrome trace events, from which it leaves
// out events without a duration. Names, times and rows must be the same.
func TestProfileEqualsTheTraceOfTheSameRun(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "ml/jax/jax-vm.xplane.pb"))
	var (
		mu  sync.Mutex // locations come at the same time
		got []string
	)
	err := r.Intervals(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(b *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range b.Begin {
			got = append(got, fmt.Sprintf("%s %d %d", r.Regions()[b.Region[i]].Name, b.Begin[i], b.Duration[i]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := chromeEvents(t, importertest.Shared(t, "ml/jax/jax-vm.trace.json.gz"))
	slices.Sort(got)
	slices.Sort(want)
	if only, missing := differ(got, want), differ(want, got); len(only)+len(missing) > 0 {
		t.Errorf("of %d intervals and %d events, only here %q, only in the trace %q", len(got), len(want), only, missing)
	}
}

// differ lists what of a sorted list another one has not.
func differ(list, other []string) (out []string) {
	for _, x := range list {
		if _, ok := slices.BinarySearch(other, x); !ok {
			out = append(out, x)
		}
	}
	return out
}

// chromeEvents lists name, begin and duration of complete events, in ns from the first.
func chromeEvents(t *testing.T, name string) (out []string) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph, Name string
			Ts, Dur  float64
		}
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	first := math.Inf(1)
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			first = min(first, e.Ts)
		}
	}
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			out = append(out, fmt.Sprintf("%s %.0f %.0f", e.Name, (e.Ts-first)*1000, e.Dur*1000))
		}
	}
	return out
}

// Counted over the lines of the file: 60 on the first GPU, 25 on each of the others.
func TestKernelsOfEveryDeviceAreFound(t *testing.T) {
	w := importertest.CountOf(t, Format, importertest.Shared(t, "ml/jax/mi300-conv-minimal.xplane.pb"))
	devices := 0
	for _, l := range w.Locations {
		if l.Kind == trace.KindDevice {
			devices++
		}
	}
	calls, _ := w.Categories()
	if devices != 8 || calls["kernel"] != 235 {
		t.Errorf("%d devices with %d kernels, want 8 with 235", devices, calls["kernel"])
	}
}

func TestFilesOfASessionAreOneRun(t *testing.T) {
	sample, err := os.ReadFile("testdata/jax-vm.xplane.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  int
	}{
		{[]string{"plugins/profile/2026_01_01/b.xplane.pb", "plugins/profile/2026_01_01/a.xplane.pb"}, 1},
		{[]string{"plugins/profile/1/a.xplane.pb", "plugins/profile/2/a.xplane.pb"}, 2},
		{[]string{"a.xplane.pb", "b.xplane.pb"}, 2},
	} {
		files := fstest.MapFS{}
		for _, f := range c.files {
			files[f] = &fstest.MapFile{Data: sample}
		}
		s, err := importer.NewSourceFS("x", files)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(claim(s)); got != c.want {
			t.Errorf("%v: %d runs, want %d", c.files, got, c.want)
		}
	}
}
