package view

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
)

// A RegionSpread is how the values of a region differ between locations.
type RegionSpread struct {
	Seen     bool // some location has it
	Some     bool // of it, other than 0
	Variance float64
}

// SpreadOfRegions tells by region how a metric differs between n locations; one that lacks a region has 0. One pass,
// O(locations × regions).
func SpreadOfRegions(ctx context.Context, s store.Reader, w store.Window, metric MetricChoice,
	n int) ([]RegionSpread, error) {
	sum, squares := make([]float64, len(s.Regions())), make([]float64, len(s.Regions()))
	out := make([]RegionSpread, len(sum))
	err := Totals(ctx, s, w, metric.ID, func(list []Total) {
		for _, t := range list {
			v := metric.Of(t.Calls, t.Inclusive, t.Exclusive)
			sum[t.Region] += v
			squares[t.Region] += v * v
			out[t.Region].Seen = true
		}
	})
	for id := range out {
		mean := sum[id] / float64(n)
		out[id].Some = squares[id] > 0
		out[id].Variance = max(squares[id]/float64(n)-mean*mean, 0)
	}
	return out, err
}
