package activity_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/activity"
)

// BenchmarkData compares aligned bins, which the store keeps, with equal ones
// and with regions, which are counted from the rows: the ratio of the first to
// the second is what the store's bins save.
func BenchmarkData(b *testing.B) {
	rows := viewtest.BenchRows(b)
	r := viewtest.Local(b, func(w trace.Writer) { viewtest.WriteSteps(w, min(1000, rows/100), rows) })
	for _, c := range []struct {
		name    string
		options map[string][]string
	}{
		{"roles, aligned bins", nil},
		{"roles, 500 equal bins", map[string][]string{"bins": {"500"}}},
		{"regions, aligned bins", map[string][]string{"by": {"regions"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			q := viewtest.Case{Options: c.options}
			for b.Loop() {
				q.Compute(b, activity.View, r).Data()
			}
		})
	}
}
