package overview_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// BenchmarkOverview: a first picture, one of another p, which reads nothing, and the
// JSON output with its curve.
func BenchmarkOverview(b *testing.B) {
	for _, name := range []string{"million", "stencil", "stencil?locations=10000&intervals=10000000"} {
		b.Run(name, func(b *testing.B) {
			d, ok := demo.Find(name)
			if !ok {
				b.Fatalf("no demo %q", name)
			}
			r := viewtest.Local(b, func(w trace.Writer) {
				if err := d.Write(context.Background(), demo.Options{}, w); err != nil {
					b.Fatal(err)
				}
			})
			size := scene.Size{Width: 1280, Height: 900}
			bins := 16
			picture := func(p string, data bool) float64 {
				return viewtest.Took(func() {
					c := viewtest.Case{Options: map[string][]string{"bins": {fmt.Sprint(bins)}, "p": {p}}, Size: size}
					x := c.Compute(b, overview.View, r)
					if data {
						x.Data()
					} else {
						x.Scene(size)
					}
				})
			}
			for b.Loop() {
				bins++ // nothing is kept of it
				first, again, data := picture("0.1", false), picture("0.2", false), picture("0.2", true)
				b.ReportMetric(first, "ms/first-picture")
				b.ReportMetric(again, "ms/new-p")
				b.ReportMetric(data, "ms/data")
			}
		})
	}
}
