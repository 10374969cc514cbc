//go:build unix

package timeline

import (
	"context"
	"syscall"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// BenchmarkScene is the time to a picture at Full HD; the scan beside it reads
// every row of the same locations once and does nothing with it. 64 ranks, all
// with rows of their own; 10,000 ranks, as folded nodes.
func BenchmarkScene(b *testing.B) {
	size := scene.Size{Width: 1920, Height: 1080}
	for _, shape := range []struct {
		name  string
		ranks int
	}{{"64 ranks", 64}, {"10000 ranks", 10000}} {
		b.Run(shape.name, func(b *testing.B) {
			rows := viewtest.BenchRows(b)
			r := viewtest.Local(b, func(w trace.Writer) { viewtest.WriteSteps(w, min(shape.ranks, rows/100), rows) })
			for _, c := range []struct {
				name    string
				spec    view.Spec
				options map[string][]string
			}{
				{name: "whole"},
				{name: "middle tenth", spec: view.Spec{From: "45%", To: "55%"}},
				{name: "a thousandth", spec: view.Spec{From: "50%", To: "50.1%"}},
				{name: "role", options: map[string][]string{"colour": {"role"}}},
				{name: "average", options: map[string][]string{"show": {"average"}}},
				{name: "one region", spec: view.Spec{Regions: []string{"MPI_Call0"}}},
				{name: "depth 3", options: map[string][]string{"depth": {"3"}}},
			} {
				b.Run(c.name, func(b *testing.B) {
					marks := 0
					used := processorTime(b)
					for b.Loop() {
						marks = computeFor(b, r, c.spec, c.options, size).Scene(size).Marks()
					}
					b.ReportMetric(float64(marks), "marks")
					b.ReportMetric((processorTime(b)-used)*1e3/float64(b.N), "cpu-ms/op")
				})
			}
			b.Run("scan of the whole", func(b *testing.B) { scanOnly(b, r) })
		})
	}
}

// processorTime is what the process used on all cores, in seconds: unlike the
// clock it does not grow with what else the machine does.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func scanOnly(b *testing.B, r store.Reader) {
	used := processorTime(b)
	defer func() { b.ReportMetric((processorTime(b)-used)*1e3/float64(b.N), "cpu-ms/op") }()
	for b.Loop() {
		err := r.Intervals(context.Background(), store.Window{Begin: 0, End: r.Info().End}, func(c *trace.Columns) error {
			sum := trace.Time(0)
			for i := range c.Begin {
				sum += c.Begin[i] + c.Duration[i] + trace.Time(c.Region[i])
			}
			_ = sum
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
