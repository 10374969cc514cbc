package rocprof

import (
	"os"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "dispatches.json", Most: 12, Cuts: 80}, {Path: "calls.json"}, {Path: "calls.db", Cuts: 80}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/calls.json", "testdata/calls.db")
}

// Counted and summed by TraceLens's own test of the file.
func TestDispatchesAreThoseOfTheFile(t *testing.T) {
	w := importertest.CountOf(t, Format, importertest.Shared(t, "readers/rocprofiler/sdk-908-results.json.gz"))
	calls, time := w.Categories()
	if calls["kernel"] != 43915 || time["kernel"] != 4441741378 {
		t.Errorf("%d dispatches, %d ns; want 43915, 4441741378", calls["kernel"], time["kernel"])
	}
}

// The database holds the same records, so only what it cannot tell differs.
func TestBothWaysOfWritingGiveTheSameTrace(t *testing.T) {
	read := func(name string) (out []string) {
		b, err := os.ReadFile("testdata/" + name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if !strings.HasPrefix(line, "report ") && !strings.HasPrefix(line, "region ") {
				out = append(out, line)
			}
		}
		return out
	}
	a, b := read("calls.json"), read("calls.db")
	if len(a) != len(b) {
		t.Fatalf("%d and %d lines", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("from JSON %s, from the database %s", a[i], b[i])
		}
	}
}
