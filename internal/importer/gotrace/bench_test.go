package gotrace

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"
	"testing/fstest"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

// BenchmarkImport prints the processor time of an import beside that of a bare loop
// over the events of the reader library, taken in turns in the same run: ratio 1
// is as fast.
func BenchmarkImport(b *testing.B) {
	data, err := os.ReadFile(importertest.Shared(b, "go-compile/gocompile.trace"))
	if err != nil {
		b.Fatal(err)
	}
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: data}})
	if err != nil {
		b.Fatal(err)
	}
	run := importer.ClaimAs(Format, s)[0]
	b.SetBytes(int64(len(data)))
	var bare, whole float64
	for b.Loop() {
		begin := cpuSeconds()
		r, err := xtrace.NewReader(bytes.NewReader(data))
		for err == nil {
			_, err = r.ReadEvent()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		middle := cpuSeconds()
		if err := run.Import(context.Background(), importertest.NewCount()); err != nil {
			b.Fatal(err)
		}
		bare += middle - begin
		whole += cpuSeconds() - middle
	}
	b.ReportMetric(bare/whole, "ratio")
}
