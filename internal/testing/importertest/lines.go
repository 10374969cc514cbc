package importertest

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// linesAddUp checks the values of source lines: over the lines of a call path, exclusive values add up to that of the
// path, and no line has more than the path.
func linesAddUp(t *testing.T, r store.Reader) {
	type cell struct {
		location trace.LocationID
		path     trace.CallPathID
		metric   trace.MetricID
	}
	sums := map[cell]float64{}
	err := r.Lines(context.Background(), nil, func(rows []trace.LineRow) error {
		for _, x := range rows {
			if x.Callee == trace.NoCallPath {
				sums[cell{x.Location, x.Path, x.Metric}] += x.Exclusive
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			c := cell{p.Location, p.Path, p.Metric}
			if sum, ok := sums[c]; ok && math.Abs(sum-p.Exclusive) > 1e-9*math.Abs(p.Inclusive) {
				t.Errorf("lines of %s have %v, and it has %v",
					r.Regions()[r.CallPaths()[p.Path].Region].Name, sum, p.Exclusive)
			}
			delete(sums, c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for c, v := range sums {
		if v != 0 {
			t.Errorf("lines of %s have %v on a location that has no value of it",
				r.Regions()[r.CallPaths()[c.path].Region].Name, v)
		}
	}
}
