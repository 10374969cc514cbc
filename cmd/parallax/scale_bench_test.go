//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// BenchmarkScaleImport imports what `gen` writes, on one core and on twice as many each time up to all: how many
// times as fast as on one, how much of the processor, and store and disk against the source. Texts are some ten
// times as long an interval as OTF2, so they have a tenth as many.
func BenchmarkScaleImport(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		for _, s := range []struct {
			demo, format         string
			locations, intervals int
		}{
			{"stencil", "otf2", 1024, n},
			{"training", "kineto", 64, n / 10},
			{"stencil", "chrome", 256, n / 10},
			{"stencil", "paje", 256, n / 10},
		} {
			b.Run(fmt.Sprintf("%s %s %.0e", s.demo, s.format, float64(s.intervals)), func(b *testing.B) {
				source := filepath.Join(b.TempDir(), "source")
				mustRun(b, "gen", s.demo, "--format", s.format, "--locations", fmt.Sprint(s.locations), "--intervals", fmt.Sprint(s.intervals), "-o", source)
				for b.Loop() {
					importOnCores(b, source)
				}
			})
		}
	}
}

func mustRun(b *testing.B, args ...string) {
	if status := run(context.Background(), args, io.Discard, io.Discard); status != 0 {
		b.Fatalf("parallax %v ends with status %d", args, status)
	}
}

func importOnCores(b *testing.B, source string) {
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	size := float64(benchtest.OnDisk(source))
	var one, oneCPU float64
	for cores := 1; ; cores = min(2*cores, all) {
		runtime.GC()
		runtime.GOMAXPROCS(cores)
		dir := b.TempDir()
		store := filepath.Join(dir, "store.plx")
		peak := benchtest.WatchDisk(dir, 50*time.Millisecond)
		began, used := time.Now(), benchtest.CPUTime()
		benchtest.ResetPeak()
		mustRun(b, "import", source, "-o", store)
		wall, cpu := time.Since(began).Seconds(), (benchtest.CPUTime() - used).Seconds()
		most := peak()
		if cores == 1 {
			one, oneCPU = wall, cpu
		}
		made := float64(benchtest.OnDisk(store))
		b.Logf("%2d cores: %6.2f s, %5.2f times as fast as one; processor %6.2f s, %.2f of one; %4.0f MB a core-second; store %.2f of the source, disk at most %.2f of the store, %.2f GB resident",
			cores, wall, one/wall, cpu, cpu/oneCPU, size/1e6/cpu, made/size, float64(most)/made, float64(benchtest.PeakMemory())/1e9)
		if cores == all {
			return
		}
	}
}

// BenchmarkScaleViews asks views for the whole of a run of 1,024 ranks and for 20 windows of it: the median and the
// 95th percentile, and how many times as fast as reading all rows once.
func BenchmarkScaleViews(b *testing.B) {
	ctx := context.Background()
	for _, n := range viewtest.BenchSizes(b) {
		b.Run(fmt.Sprintf("%.0e", float64(n)), func(b *testing.B) {
			c, err := load.OpenCache(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			l := newLoader(c, 1<<30, nil)
			r, err := l.One(ctx, []string{fmt.Sprintf("demo:stencil?locations=1024&intervals=%d", n)})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Store.Close()
			for b.Loop() {
				askViews(b, r.Store)
			}
		})
	}
}

func askViews(b *testing.B, r store.Reader) {
	size := scene.Size{Width: 1440, Height: 900}
	scan := viewtest.Took(func() {
		err := r.Intervals(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(*trace.Columns) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	})
	b.Logf("all rows: %.0f ms", scan)
	for _, name := range []string{"timeline", "activity", "moments", "profile", "boxprofile", "callmatrix", "commmatrix", "treemap", "calltree", "topology", "histogram"} {
		v := findView(name)
		rng := rand.New(rand.NewPCG(1, 1))
		ask := func(s view.Spec) float64 {
			c := viewtest.Case{Spec: s, Size: size}
			return viewtest.Took(func() { c.Compute(b, v, r).Scene(size) })
		}
		first, again := ask(view.Spec{}), ask(view.Spec{})
		var times []float64
		for range 20 {
			times = append(times, ask(viewtest.RandomWindow(rng, r)))
		}
		p50, p95 := viewtest.Quantile(times, 0.5), viewtest.Quantile(times, 0.95)
		b.Logf("%-10s whole run %7.1f ms, again %7.1f; windows p50 %7.1f, p95 %7.1f ms: %.0f times as fast as all rows", name, first, again, p50, p95, scan/p50)
	}
}

// BenchmarkScaleLocations asks views for the whole of runs with the same number of intervals on 10^3, 10^4 and 10^5
// locations, first and again, in ms.
func BenchmarkScaleLocations(b *testing.B) {
	names := []string{"timeline", "moments", "profile", "topology", "calltree", "commmatrix", "histogram", "treemap",
		"overview", "groups", "boxprofile", "callmatrix", "kaleidoscope", "findings"}
	size := scene.Size{Width: 1440, Height: 900}
	for _, n := range viewtest.BenchSizes(b) {
		b.Run(fmt.Sprintf("%.0e", float64(n)), func(b *testing.B) {
			for b.Loop() {
				rows := make([]string, len(names))
				for _, locations := range []int{1e3, 1e4, 1e5} {
					c, err := load.OpenCache(b.TempDir())
					if err != nil {
						b.Fatal(err)
					}
					l := newLoader(c, 1<<30, nil)
					r, err := l.One(context.Background(),
						[]string{fmt.Sprintf("demo:stencil?locations=%d&intervals=%d", locations, n)})
					if err != nil {
						b.Fatal(err)
					}
					for i, name := range names {
						v := findView(name)
						ask := func() float64 {
							c := viewtest.Case{Size: size}
							return viewtest.Took(func() { c.Compute(b, v, r.Store).Scene(size) })
						}
						first := ask()
						rows[i] += fmt.Sprintf(" %8.0f, %6.0f |", first, ask())
					}
					r.Store.Close()
				}
				b.Logf("%-12s |   10^3 locations |             10^4 |             10^5 |", "ms")
				for i, name := range names {
					b.Logf("%-12s |%s", name, rows[i])
				}
			}
		})
	}
}
