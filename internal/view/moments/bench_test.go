package moments_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

var screen = scene.Size{Width: 1280, Height: 900}

func writeDemo(tb testing.TB, name string) func(trace.Writer) {
	return func(w trace.Writer) {
		d, ok := demo.Find(name)
		if !ok {
			tb.Fatalf("no demo %q", name)
		}
		if err := d.Write(context.Background(), demo.Options{}, w); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkMillionLocations: the first picture from an open store, the picture of a
// new window, and all rows behind it.
func BenchmarkMillionLocations(b *testing.B) {
	r := viewtest.Local(b, writeDemo(b, "million"))
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		picture := func(s view.Spec) (result view.Result) {
			c := viewtest.Case{Spec: s, Size: screen}
			result = c.Compute(b, moments.View, r)
			result.Scene(screen)
			return result
		}
		first := viewtest.Took(func() { picture(view.Spec{}) })
		var windows, all []float64
		for range 20 {
			var result view.Result
			windows = append(windows, viewtest.Took(func() { result = picture(viewtest.RandomWindow(rng, r)) }))
			if len(all) < 3 {
				all = append(all, viewtest.Took(func() { result.Table() }))
			}
		}
		b.ReportMetric(first, "ms/first-picture")
		viewtest.ReportLatencies(b, "new-window", windows)
		b.ReportMetric(viewtest.Quantile(all, 0.5), "ms/all-rows")
	}
}

// BenchmarkScale: 10,000 locations with as many intervals as asked for, from the
// store's forest, and the ratio to reading the intervals of the window.
func BenchmarkScale(b *testing.B) {
	for _, rows := range viewtest.BenchSizes(b) {
		b.Run(fmt.Sprintf("%.0e", float64(rows)), func(b *testing.B) {
			r := viewtest.Local(b, writeDemo(b, fmt.Sprintf("uniform?locations=10000&intervals=%d", rows)))
			for b.Loop() {
				newWindows(b, r)
			}
		})
	}
}

func newWindows(b *testing.B, r store.Reader) {
	rng := rand.New(rand.NewPCG(1, 1))
	var windows, scans []float64
	for k := range 40 {
		spec := viewtest.RandomWindow(rng, r)
		c := viewtest.Case{Spec: spec, Size: screen}
		windows = append(windows, viewtest.Took(func() { c.Compute(b, moments.View, r).Scene(screen) }))
		if k < 3 {
			sel, err := spec.Resolve(r)
			if err != nil {
				b.Fatal(err)
			}
			scans = append(scans, viewtest.Took(func() { scanWindow(b, r, sel.Begin, sel.End) }))
		}
	}
	viewtest.ReportLatencies(b, "new-window", windows)
	b.ReportMetric(viewtest.Quantile(scans, 0.5)/viewtest.Quantile(windows, 0.5), "x-faster-than-a-scan")
}

// scanWindow only reads the rows, which every scan must at least.
func scanWindow(b *testing.B, r store.Reader, begin, end trace.Time) {
	sums := make([]trace.Time, r.Locations().Len())
	err := r.Intervals(context.Background(), store.Window{Begin: begin, End: end}, func(c *trace.Columns) error {
		for i := range c.Begin {
			sums[c.Location] += min(c.End(i), end) - max(c.Begin[i], begin)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
