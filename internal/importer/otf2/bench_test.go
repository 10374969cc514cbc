//go:build unix

package otf2

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// benchRows is how many intervals are measured with: their archive has some 200 MiB.
func benchRows(b *testing.B) int64 {
	b.Helper()
	rows := 13_000_000.0
	if text := os.Getenv("PARALLAX_BENCH_ROWS"); text != "" {
		var err error
		if rows, err = strconv.ParseFloat(text, 64); err != nil {
			b.Fatal(err)
		}
	}
	return int64(rows)
}

func benchArchive(b *testing.B, rows int64) (importer.Run, string) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "run")
	d, _ := demo.Find("stencil")
	if _, err := demo.Generate(context.Background(), d, "otf2", demo.Options{Intervals: rows}, dir); err != nil {
		b.Fatal(err)
	}
	s, err := importer.NewSource(dir)
	if err != nil {
		b.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		b.Fatal(err)
	}
	return runs[0], dir
}

// A peer is another reader of the same archive: what it took, in wall and
// processor time.
type peer struct {
	name      string
	tool      *exec.Cmd
	wall, cpu time.Duration
}

// peers finds those that are installed: otf2-print, and otf2rd, a loop over all
// events in C with the format's own library, if it is in the path; and runs each, so
// that nothing is read from the disk from then on.
func peers(b *testing.B, dir string) (list []peer) {
	b.Helper()
	anchor := filepath.Join(dir, "traces.otf2")
	for _, tool := range []*exec.Cmd{exec.Command("otf2rd", anchor), exec.Command("otf2-print", "--silent", anchor)} {
		name := tool.Args[0]
		if tool.Err != nil {
			b.Logf("%s is not installed: no ratio", name)
			continue
		}
		p := peer{name: name, tool: tool}
		p.run(b)
		p.run(b)
		list = append(list, p)
	}
	return list
}

func (p *peer) run(b *testing.B) {
	b.Helper()
	run := exec.Command(p.tool.Path, p.tool.Args[1:]...)
	begin := time.Now()
	if out, err := run.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", p.name, err, out)
	}
	p.wall, p.cpu = time.Since(begin), run.ProcessState.UserTime()+run.ProcessState.SystemTime()
}

// BenchmarkArchive says how fast events are taken apart on one core, and how fast
// the whole store is written on all, beside the peers in the same run: ratios
// above 1 are in our favour. Processor time is told beside wall time, since a busy
// machine gives a process less of it.
func BenchmarkArchive(b *testing.B) {
	run, dir := benchArchive(b, benchRows(b))
	list := peers(b, dir)
	events := int64(0)
	b.Run("decode", func(b *testing.B) {
		begin, cpu := time.Now(), benchtest.CPUTime()
		for b.Loop() {
			events = decodeAll(b, dir)
		}
		report(b, events, time.Since(begin), benchtest.CPUTime()-cpu, list)
	})
	b.Run("read", func(b *testing.B) {
		begin, cpu := time.Now(), benchtest.CPUTime()
		for b.Loop() {
			if err := run.Import(context.Background(), importertest.NewCount()); err != nil {
				b.Fatal(err)
			}
		}
		report(b, events, time.Since(begin), benchtest.CPUTime()-cpu, list)
	})
	b.Run("import", func(b *testing.B) { besidePeers(b, run, list) })
}

// importRounds is how often an import and its peers take turns: a machine that others
// use too is faster at one time than at another.
const importRounds = 7

// besidePeers writes whole stores, and before each the peers read the same archive. It
// gives the median of the ratios of neighbours.
func besidePeers(b *testing.B, run importer.Run, list []peer) {
	ratios, total := make([][]float64, len(list)), time.Duration(0)
	for b.Loop() {
		for range importRounds {
			for i := range list {
				list[i].run(b)
			}
			wall := importertest.WriteStore(b, run)
			total += wall
			for i := range list {
				ratios[i] = append(ratios[i], list[i].wall.Seconds()/wall.Seconds())
			}
		}
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(b.N*importRounds), "ms/import")
	for i, p := range list {
		slices.Sort(ratios[i])
		b.ReportMetric(ratios[i][len(ratios[i])/2], "x-"+p.name)
	}
}

// BenchmarkMemory says the most memory that was resident, mapped files included,
// while the whole store is written, for archives of three lengths: it does not grow
// as they do.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct {
		name string
		part int64
	}{{"ninth", 9}, {"third", 3}, {"whole", 1}} {
		b.Run(c.name, func(b *testing.B) {
			run, _ := benchArchive(b, benchRows(b)/c.part)
			importAll(b, run)
			b.ReportMetric(float64(run.Source.Size())/(1<<20), "MiB")
		})
	}
}

// importAll writes whole stores, as many as the benchmark asks for, and says the
// most memory that was resident.
func importAll(b *testing.B, run importer.Run) {
	b.Helper()
	benchtest.ResetPeak() // what writing the archive took is not ours to count
	for b.Loop() {
		importertest.WriteStore(b, run)
	}
	if n := benchtest.PeakMemory(); n > 0 {
		b.ReportMetric(float64(n)/(1<<20), "peak-MiB")
	}
}

// report gives events a second of wall and of processor time, and ratios.
func report(b *testing.B, events int64, wall, cpu time.Duration, list []peer) {
	n := float64(events) * float64(b.N)
	b.ReportMetric(n/wall.Seconds()/1e6, "Mevents/s")
	b.ReportMetric(n/cpu.Seconds()/1e6, "Mevents/cpu-s")
	for _, p := range list {
		b.ReportMetric(p.wall.Seconds()*float64(b.N)/wall.Seconds(), "x-"+p.name)
		b.ReportMetric(p.cpu.Seconds()*float64(b.N)/cpu.Seconds(), "x-"+p.name+"-cpu")
	}
}

// decodeAll takes all events apart, one file after the other.
func decodeAll(b *testing.B, dir string) (n int64) {
	files, err := filepath.Glob(filepath.Join(dir, "traces", "*.evt"))
	if err != nil {
		b.Fatal(err)
	}
	var r eventReader
	var e event
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for r.open(f, nanoseconds); r.next(&e); n++ {
		}
		f.Close()
	}
	return n
}
