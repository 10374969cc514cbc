package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Totaler is a Reader that can add up the result of Time over all locations of a window by itself. With very many
// locations the table of Time takes much memory; callers that only need the sum use TotalTime.
type Totaler interface {
	// TotalTime returns one row for each region, over all locations together, regions ascending.
	TotalTime(ctx context.Context, w Window) (*TotalTable, error)
}

// A TotalTable holds time and calls per region, as TimeTable does for each location.
type TotalTable struct {
	Region               []trace.RegionID
	Exclusive, Inclusive []trace.Sum
	Calls                []int64
}

// TotalTime returns time and calls per region over all locations of a window.
func TotalTime(ctx context.Context, r Reader, w Window) (*TotalTable, error) {
	if t, ok := r.(Totaler); ok {
		return t.TotalTime(ctx, w)
	}
	t, err := r.Time(ctx, w)
	if err != nil {
		return nil, err
	}
	return AddTimes(t), nil
}

// AddTimes adds up a table over its locations.
func AddTimes(t *TimeTable) *TotalTable {
	at := map[trace.RegionID]int{}
	regions := slices.Clone(t.Region)
	slices.Sort(regions)
	regions = slices.Compact(regions)
	for i, r := range regions {
		at[r] = i
	}
	n := len(regions)
	out := &TotalTable{Region: regions, Exclusive: make([]trace.Sum, n), Inclusive: make([]trace.Sum, n),
		Calls: make([]int64, n)}
	for i, r := range t.Region {
		k := at[r]
		out.Exclusive[k].Add(t.Exclusive[i])
		out.Inclusive[k].Add(t.Inclusive[i])
		out.Calls[k] += t.Calls[i]
	}
	return out
}

// A ProfileTotaler is a Reader that keeps its profile rows added up over all
// locations, so that totals of a profile do not take its rows.
type ProfileTotaler interface {
	// ProfileTotals returns one row for each call path and metric, in this order, of
	// no location.
	ProfileTotals(ctx context.Context) ([]trace.ProfileRow, error)
}

// ProfileTotals returns the profile rows of a run added up over all locations.
func ProfileTotals(ctx context.Context, r Reader) ([]trace.ProfileRow, error) {
	if t, ok := r.(ProfileTotaler); ok {
		return t.ProfileTotals(ctx)
	}
	var out []trace.ProfileRow
	type cell struct {
		path   trace.CallPathID
		metric trace.MetricID
	}
	at := map[cell]int{}
	err := r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			i, ok := at[cell{x.Path, x.Metric}]
			if !ok {
				i = len(out)
				at[cell{x.Path, x.Metric}] = i
				out = append(out, trace.ProfileRow{Location: trace.NoLocation, Path: x.Path, Metric: x.Metric})
			}
			out[i].Calls += x.Calls
			out[i].Subcalls += x.Subcalls
			out[i].Inclusive += x.Inclusive
			out[i].Exclusive += x.Exclusive
		}
		return nil
	})
	slices.SortFunc(out, func(a, b trace.ProfileRow) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Metric, b.Metric))
	})
	return out, err
}

// CountsCalls reports whether calls of a run are counted. Samples tell where time went, not how often a function
// was called: their rows have 0 calls throughout, which means unknown. Takes O(call paths) for a profile.
func CountsCalls(ctx context.Context, r Reader) (bool, error) {
	if r.Info().Timed() || r.Info().Profile == 0 {
		return true, nil
	}
	rows, err := ProfileTotals(ctx, r)
	return slices.ContainsFunc(rows, func(x trace.ProfileRow) bool { return x.Calls != 0 }), err
}

// Outermost says for each call path whether its region is not above it too. Takes
// O(paths × depth).
func Outermost(paths []trace.CallPath) []bool {
	out := make([]bool, len(paths))
	for i := range paths {
		out[i] = true
		for up := paths[i].Parent; up != trace.NoCallPath; up = paths[up].Parent {
			if paths[up].Region == paths[i].Region {
				out[i] = false
				break
			}
		}
	}
	return out
}
