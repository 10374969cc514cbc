package chrometrace

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
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

// BenchmarkScanner gives MB/s of the scanner, and how many times faster it is
// than encoding/json on the same bytes in the same run.
func BenchmarkScanner(b *testing.B) {
	for _, c := range []struct{ name, file string }{
		{"ResNet50", "public/kineto/resnet50-dataloader/worker0.1623143089861.pt.trace.json.gz"},
		{"NCCL", "public/kineto/ddp-rank0-of-2-nccl/nccl_data.json.gz"},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := unpacked(b, importertest.Shared(b, c.file))
			begin := time.Now()
			want := decodeAll(b, data)
			peer := time.Since(begin)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				if got := scanAll(data); got != want {
					b.Fatalf("%d records, encoding/json finds %d", got, want)
				}
			}
			b.ReportMetric(float64(peer)/(float64(b.Elapsed())/float64(b.N)), "x-encoding/json")
		})
	}
}
