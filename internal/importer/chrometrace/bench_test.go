package chrometrace

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func unpacked(tb testing.TB, file string) []byte {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	data, err = io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// scanAll counts the records in data.
func scanAll(data []byte) (n int) {
	var r record
	for s := newScanner(bytes.NewReader(data)); s.next(&r); n++ {
	}
	return n
}

// decodeAll does the same with the standard library, in the way that costs it
// least: a stream, a struct, arguments left as text.
func decodeAll(tb testing.TB, data []byte) int {
	type event struct {
		Phase    string          `json:"ph"`
		Name     string          `json:"name"`
		Category string          `json:"cat"`
		Pid, Tid json.RawMessage `json:"-"`
		Ts       json.Number     `json:"ts"`
		Dur      json.Number     `json:"dur"`
		Args     json.RawMessage `json:"args"`
	}
	var file struct {
		TraceEvents []event `json:"traceEvents"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		tb.Fatal(err)
	}
	return len(file.TraceEvents)
}

// measure reports MB for each second of processor time, and how many times less
// of it is used than what a peer took.
func measure(b *testing.B, size int, peer time.Duration, do func()) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	begin := benchtest.CPUTime()
	for b.Loop() {
		do()
	}
	used := benchtest.CPUTime() - begin
	if used <= 0 {
		return
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
	if peer > 0 {
		b.ReportMetric(float64(peer)*float64(b.N)/float64(used), "x-encoding/json")
	}
}

// BenchmarkScanner gives the speed of the scanner, and how many times faster it
// is than encoding/json on the same bytes in the same run.
func BenchmarkScanner(b *testing.B) {
	for _, c := range []struct{ name, file string }{
		{"ResNet50", "public/kineto/resnet50-dataloader/worker0.1623143089861.pt.trace.json.gz"},
		{"NCCL", "public/kineto/ddp-rank0-of-2-nccl/nccl_data.json.gz"},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := unpacked(b, importertest.Shared(b, c.file))
			begin := benchtest.CPUTime()
			want := decodeAll(b, data)
			peer := benchtest.CPUTime() - begin
			measure(b, len(data), peer, func() {
				if got := scanAll(data); got != want {
					b.Fatalf("%d records, encoding/json finds %d", got, want)
				}
			})
		})
	}
}

// BenchmarkConvert adds the meaning: records become calls of a writer that only
// counts. One core, nothing to unpack.
func BenchmarkConvert(b *testing.B) {
	for _, c := range []struct{ name, file string }{
		{"ResNet50", "public/kineto/resnet50-dataloader/worker0.1623143089861.pt.trace.json.gz"},
		{"NCCL", "public/kineto/ddp-rank0-of-2-nccl/nccl_data.json.gz"},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := unpacked(b, importertest.Shared(b, c.file))
			s, err := importer.NewSourceFS("bench", fstest.MapFS{"rank0.json": {Data: data}})
			if err != nil {
				b.Fatal(err)
			}
			runs, err := importer.Detect([]*importer.Format{Format}, s)
			if err != nil {
				b.Fatal(err)
			}
			measure(b, len(data), 0, func() {
				if err := runs[0].Import(context.Background(), importertest.NewCount()); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkImport is the whole: unpacking, scanning and converting many files on
// all cores. MB are of unpacked text.
func BenchmarkImport(b *testing.B) {
	for _, c := range []struct{ name, path string }{
		{"OneFile", "public/kineto/resnet50-dataloader"},
		{"EightRanks", "kineto-ddp-8rank"},
		{"FortyEightRanks", "public/chrome-json/dftracer-cm1-48ranks"},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := importertest.Shared(b, c.path)
			files, err := filepath.Glob(filepath.Join(path, "*.gz"))
			if err != nil {
				b.Fatal(err)
			}
			size := 0
			for _, f := range files {
				size += len(unpacked(b, f))
			}
			measure(b, size, 0, func() { count(b, path) })
		})
	}
}
