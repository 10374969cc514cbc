package gotrace

import (
	"bytes"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	runtimetrace "runtime/trace"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// BenchmarkImport prints the time of an import beside that of a bare loop over the
// events of the reader library, taken in turns in the same run: ratio 1 is as fast,
// which needs a second core; cpu-ratio counts the time of all cores. Records ends in
// counts; Store ends in a store with every index and summary, and its writer-ratio is
// of the same up to where the trace is read.
func BenchmarkImport(b *testing.B) {
	for _, name := range []string{"go-compile/gocompile", "go-nethttp/nethttp", "go-sync/sync"} {
		b.Run(path.Base(name), func(b *testing.B) {
			data, err := os.ReadFile(importertest.Shared(b, name+".trace"))
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, data)
		})
	}
	b.Run("rings", func(b *testing.B) { benchmark(b, rings(b)) })
}

// rings records goroutines that hand values round in circles.
func rings(b *testing.B) []byte {
	var out bytes.Buffer
	if err := runtimetrace.Start(&out); err != nil {
		b.Skip(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			first := make(chan int)
			last := first
			for range 20 {
				next := make(chan int)
				go func(in <-chan int, out chan<- int) {
					for v := range in {
						out <- v
					}
				}(last, next)
				last = next
			}
			for i := range 1000 {
				first <- i
				<-last
			}
			close(first)
		})
	}
	all.Wait()
	runtimetrace.Stop()
	return out.Bytes()
}

func benchmark(b *testing.B, data []byte) {
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: data}})
	if err != nil {
		b.Fatal(err)
	}
	run := importer.ClaimAs(Format, s)[0]
	b.Run("Records", func(b *testing.B) {
		var library, whole spent
		for b.Loop() {
			library.of(func() { bare(b, data) })
			whole.of(func() {
				if err := run.Import(context.Background(), new(tally)); err != nil {
					b.Fatal(err)
				}
			})
		}
		b.ReportMetric(library.cpu/whole.cpu, "cpu-ratio")
		b.ReportMetric(library.wall/whole.wall, "ratio")
	})
	b.Run("Store", func(b *testing.B) {
		var library, reading, finishing spent
		for b.Loop() {
			library.of(func() { bare(b, data) })
			w, err := local.Create(filepath.Join(b.TempDir(), "bench.plx"), local.Options{Summaries: all.Summaries, Digests: all.Digests})
			if err != nil {
				b.Fatal(err)
			}
			reading.of(func() { err = run.Import(context.Background(), w) })
			if err != nil {
				b.Fatal(err)
			}
			finishing.of(func() { err = w.Finish(context.Background()) })
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(library.cpu/(reading.cpu+finishing.cpu), "cpu-ratio")
		b.ReportMetric(library.wall/(reading.wall+finishing.wall), "ratio")
		b.ReportMetric(library.wall/reading.wall, "writer-ratio")
	})
}

// spent is time in seconds, of all cores and by the clock.
type spent struct{ cpu, wall float64 }

func (s *spent) of(f func()) {
	cpu, wall := benchtest.CPUTime().Seconds(), time.Now()
	f()
	s.cpu += benchtest.CPUTime().Seconds() - cpu
	s.wall += time.Since(wall).Seconds()
}

// bare reads all events and does nothing with them.
func bare(b *testing.B, data []byte) {
	r, err := xtrace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if err != io.EOF {
		b.Fatal(err)
	}
}
