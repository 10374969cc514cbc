package kaleidoscope

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// papersRate is what the paper reports for its largest trace: 15,419 records in 45
// seconds, about 300 a second.
const papersRate = 300

// BenchmarkTree is the way from an open store to pictures: the tree with its first
// layout, another painting, a subtree, the nearest node.
func BenchmarkTree(b *testing.B) {
	rows := viewtest.BenchRows(b)
	size := scene.Size{Width: 1920, Height: 1080}
	d, _ := demo.Find("uniform")
	r := viewtest.Local(b, func(w trace.Writer) {
		o := d.Options
		o.Intervals, o.Locations = int64(rows), 64
		if err := d.Write(context.Background(), o, w); err != nil {
			b.Fatal(err)
		}
	})
	cache := derived.NewCache(memory.New(2 << 30))
	forget := func() { cache = derived.NewCache(memory.New(2 << 30)) } // so that the next picture is the first
	show := func(options map[string][]string) *result {
		values, err := view.NewValues(View, options)
		if err != nil {
			b.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{{Store: r, Cache: cache}}, Selection: trace.Selection{End: r.Info().End}, Values: values, Size: size}
		v, err := compute(context.Background(), q)
		if err != nil {
			b.Fatal(err)
		}
		v.Scene(size)
		return v.(*result)
	}
	b.Run("the paper", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(papersRate, "nodes/s")
	})
	b.Run("tree and first picture", func(b *testing.B) {
		for b.Loop() {
			forget()
			show(nil)
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "nodes/s")
		b.ReportMetric(live(forget, func() any { return show(nil) })/float64(rows), "live-B/node")
	})
	kept := show(nil)
	b.Run("another painting", func(b *testing.B) {
		paints := []string{"region", "time", "both", "location"}
		for i := 0; b.Loop(); i++ {
			show(map[string][]string{"paint": {paints[i%len(paints)]}})
		}
	})
	b.Run("a zoom", func(b *testing.B) {
		zooms := []string{"3,0.4,0.2", "64,0.5,-0.3", "2000,-0.31,0.52", "100000,0.2,0.6"}
		for i := 0; b.Loop(); i++ {
			show(map[string][]string{"zoom": {zooms[i%len(zooms)]}})
		}
	})
	b.Run("a subtree", func(b *testing.B) {
		roots := children(kept.forest)
		for i := 0; b.Loop(); i++ {
			show(map[string][]string{"root": {strconv.Itoa(roots[i%len(roots)])}})
		}
	})
	b.Run("the nearest node", func(b *testing.B) {
		s := kept.Scene(size)
		for i := 0; b.Loop(); i++ {
			view.PickAt(kept, s, float64(i*37%size.Width), float64(i*91%size.Height))
		}
		b.ReportMetric(float64(len(kept.places)), "drawn")
	})
}

// BenchmarkRanks is a run whose calls stay in the store: that of PARALLAX_BENCH_STORE, else one of many ranks. Pictures
// of a program that was just started, and ten zooms down to single calls of one that has the run open.
func BenchmarkRanks(b *testing.B) {
	path := os.Getenv("PARALLAX_BENCH_STORE")
	if path == "" {
		path = viewtest.WriteLocal(b, func(w trace.Writer) { viewtest.WriteSteps(w, 1024, viewtest.BenchRows(b)) })
	}
	r := viewtest.OpenLocal(b, path)
	size := scene.Size{Width: 1600, Height: 900}
	cache := derived.NewCache(memory.New(2 << 30))
	show := func(options map[string][]string) *result {
		values, err := view.NewValues(View, options)
		if err != nil {
			b.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{{Store: r, Cache: cache}}, Selection: trace.Selection{End: r.Info().End},
			Values: values, Size: size}
		v, err := compute(b.Context(), q)
		if err != nil {
			b.Fatal(err)
		}
		v.Scene(size)
		if err := view.Failed(v); err != nil {
			b.Fatal(err)
		}
		return v.(*result)
	}
	for _, paint := range []string{"location", "region", "time", "both", "depth", "duration"} {
		b.Run("first by "+paint, func(b *testing.B) {
			for b.Loop() {
				cache = derived.NewCache(memory.New(2 << 30))
				show(map[string][]string{"paint": {paint}})
			}
		})
	}
	for _, paint := range []string{"location", "region", "time"} {
		kept := show(map[string][]string{"paint": {paint}})
		o := kept.detail.outline
		place := int32(o.Len() / 3)
		for o.End(place) > place+1 { // a call that made none
			place++
		}
		start, alloc := o.Sector(place)
		for k := range 10 {
			z := kept.zoomTo(start, alloc, o.Level(place), 40)
			z.factor = math.Pow(z.factor, float64(k+1)/10)
			b.Run(fmt.Sprintf("by %s, zoom %.3g", paint, z.factor), func(b *testing.B) {
				for b.Loop() {
					show(map[string][]string{"paint": {paint}, "zoom": {z.String()}})
				}
			})
		}
	}
	for _, factor := range []float64{1.2, 1.6, 2.6, 3.4, 5, 7} { // where most sectors are in sight
		for _, paint := range []string{"location", "region", "time"} {
			b.Run(fmt.Sprintf("by %s, zoom %g of the middle", paint, factor), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					show(map[string][]string{"paint": {paint}, "zoom": {fmt.Sprintf("%g,%g,0.2", factor, 0.4+0.001*float64(i))}})
				}
			})
		}
	}
	b.Run("a call under the cursor", func(b *testing.B) {
		kept := show(map[string][]string{"zoom": {"3"}})
		s := kept.Scene(size)
		for i := 0; b.Loop(); i++ {
			view.PickAt(kept, s, float64(i*37%size.Width), float64(i*91%size.Height))
		}
	})
}

// live is how many bytes a value holds once the garbage is gone.
func live(forget func(), f func() any) float64 {
	var before, after runtime.MemStats
	forget()
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

// children are nodes right below the root.
func children(f *forest) (out []int) {
	for i, p := range f.calls.Tree.Parent {
		if p == 0 && len(out) < 100 {
			out = append(out, i)
		}
	}
	return out
}
