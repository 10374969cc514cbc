package rocprof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "dispatches.json", Most: 12, Cuts: 80}, {Path: "calls.json"}, {Path: "calls.db", Cuts: 80}, {Path: "csv", Anywhere: true, ByName: true}, {Path: "results.csv", Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/calls.json", "testdata/calls.db", "testdata/csv", "testdata/results.csv")
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

// The sheets of one process are one run: three dispatches, a copy, four calls, two markers, and every piece of GPU work finds its call.
func TestFilesOfAProcessAreOneRun(t *testing.T) {
	w := importertest.CountOf(t, Format, "testdata/csv")
	calls, time := w.Categories()
	got := fmt.Sprint(calls["kernel"], int64(time["kernel"]), calls["gpu_memcpy"], calls["hip_api"], calls["user_annotation"], w.Instants, w.Links[trace.LinkSpawn], w.Samples, w.Reported)
	if want := "3 32120 1 4 1 1 4 2 map[]"; got != want {
		t.Errorf("dispatches, their time, copies, calls, ranges, marks, links, samples, report %s, want %s", got, want)
	}
}

func TestDispatchesWithoutTimesAreRefusedWithAdvice(t *testing.T) {
	s, err := importer.NewSourceFS("x", fstest.MapFS{"results.csv": {Data: []byte("\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\"\n0,\"a\",0,0\n")}})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs[0].Import(context.Background(), importertest.NewCount()); err == nil || !strings.Contains(err.Error(), "--timestamp on") {
		t.Error(err)
	}
}

func TestLinesAreCutAtTheirCommas(t *testing.T) {
	for line, want := range map[string]string{
		`a,"b, c",3`:        "a|b, c|3",
		`"a ""b"" c",`:      `a "b" c|`,
		`"",x`:              "|x",
		`"open, to the end`: "open, to the end",
		``:                  "",
	} {
		if got := string(bytes.Join(split([]byte(line), nil), []byte("|"))); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for file, want := range map[string]string{"a/1_kernel_trace.csv": "a/1", "a/1_hip_api_trace.csv": "a/1", "a/1_memory_copy_trace.csv": "a/1", "out_agent_info.csv": "out", "odd.csv": "odd.csv"} {
		if got := prefixOf(file); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
