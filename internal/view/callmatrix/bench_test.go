package callmatrix_test

import (
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
)

var (
	once  sync.Once
	bench store.Reader
)

// BenchmarkWindow computes the matrix of 1,024 ranks for the whole run and for
// windows of it, and a bare scan of the same rows beside it: what one pass over
// the columns costs at the least.
func BenchmarkWindow(b *testing.B) {
	once.Do(func() {
		bench = viewtest.Local(b, func(w trace.Writer) { viewtest.WriteSteps(w, 1024, viewtest.BenchRows(b)) })
	})
	for _, spec := range []view.Spec{{}, {From: "25%", To: "50%"}, {From: "40%", To: "41%"}} {
		name := "whole"
		if spec.From != "" {
			name = spec.From + "-" + spec.To
		}
		c := viewtest.Case{Spec: spec}
		rows := float64(bench.Count(c.Request(b, callmatrix.View, bench).Window()))
		b.Run(name+"/matrix", func(b *testing.B) {
			before := cpuTime()
			for b.Loop() {
				c.Compute(b, callmatrix.View, bench)
			}
			b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/rows, "cpu-ns/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
		b.Run(name+"/scan", func(b *testing.B) {
			w := c.Request(b, callmatrix.View, bench).Window()
			for b.Loop() {
				_ = bench.Intervals(b.Context(), w, func(cols *trace.Columns) error {
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
}
