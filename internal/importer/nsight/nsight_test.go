package nsight

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "two-gpus.sqlite", Most: 12, Cuts: 60}, {Path: "saxpy-rank0.sqlite", Most: 12, Cuts: 60},
		{Path: "two-gpus-parquet", Most: 12, Cuts: 60, ByName: true}, {Path: "two-gpus.jsonl", Most: 12, Cuts: 60, Anywhere: true},
		{Path: "few.jsonl", Anywhere: true}, {Path: "few-parquet", ByName: true, Cuts: 40},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.sqlite", "testdata/saxpy-rank0.sqlite", "testdata/two-gpus.sqlite")
}

// Counted with an SQLite client in the same files.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	type facts struct {
		kernels     int64
		kernelTime  trace.Time
		copies      int64
		runtime     int64 // and driver
		ranges      int64 // of NVTX
		links       int64
		unlinked    int64
		gpus, ranks int
	}
	for file, want := range map[string]facts{
		"readers/nsight/h100-2gpu-1s.sqlite":        {3442, 44829522, 904, 5796, 16782, 2092, 2276, 2, 0},
		"readers/nsight/mfu-2gpu-before.sqlite":     {4010, 535200650, 1020, 7466, 19118, 5268, 31, 2, 0},
		"public/nsight-sqlite/saxpy-mpi-cuda-rank0": {5, 88573480, 15, 95, 22, 20, 0, 1, 1},
	} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, file))
		calls, time := w.Categories()
		got := facts{
			kernels: calls["kernel"], kernelTime: time["kernel"], copies: calls["gpu_memcpy"], runtime: calls["cuda_runtime"] + calls["cuda_driver"],
			ranges: calls["cpu_op"] + calls["nvtx"] + calls["MPI"], links: w.Links[trace.LinkSpawn],
			unlinked: w.Reported["guessed GPU work whose launch is not in the file: kept without a link"],
		}
		for _, l := range w.Locations {
			if l.Kind == trace.KindDevice {
				got.gpus++
			}
			if l.Kind == trace.KindProcess && l.Rank != trace.NoRank {
				got.ranks++
			}
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}

func TestFilesThatDifferInANumberAreRanksOfOneRun(t *testing.T) {
	sample, err := os.ReadFile("testdata/two-gpus.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"report1.sqlite", "report0.sqlite"}, "[[report0.sqlite report1.sqlite]]"},
		{[]string{"night0.sqlite", "night1.sqlite"}, "[[night0.sqlite] [night1.sqlite]]"},
		{[]string{"copy0.sqlite", "copy1.sqlite"}, "[[copy0.sqlite] [copy1.sqlite]]"},
		{[]string{"a-rank3.sqlite", "a-rank11.sqlite"}, "[[a-rank3.sqlite a-rank11.sqlite]]"},
		{[]string{"before.sqlite", "after.sqlite"}, "[[after.sqlite] [before.sqlite]]"},
		{[]string{"run-2024.sqlite", "run-2025.sqlite"}, "[[run-2024.sqlite] [run-2025.sqlite]]"},
		{[]string{"4gpu-1.sqlite", "8gpu-2.sqlite"}, "[[4gpu-1.sqlite] [8gpu-2.sqlite]]"},
	} {
		files := fstest.MapFS{}
		for i, f := range c.files {
			files[f] = &fstest.MapFile{Data: startedLater(t, sample, int64(i)*map[byte]int64{'r': 1e9, 'n': 86400e9}[f[0]])}
		}
		s, err := importer.NewSourceFS("x", files)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]string
		for _, run := range claim(s) {
			got = append(got, run.Files)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: runs %v, want %s", c.files, got, c.want)
		}
	}
}

// startedLater is an export whose session started some nanoseconds later.
func startedLater(t *testing.T, export []byte, by int64) []byte {
	t.Helper()
	s, err := importer.NewSourceFS("x", fstest.MapFS{"x": &fstest.MapFile{Data: export}})
	if err != nil {
		t.Fatal(err)
	}
	start := sessionStart(s, "x")
	number := binary.BigEndian.AppendUint64(nil, uint64(start))
	if start == 0 || bytes.Count(export, number) != 1 {
		t.Fatalf("the session's start, %d, is not in the file once", start)
	}
	return bytes.Replace(export, number, binary.BigEndian.AppendUint64(nil, uint64(start+by)), 1)
}

func TestOperatorsOfPyTorchLoseTheirNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"aten::add, op_id = 990346":                               "aten::add -1 990346 ",
		"aten::mm, seq = 7, op_id = 12, sizes = [[2, 3], [3, 4]]": "aten::mm 7 12 [[2, 3], [3, 4]]",
		"train step 7":                       "train step 7 -1 -1 ",
		"a, op_id = x":                       "a, op_id = x -1 -1 ",
		"strange, sizes = [1], no operator":  "strange, sizes = [1], no operator -1 -1 ",
		", op_id = 3":                        ", op_id = 3 -1 -1 ",
		"autograd::engine, seq = 3":          "autograd::engine 3 -1 ",
		"ProfilerStep, with comma, seq = 12": "ProfilerStep, with comma 12 -1 ",
	} {
		o := operator([]byte(text))
		if got := fmt.Sprintf("%s %d %d %s", o.name, o.sequence, o.id, o.sizes); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCallsLoseTheirVersion(t *testing.T) {
	for name, want := range map[string]string{"cudaMalloc_v3020": "cudaMalloc", "cuMemAlloc_v2": "cuMemAlloc", "a_vector": "a_vector", "_v3": "_v3", "x_v": "x_v"} {
		if got := withoutVersion(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// BenchmarkScan prints rows a second, read and converted, without a store.
func BenchmarkScan(b *testing.B) {
	run := importertest.Shared(b, "readers/nsight/mfu-2gpu-before.sqlite")
	rows := int64(0)
	for b.Loop() {
		w := importertest.CountOf(b, Format, run)
		rows += w.Intervals + w.Enters + w.Instants
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// 5,451 samples of one thread, which an SQLite client counts; every stack has its outermost frame, and all are on a row aside.
func TestCPUSamplesAreARowBesideTheirThread(t *testing.T) {
	w := importertest.CountOf(t, Format, importertest.Shared(t, "public/nsight-sqlite/saxpy-mpi-cuda-rank0"))
	aside := 0
	for _, l := range w.Locations {
		if l.Kind == trace.KindSamples {
			aside++
		}
	}
	calls, _ := w.Categories()
	if aside != 1 || w.Enters < calls["sampled"] || calls["sampled"] == 0 || w.Reported["skipped CPU samples without a time, a thread or a call chain"] != 0 {
		t.Errorf("%d rows of samples, %d frames of %d entered, report %v", aside, calls["sampled"], w.Enters, w.Reported)
	}
}

// A stack is shown from the first sample that has it to the first that has not; addresses go by their library.
func TestChainsAreKeptOnce(t *testing.T) {
	c := &chains{byNode: map[chainNode]int32{}, leaf: map[int64]int32{}}
	c.add(7, []frame{{0, 3}, {1, 2}, {2, 1}})
	c.add(9, []frame{{2, 1}, {0, 4}, {1, 2}})
	if len(c.nodes) != 4 || fmt.Sprint(c.stack(c.leaf[7], nil), c.stack(c.leaf[9], nil)) != "[1 2 3] [1 2 4]" {
		t.Errorf("nodes %v, stacks %v %v", c.nodes, c.stack(c.leaf[7], nil), c.stack(c.leaf[9], nil))
	}
	for want, r := range map[string]trace.Region{"main": sampledRegion("main", "/usr/bin/prog"), "[libc.so]": sampledRegion("0x7f", "/lib/libc.so"), "[unknown]": sampledRegion("", "")} {
		if r.Name != want {
			t.Errorf("%s, want %s", r.Name, want)
		}
	}
}
