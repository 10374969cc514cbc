package perfscript

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// 110 samples, 2 ms each, of a program recorded with `perf record -g -e cpu-clock`, printed with `perf script -F +srcline`.
// perf annotate gives 99.09 % of its function inner to the instructions of line 4 and the rest to line 3.
func TestSamplesHaveTheLinesThatPerfPrints(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/srcline.txt.gz")
	own, inside := map[string]float64{}, map[string]float64{}
	err := r.Lines(context.Background(), nil, func(rows []trace.LineRow) error {
		for i := range rows {
			if x := &rows[i]; x.Callee == trace.NoCallPath && r.Metrics()[x.Metric].Unit == "ns" {
				at := fmt.Sprintf("%s:%d", store.FileOfLine(r, x), x.Line)
				if own[at] += x.Exclusive; own[at] == 0 {
					delete(own, at)
				}
				inside[at] += x.Inclusive
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(own, map[string]float64{"hot.c:4": 218e6, "hot.c:3": 2e6}) {
		t.Error(own)
	}
	if inside["hot.c:7"] != 174e6 || inside["hot.c:9"] != 46e6 || inside["hot.c:12"] != 220e6 {
		t.Error(inside)
	}
	names := map[string]int{}
	for _, g := range r.Regions() {
		if names[g.Name]++; names[g.Name] > 1 {
			t.Errorf("%s is a region more than once", g.Name)
		}
	}
}
