package moments_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
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

// randomWindow is a window of a tenth of the run to all of it.
func randomWindow(rng *rand.Rand, r store.Reader) view.Spec {
	end := int64(r.Info().End)
	length := end/10 + rng.Int64N(end-end/10)
	begin := rng.Int64N(end - length + 1)
	return view.Spec{From: fmt.Sprint(begin), To: fmt.Sprint(begin + length)}
}

func took(f func()) float64 {
	begin := time.Now()
	f()
	return float64(time.Since(begin).Microseconds()) / 1e3
}

func quantile(v []float64, q float64) float64 {
	slices.Sort(v)
	return v[min(int(q*float64(len(v))), len(v)-1)]
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
		first := took(func() { picture(view.Spec{}) })
		var windows, all []float64
		for range 20 {
			var result view.Result
			windows = append(windows, took(func() { result = picture(randomWindow(rng, r)) }))
			if len(all) < 3 {
				all = append(all, took(func() { result.Table() }))
			}
		}
		b.ReportMetric(first, "ms/first-picture")
		b.ReportMetric(quantile(windows, 0.5), "ms/new-window-p50")
		b.ReportMetric(quantile(windows, 0.95), "ms/new-window-p95")
		b.ReportMetric(quantile(all, 0.5), "ms/all-rows")
	}
}

// BenchmarkNewWindow: 10,000 locations with as many intervals as asked for, from the
// store's forest, and the ratio to reading the intervals of the window.
func BenchmarkNewWindow(b *testing.B) {
	r := viewtest.Local(b, writeDemo(b, fmt.Sprintf("uniform?locations=10000&intervals=%d", viewtest.BenchRows(b))))
	benchWindows(b, r)
}

func benchWindows(b *testing.B, r store.Reader) {
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		var windows, scans []float64
		for k := range 40 {
			spec := randomWindow(rng, r)
			c := viewtest.Case{Spec: spec, Size: screen}
			windows = append(windows, took(func() { c.Compute(b, moments.View, r).Scene(screen) }))
			if k < 3 {
				c.Options = map[string][]string{"moments": {"4"}} // an order that is not kept
				sel, _ := spec.Resolve(r)
				scans = append(scans, took(func() { scanWindow(b, r, sel.Begin, sel.End) }))
			}
		}
		p50 := quantile(windows, 0.5)
		b.ReportMetric(p50, "ms/new-window-p50")
		b.ReportMetric(quantile(windows, 0.95), "ms/new-window-p95")
		b.ReportMetric(quantile(scans, 0.5)/p50, "x-faster-than-a-scan")
	}
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
