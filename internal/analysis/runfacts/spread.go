package runfacts

import (
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A RegionSpread is how the values of a region differ between locations.
type RegionSpread struct {
	Seen     bool // some location has it
	Some     bool // of it, other than 0
	Variance float64
}

// SpreadOfRegions returns by region how a metric differs between locations; one that lacks a region has 0. Locations
// are held against those of their kind: that a kernel runs on GPUs alone tells nothing of them. One pass, O(locations
// × regions).
func SpreadOfRegions(ctx context.Context, totals *TotalsReader, metric MetricChoice,
	locations []trace.LocationID) ([]RegionSpread, error) {
	s := totals.Store
	kinds := Kinds(s.Locations(), locations)
	kind, members := make([]int32, s.Locations().Len()), make([]float64, 2)
	for i, id := range locations {
		kind[id] = kinds[i]
		members[kinds[i]]++
	}
	regions := len(s.Regions())
	sum, squares := make([]float64, 2*regions), make([]float64, 2*regions)
	out := make([]RegionSpread, regions)
	err := totals.Totals(ctx, metric.ID, func(list []Total) {
		for _, t := range list {
			v, at := metric.Of(t.Calls, t.Inclusive, t.Exclusive), int(kind[t.Location])*regions+int(t.Region)
			sum[at] += v
			squares[at] += v * v
			out[t.Region].Seen = true
			out[t.Region].Some = out[t.Region].Some || v != 0
		}
	})
	for k, n := range members {
		for id := range out {
			if at := k*regions + id; n > 0 {
				out[id].Variance += max(squares[at]-sum[at]*sum[at]/n, 0) / float64(len(locations))
			}
		}
	}
	return out, err
}

// Tells reports whether a region says something of its locations by itself: idle time is what the others leave, and
// the time of an annotation is in what it holds.
func Tells(g *trace.Region) bool { return g.Role != trace.RoleIdle && g.Role != trace.RoleAnnotation }

// AnyTells reports whether one of some regions does, see Tells.
func AnyTells(regions []trace.Region, ids []trace.RegionID) bool {
	for _, id := range ids {
		if Tells(&regions[id]) {
			return true
		}
	}
	return len(ids) == 0
}

// MovedByKind is half of the summed deviations of locations from the mean of their kind: how much would have to move
// for all of a kind to have the same. values are by place in kinds, those of the others 0.
func MovedByKind(kinds []int32, places []int32, values []float64) float64 {
	var sum, members, without [2]float64
	for _, k := range kinds {
		members[k]++
	}
	without = members
	for i, place := range places {
		sum[kinds[place]] += values[i]
		without[kinds[place]]--
	}
	moved := 0.0
	for i, place := range places {
		k := kinds[place]
		moved += math.Abs(values[i] - sum[k]/members[k])
	}
	for k := range sum {
		if members[k] > 0 {
			moved += sum[k] / members[k] * without[k]
		}
	}
	return moved / 2
}
