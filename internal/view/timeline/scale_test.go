//go:build unix

package timeline

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
)

// BenchmarkScale prints how long a reader waits, at several lengths of a trace of 64
// ranks: to open the store, for the time per region of a new window, and for the
// picture of one. steps has some regions at a time that matter, random has 64 of like
// size in every bin, which no bound can tell apart. The latencies of both must not
// grow with the trace; processor time tells them on a busy machine.
func BenchmarkScale(b *testing.B) {
	for _, rows := range viewtest.BenchSizes(b) {
		for _, shape := range []string{"steps", "random"} {
			b.Run(fmt.Sprintf("%.0e %s", float64(rows), shape), func(b *testing.B) {
				path := viewtest.WriteLocal(b, func(w trace.Writer) { writeShape(b, w, shape, rows) })
				for b.Loop() {
					latencies(b, path)
				}
			})
		}
	}
}

func writeShape(b *testing.B, w trace.Writer, shape string, rows int) {
	if shape == "steps" {
		viewtest.WriteSteps(w, 64, rows)
		return
	}
	d, _ := demo.Find(fmt.Sprintf("uniform?locations=64&intervals=%d", rows))
	if err := d.Write(context.Background(), demo.Options{}, w); err != nil {
		b.Fatal(err)
	}
}

func latencies(b *testing.B, path string) {
	const asked = 40
	size := scene.Size{Width: 1920, Height: 1080}
	rng := rand.New(rand.NewPCG(1, 1))
	var opens, queries, scenes []float64
	var r store.Reader
	for range 5 {
		opens = append(opens, viewtest.Took(func() { r = viewtest.OpenLocal(b, path) }))
	}
	for range asked {
		sel, err := viewtest.RandomWindow(rng, r).Resolve(r)
		if err != nil {
			b.Fatal(err)
		}
		queries = append(queries, viewtest.Took(func() {
			if _, err := r.Time(context.Background(), store.Window{Begin: sel.Begin, End: sel.End}); err != nil {
				b.Fatal(err)
			}
		}))
	}
	used := processorTime(b)
	for range asked {
		spec := viewtest.RandomWindow(rng, r)
		scenes = append(scenes, viewtest.Took(func() { computeFor(b, r, spec, nil, size).Scene(size) }))
	}
	b.ReportMetric((processorTime(b)-used)*1e3/asked, "cpu-ms/scene")
	b.ReportMetric(viewtest.Quantile(opens, 0.5), "ms/open")
	viewtest.ReportLatencies(b, "query", queries)
	viewtest.ReportLatencies(b, "scene", scenes)
}
