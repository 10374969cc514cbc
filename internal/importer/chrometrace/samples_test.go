package chrometrace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// count imports a source into a writer that only counts.
func count(tb testing.TB, path string) *importertest.Count {
	tb.Helper()
	s, err := importer.NewSource(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		tb.Fatal(err)
	}
	w := importertest.NewCount()
	if err := runs[0].Import(context.Background(), w); err != nil {
		tb.Fatal(err)
	}
	return w
}

// An address that names a region by its number stays true when others import the files, and so does a store that is compared.
func TestManyFilesGiveTheSameStoreEveryTime(t *testing.T) {
	s, err := importer.NewSource(importertest.Shared(t, "kineto-ddp-8rank"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	importertest.SameBytes(t, runs[0], 4)
}

// The numbers are those that the samples' descriptions give, and for links those
// that a script of its own counts over the parsed JSON.
func TestSamplesHoldWhatTheirDescriptionsSay(t *testing.T) {
	for _, c := range []struct {
		path              string
		intervals         int64 // X and pairs of asynchronous records
		enters, leaves    int64
		instants, samples int64
		spawns, flows     int64
		messages          int64
		ranks, rows       int
		report            map[string]int64
	}{
		{path: "kineto-ddp-8rank", intervals: 48549, instants: 16, spawns: 5633, flows: 2496, ranks: 8, rows: 94, report: map[string]int64{
			reasons[profilerRows].What: 8, reasons[flowStarts].What: 200, reasons[flowEnds].What: 2447,
			reasons[repeatedFlows].What: 11266, reasons[noLaunch].What: 61,
		}},
		{path: "chrome-gobuild", enters: 3760, leaves: 3760, flows: 2380, rows: 9},
		{path: "chrome-clang", intervals: 5231 - 94, rows: 1, report: map[string]int64{reasons[clangTotals].What: 94}},
		{path: "chrome-node", intervals: 102 + 185, enters: 47, leaves: 47, instants: 30},
		{path: "public/chrome-json/catapult/flow.json", enters: 1625, leaves: 1622, flows: 846, report: map[string]int64{
			reasons[flowStarts].What: 20, reasons[flowEnds].What: 40, reasons[sharedFlows].What: 429,
		}},
		{path: "public/chrome-json/catapult/main_thread_has_unclosed_slices.json", enters: 1684, leaves: 1680},
		{path: "public/chrome-json/catapult/x_event_trace.json", intervals: 2799 + 53, enters: 442 + 2, leaves: 442, instants: 59 + 124, samples: 42, report: map[string]int64{
			reasons[asyncEnds].What: 2,
		}},
		{path: "public/chrome-json/clang-time-trace/main.json", intervals: 658, rows: 1, report: map[string]int64{reasons[clangTotals].What: 140}},
		{path: "public/chrome-json/bazel-94threads", intervals: 12778, instants: 7, samples: 3369},
		{path: "public/chrome-json/dftracer-cm1-48ranks", intervals: 284041, ranks: 48, rows: 48},
		{path: "public/kineto/alexnet-critical-path", intervals: 867, instants: 2, spawns: 98, flows: 41, ranks: 1},
		{path: "public/kineto/amd-mi250-minitoy", intervals: 112, instants: 2, spawns: 16, flows: 4},
		{path: "public/kineto/backward-thread", intervals: 7, spawns: 1, ranks: 1, rows: 3},
		{path: "public/kineto/cuda-event-sync-streams", intervals: 56, instants: 2, spawns: 6, flows: 2, ranks: 1},
		{path: "public/kineto/ddp-rank0-of-2-nccl", intervals: 26932, instants: 2, spawns: 3774, flows: 543, ranks: 1, rows: 5, report: map[string]int64{
			reasons[flowStarts].What: 88, reasons[flowEnds].What: 4878, reasons[repeatedFlows].What: 7548,
		}},
		{path: "public/kineto/gloo-cpu-rank34-of-300", intervals: 15, instants: 2, ranks: 1, rows: 3},
		{path: "public/kineto/resnet50-dataloader", intervals: 44665, instants: 12840, samples: 12838, spawns: 9096, ranks: 1, rows: 3, report: map[string]int64{reasons[repeatedFlows].What: 18192}},
		{path: "public/kineto/sampled-ranks-0-1-of-128", intervals: 4810 + 4675, spawns: 1204 + 1154, ranks: 2, rows: 14},
	} {
		t.Run(c.path, func(t *testing.T) {
			w := count(t, importertest.Shared(t, c.path))
			same(t, "intervals", w.Intervals, c.intervals)
			same(t, "enter records", w.Enters, c.enters)
			same(t, "leave records", w.Leaves, c.leaves)
			same(t, "instants", w.Instants, c.instants)
			same(t, "samples", w.Samples, c.samples)
			same(t, "spawn links", w.Links[trace.LinkSpawn], c.spawns)
			same(t, "flow links", w.Links[trace.LinkFlow], c.flows)
			same(t, "messages", w.Links[trace.LinkMessage], c.messages)
			ranks, rows := 0, 0
			for _, l := range w.Locations {
				if l.Rank != trace.NoRank {
					ranks++
				}
				if l.Kind == trace.KindThread || l.Kind == trace.KindStream {
					rows++
				}
			}
			same(t, "ranks", ranks, c.ranks)
			if c.rows > 0 {
				same(t, "threads and streams", rows, c.rows)
			}
			for what, n := range c.report {
				got := w.Reported["skipped "+what] + w.Reported["repaired "+what] + w.Reported["guessed "+what]
				same(t, what, got, n)
			}
		})
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// golden.txt of the 8-rank job gives counts and sums of complete records for each
// rank and category.
func TestEachRankHasItsCategoriesToTheNanosecond(t *testing.T) {
	dir := importertest.Shared(t, "kineto-ddp-8rank")
	golden, err := os.ReadFile(filepath.Join(dir, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	line := func(rank int, what string) string {
		_, text, _ := strings.Cut(string(golden), fmt.Sprintf("rank %d: events", rank))
		_, text, _ = strings.Cut(text, what)
		text, _, _ = strings.Cut(text, "\n")
		return text
	}
	pair := regexp.MustCompile(`'(\w+)': '?([\d.]+)`)
	checked := 0
	for rank := range 8 {
		w := count(t, filepath.Join(dir, fmt.Sprintf("rank%d.json.gz", rank)))
		calls, time := w.Categories()
		for _, m := range pair.FindAllStringSubmatch(line(rank, "X by category"), -1) {
			if want, _ := strconv.ParseInt(m[2], 10, 64); m[1] != "Trace" {
				same(t, fmt.Sprintf("rank %d, %s", rank, m[1]), calls[m[1]], want)
				checked++
			}
		}
		for _, m := range pair.FindAllStringSubmatch(line(rank, "X us by category"), -1) {
			if want, _ := decimal([]byte(m[2]), 3); m[1] != "Trace" {
				same(t, fmt.Sprintf("rank %d, time in %s", rank, m[1]), time[m[1]], trace.Time(want))
				checked++
			}
		}
	}
	if checked < 8*16 {
		t.Errorf("only %d facts found in golden.txt", checked)
	}
}

func TestKinetoSamplesHaveTheAssertedValues(t *testing.T) {
	w := count(t, importertest.Shared(t, "public/kineto/ddp-rank0-of-2-nccl"))
	var nccl, kernels int64
	var ncclTime, kernelTime trace.Time
	for id, r := range w.Regions {
		if r.Category != "kernel" {
			continue
		}
		kernels += w.Calls[trace.RegionID(id)]
		kernelTime += w.Time[trace.RegionID(id)]
		if strings.HasPrefix(r.Name, "nccl") {
			nccl += w.Calls[trace.RegionID(id)]
			ncclTime += w.Time[trace.RegionID(id)]
		}
	}
	same(t, "NCCL kernels", nccl, 21)
	same(t, "time in NCCL kernels", ncclTime, 46876493)
	same(t, "time in kernels", kernelTime, 162532340)
	same(t, "kernels", kernels, 2700)
}

func TestSharedDirectoriesAreTheRunsTheyShouldBe(t *testing.T) {
	for path, want := range map[string]int{
		"public/chrome-json/catapult":         5,  // five traces of their own
		"public/chrome-json/edge-cases":       30, // files that have nothing to do with each other
		"public/chrome-json/clang-time-trace": 2,
		"public/kineto":                       8, // eight jobs, one of them of two files
		"kineto-ddp-8rank":                    1,
	} {
		t.Run(path, func(t *testing.T) {
			s, err := importer.NewSource(importertest.Shared(t, path))
			if err != nil {
				t.Fatal(err)
			}
			runs, _ := importer.Detect([]*importer.Format{Format}, s)
			same(t, "runs", len(runs), want)
		})
	}
}
