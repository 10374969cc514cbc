package paje_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/paje"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// benchTrace writes a trace of about so many intervals; 4,000,000 are 230 MiB.
func benchTrace(b *testing.B) importer.Run {
	b.Helper()
	rows := 4_000_000.0
	if text := os.Getenv("PARALLAX_BENCH_ROWS"); text != "" {
		var err error
		if rows, err = strconv.ParseFloat(text, 64); err != nil {
			b.Fatal(err)
		}
	}
	file := filepath.Join(b.TempDir(), "bench.trace")
	d, _ := demo.Find("stencil")
	if _, err := demo.Generate(context.Background(), d, "paje", demo.Options{Locations: 256, Intervals: int64(rows)}, file); err != nil {
		b.Fatal(err)
	}
	s, err := importer.NewSource(file)
	if err != nil {
		b.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{paje.Format}, s)
	if err != nil {
		b.Fatal(err)
	}
	return runs[0]
}

// peers measures pj_dump on the same file in the same run.
func peers(b *testing.B, file string) map[string]time.Duration {
	b.Helper()
	took := map[string]time.Duration{}
	tool, err := exec.LookPath("pj_dump")
	if err != nil {
		b.Log("pj_dump (PajeNG) is not installed: no ratios")
		return took
	}
	for name, args := range map[string][]string{"x-pj_dump": {file}, "x-pj_dump-q": {"-q", file}} {
		c := exec.Command(tool, args...)
		begin := time.Now()
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		took[name] = time.Since(begin)
		took[name+"-cpu"] = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return took
}

// BenchmarkImport writes the whole store, with every index and summary, and says how
// many times faster than pj_dump and pj_dump -q that is (which keep nothing on
// disk), how much more processor time those take, and the most memory in use.
func BenchmarkImport(b *testing.B) {
	run := benchTrace(b)
	file := run.Label(run.Files[0])
	took := peers(b, file)
	size := run.Source.Size()
	b.Run("Records", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if err := run.Import(context.Background(), importertest.NewCount()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Store", func(b *testing.B) {
		b.SetBytes(size)
		benchtest.ResetPeak()
		var ours time.Duration
		cpu := benchtest.CPUTime()
		for b.Loop() {
			ours += importertest.WriteStore(b, run)
		}
		ours, cpu = ours/time.Duration(b.N), (benchtest.CPUTime()-cpu)/time.Duration(b.N)
		for name, theirs := range took {
			if base, ok := strings.CutSuffix(name, "-cpu"); ok {
				if cpu > 0 {
					b.ReportMetric(float64(theirs)/float64(cpu), base+"-cpu")
				}
				continue
			}
			b.ReportMetric(float64(theirs)/float64(ours), name)
		}
		if peak := benchtest.PeakMemory(); peak > 0 {
			b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
		}
	})
}
