package chrometrace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

const (
	plainFile  = `[{"ph":"X","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]`
	kinetoFile = `{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"pid":1,"tid":1}]}`
)

// pfwFile is a DFTracer file of a process on host h, whose first record is at a time in µs.
func pfwFile(pid, at int) string {
	return "[\n" + fmt.Sprintf(`{"name":"HH","cat":"dftracer","pid":%d,"tid":1,"ph":"M","args":{"name":"h","value":1}}
{"name":"open","cat":"POSIX","pid":%d,"tid":1,"ts":%d,"dur":1,"ph":"X"}`, pid, pid, at) + "\n"
}

// peerFile is a Kineto file that communicates and does not state its rank.
func peerFile(pid int, second int64) string {
	return fmt.Sprintf(`{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"nccl:all_reduce","ts":%d,"dur":1,"pid":%d,"tid":1}]}`, (1700000000+second)*1e6, pid)
}

// laterOf is a file that states its rank and begins in some second.
func laterOf(rank, world int, second int64) string {
	return strings.Replace(rankOf(rank, world), `"ts":1,`, fmt.Sprintf(`"ts":%d,`, (1700000000+second)*1e6), 1)
}

func rankOf(rank, world int) string {
	return fmt.Sprintf(`{"distributedInfo":{"rank":%d,"world_size":%d},%s`, rank, world, strings.TrimPrefix(kinetoFile, "{"))
}

func TestFilesAreGroupedIntoRuns(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // files of each run, in order; runs apart by bars
	}{
		"plain files are runs of their own": {map[string]string{"a.json": plainFile, "b.json": plainFile}, "a.json | b.json"},
		"ranks in the content":              {map[string]string{"b": rankOf(0, 2), "a": rankOf(1, 2)}, "b a"},
		"ranks in the names":                {map[string]string{"rank1.json": kinetoFile, "rank0.json": kinetoFile, "rank10.json": kinetoFile}, "rank0.json rank1.json rank10.json"},
		"numbered, and they communicate":    {map[string]string{"t_0.json": peerFile(7, 0), "t_1.json": peerFile(8, 1)}, "t_0.json t_1.json"},
		"numbered, days apart":              {map[string]string{"t_0.json": peerFile(7, 0), "t_1.json": peerFile(8, 86400)}, "t_0.json | t_1.json"},
		"numbered, of one process id":       {map[string]string{"t_0.json": peerFile(7, 0), "t_1.json": peerFile(7, 1)}, "t_0.json | t_1.json"},
		"numbered, each alone":              {map[string]string{"night-0.json": kinetoFile, "night-1.json": kinetoFile}, "night-0.json | night-1.json"},
		"nights of one rank":                {map[string]string{"night-0.json": rankOf(0, 1), "night-1.json": rankOf(0, 1)}, "night-0.json | night-1.json"},
		"rank 0 of each night":              {map[string]string{"night-0.json": rankOf(0, 8), "night-1.json": rankOf(0, 8)}, "night-0.json | night-1.json"},
		"ranks of nights, by name":          {map[string]string{"n1-rank0": rankOf(0, 2), "n1-rank1": rankOf(1, 2), "n2-rank0": rankOf(0, 2), "n2-rank1": rankOf(1, 2), "n3-rank1": rankOf(1, 2)}, "n1-rank0 n1-rank1 | n2-rank0 n2-rank1 | n3-rank1"},
		"ranks of nights, by number":        {map[string]string{"n1_0": rankOf(0, 2), "n1_1": rankOf(1, 2), "n2_0": rankOf(0, 2), "n2_1": rankOf(1, 2)}, "n1_0 n1_1 | n2_0 n2_1"},
		"ranks of nights, by time":          {map[string]string{"a": laterOf(0, 2, 90), "b": laterOf(0, 2, 0), "c": laterOf(1, 2, 91), "d": laterOf(1, 2, 1)}, "a c | b d"},
		"windows of one worker":             {map[string]string{"worker0.1623143089861.pt.trace.json": kinetoFile, "worker0.1623143566756.pt.trace.json": kinetoFile}, "worker0.1623143089861.pt.trace.json worker0.1623143566756.pt.trace.json"},
		"another process of one worker":     {map[string]string{"worker0.1623143089861.pt.trace.json": peerFile(7, 0), "worker0.1623143566756.pt.trace.json": peerFile(8, 9)}, "worker0.1623143089861.pt.trace.json | worker0.1623143566756.pt.trace.json"},
		"numbers that are no ranks":         {map[string]string{"t_4711.json": kinetoFile, "t_4712.json": kinetoFile}, "t_4711.json | t_4712.json"},
		"names of PyTorch's handler":        {map[string]string{"h1_7.1623143089861.pt.trace.json": peerFile(7, 0), "h2_7.1623143089862.pt.trace.json": peerFile(7, 1)}, "h1_7.1623143089861.pt.trace.json h2_7.1623143089862.pt.trace.json"},
		"no ranks at all":                   {map[string]string{"x.json": kinetoFile, "y.json": kinetoFile}, "x.json | y.json"},
		"two jobs in one directory":         {map[string]string{"a": rankOf(0, 2), "b": rankOf(1, 2), "c": rankOf(0, 4)}, "a b | c"},
		"a rank started anew":               {map[string]string{"a": rankOf(0, 2), "b": rankOf(1, 2), "c": rankOf(1, 2)}, "a b | c"},
		"a directory a node":                {map[string]string{"n0/a": rankOf(0, 4), "n0/b": rankOf(1, 4), "n1/a": rankOf(2, 4), "n1/b": rankOf(3, 4)}, "n0/a n0/b n1/a n1/b"},
		"a directory a job":                 {map[string]string{"j0/a": rankOf(0, 2), "j0/b": rankOf(1, 2), "j1/a": rankOf(0, 2), "j1/b": rankOf(1, 2)}, "j0/a j0/b | j1/a j1/b"},
		"one that does not say the world":   {map[string]string{"rank0.json": rankOf(0, 2), "rank1.json": kinetoFile}, "rank0.json rank1.json"},
		"DFTracer":                          {map[string]string{"app-500.pfw": pfwFile(500, 1), "app-501.pfw": pfwFile(501, 2)}, "app-500.pfw app-501.pfw"},
		"DFTracer, a process once more":     {map[string]string{"a": pfwFile(500, 1), "b": pfwFile(501, 2), "c": pfwFile(500, 90), "d": pfwFile(501, 91)}, "a b | c d"},
		"Kineto beside a plain file":        {map[string]string{"rank0.json": kinetoFile, "rank1.json": kinetoFile, "host.json": plainFile}, "host.json | rank0.json rank1.json"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for n, s := range c.files {
				fsys[n] = &fstest.MapFile{Data: []byte(s)}
			}
			s, err := importer.NewSourceFS("s", fsys)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range Format.Claim(s) {
				got = append(got, strings.Join(r.Files, " "))
			}
			if got := strings.Join(got, " | "); got != c.want {
				t.Errorf("runs %q, want %q", got, c.want)
			}
		})
	}
}

func TestOnlyTraceEventsAreClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want bool
	}{
		"records":              {plainFile, true},
		"one record a line":    {`{"ph":"X","name":"a","ts":1,"pid":1,"tid":1}` + "\n", true},
		"an empty list":        {`{"traceEvents":[]}`, true},
		"a bare empty list":    {`[]`, false},
		"metadata only":        {`[{"ph":"M","name":"process_name","args":{"name":"x"}}]`, true},
		"device list, cut":     {`{"schemaVersion":1,"deviceProperties":[` + strings.Repeat(`{"id":0},`, 8000), true},
		"Zipkin":               {`[{"traceId":"a","id":"b","name":"get","timestamp":1,"duration":2}]`, false},
		"Jaeger":               {`{"data":[{"traceID":"a","spans":[{"operationName":"x"}]}]}`, false},
		"OTLP":                 {`{"resourceSpans":[{"scopeSpans":[]}]}`, false},
		"a CPU profile":        {`{"nodes":[{"id":1}],"startTime":1}`, false},
		"speedscope":           {`{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[]}}`, false},
		"acidity":              {`[{"ph":"acid","name":"lemon"},{"ph":7.0}]`, false},
		"text":                 {`hello`, false},
		"nothing":              {``, false},
		"schema version alone": {`{"schemaVersion":1,"slices":[]}`, false},
	} {
		if got := probe("x", []byte(c.in)).trace; got != c.want {
			t.Errorf("%s: claimed %v, want %v", name, got, c.want)
		}
	}
}

func TestRanksFromNames(t *testing.T) {
	for name, want := range map[string]int{
		"rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz": 34, "sampled_rank-0.json.gz": 0, "worker0.1623143089861.pt.trace.json.gz": 0,
		"Rank_7.json": 7, "rank=3/trace.json": 3, "frank5.json": -1, "trace.json": -1, "x.rank12": 12, "rank1234567890.json": -1,
	} {
		if got := rankWord(name); got != want {
			t.Errorf("%s is rank %d, want %d", name, got, want)
		}
	}
}

func TestRanksFromNamesOfProcesses(t *testing.T) {
	for name, want := range map[string]int{"rank 3": 3, "MPI Rank 12": 12, "Rank#0 on n1": 0, "worker 3": -1, "frank 3": -1, "ranker": -1, "": -1} {
		if got := processRank(name); got != want {
			t.Errorf("%q is rank %d, want %d", name, got, want)
		}
	}
}

// The base of Kineto's times may stand after the records, in a file that can only
// be unpacked from its beginning.
func TestALateBaseIsFoundInPackedFilesToo(t *testing.T) {
	packed, plain := fstest.MapFS{}, fstest.MapFS{}
	for rank, base := range []string{"1700000000000000000", "1700000000000500000"} {
		text := strings.TrimSuffix(rankOf(rank, 2), "}") + `,"baseTimeNanoseconds": ` + base + `}`
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		name := fmt.Sprintf("rank%d.json", rank)
		packed[name] = &fstest.MapFile{Data: b.Bytes()}
		plain[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, files := range []fstest.MapFS{packed, plain} {
		s, err := importer.NewSourceFS("s", files)
		if err != nil {
			t.Fatal(err)
		}
		for rank, want := range []int64{1700000000000000000, 1700000000000500000} {
			got, ok := lateBase(context.Background(), importer.Run{Source: s}, fmt.Sprintf("rank%d.json", rank), `"baseTimeNanoseconds":`)
			if !ok || got != want {
				t.Errorf("base %d, %v, want %d", got, ok, want)
			}
		}
	}
}

func TestBadFilesGiveOneClearError(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // part of the error; empty: none
		count string // of the report
	}{
		"no records":                 {map[string]string{"x": `{"traceEvents":[]}`}, "s/x: holds no trace events", ""},
		"garbage":                    {map[string]string{"x": `{"traceEvents":[{"ph" oh no`}, "s/x: byte 16: no record can be read from here on", ""},
		"one bad file among ranks":   {map[string]string{"rank0": rankOf(0, 2), "rank1": rankOf(1, 2)[:80]}, "", "skipped files that cannot be read"},
		"all files of a run are bad": {map[string]string{"rank0": rankOf(0, 2)[:80], "rank1": rankOf(1, 2)[:80]}, "s/rank0: byte 78: no record can be read", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for n, s := range c.files {
				fsys[n] = &fstest.MapFile{Data: []byte(s)}
			}
			s, _ := importer.NewSourceFS("s", fsys)
			runs := Format.Claim(s)
			if len(runs) != 1 {
				t.Fatalf("%d runs", len(runs))
			}
			runs[0].Source, runs[0].Format = s, Format
			w := importertest.NewCount()
			err := runs[0].Import(context.Background(), w)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, importer.ErrMalformed) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if c.count != "" && w.Reported[c.count] != 1 {
				t.Errorf("report is %v, want %q", w.Reported, c.count)
			}
		})
	}
}
