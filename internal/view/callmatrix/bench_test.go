package callmatrix_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// runs gives two runs whose locations have as many calls as those of a run of 10^8
// on 1,024: steps have some 900 call paths a location with times all over, more
// than programs have; the stencil is as programs are.
func runs(b *testing.B) map[string]func(trace.Writer) error {
	rows := viewtest.BenchRows(b)
	locations := max(rows/97_656, 1)
	stencil, _ := demo.Find(fmt.Sprintf("stencil?locations=%d&intervals=%d", locations, rows))
	return map[string]func(trace.Writer) error{
		"steps": func(w trace.Writer) error {
			viewtest.WriteSteps(w, locations, rows)
			return nil
		},
		"stencil": func(w trace.Writer) error { return stencil.Write(b.Context(), stencil.Options, w) },
	}
}

// BenchmarkPrepare imports the same run with and without what is prepared of its
// calls: the ratio is what an import pays for it.
func BenchmarkPrepare(b *testing.B) {
	for name, fill := range runs(b) {
		b.Run(name, func(b *testing.B) {
			write := func(digests []trace.Digest) float64 {
				before := benchtest.CPUTime()
				w, err := local.Create(filepath.Join(b.TempDir(), "bench.plx"), local.Options{Summaries: all.Summaries, Digests: digests})
				if err == nil {
					err = cmp.Or(fill(w), w.Finish(b.Context()))
				}
				if err != nil {
					b.Fatal(err)
				}
				return float64(benchtest.CPUTime() - before)
			}
			without, with := 0.0, 0.0
			for b.Loop() {
				without += write(nil)
				with += write(all.Digests)
			}
			rows := float64(b.N * viewtest.BenchRows(b))
			b.ReportMetric(without/rows, "cpu-ns/row-without")
			b.ReportMetric((with-without)/rows, "cpu-ns/row-prepared")
			b.ReportMetric(with/without, "with/without")
		})
	}
}

// BenchmarkWindow computes the matrix for the whole run and for windows of it, from
// what is prepared and by reading every call, and a bare scan of the same rows
// beside it: what one pass over the columns costs at the least.
func BenchmarkWindow(b *testing.B) {
	for name, fill := range runs(b) {
		r := viewtest.Local(b, func(w trace.Writer) {
			if err := fill(w); err != nil {
				b.Fatal(err)
			}
		})
		for _, spec := range []view.Spec{{}, {From: "25%", To: "50%"}, {From: "40%", To: "41%"}} {
			b.Run(name+"/"+cmp.Or(spec.From, "whole"), func(b *testing.B) { window(b, r, spec) })
		}
	}
}

func window(b *testing.B, r store.Reader, spec view.Spec) {
	c := viewtest.Case{Spec: spec}
	w := c.Request(b, callmatrix.View, r).Window()
	n, _ := r.Count(w)
	rows := float64(n)
	b.Run("matrix", func(b *testing.B) {
		prepared, read := 0.0, 0.0
		for b.Loop() {
			before := benchtest.CPUTime()
			c.Compute(b, callmatrix.View, r)
			between := benchtest.CPUTime()
			c.Compute(b, callmatrix.View, struct{ store.Reader }{r})
			prepared, read = prepared+float64(between-before), read+float64(benchtest.CPUTime()-between)
		}
		b.ReportMetric(prepared/float64(b.N)/1e6, "cpu-ms-prepared")
		b.ReportMetric(prepared/float64(b.N)/rows, "cpu-ns/row")
		b.ReportMetric(read/prepared, "read/prepared")
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			_ = r.Intervals(b.Context(), w, func(cols *trace.Columns) error {
				sum := trace.Time(0)
				for i := range cols.Begin {
					sum += cols.Exclusive[i] + trace.Time(cols.Region[i]) + trace.Time(cols.Depth[i])
				}
				if sum < 0 {
					b.Error("negative time")
				}
				return nil
			})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
}
