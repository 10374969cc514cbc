package store

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Totaler is a Reader that can add up what Time gives over all locations of a
// window by itself. With very many locations the table of Time takes much memory;
// whoever only adds it up asks TotalTime.
type Totaler interface {
	// TotalTime gives one row for all locations together: Locations holds
	// trace.NoLocation alone, regions are ascending.
	TotalTime(ctx context.Context, w Window) (*TimeTable, error)
}

// TotalTime gives time and calls per region over all locations of a window.
func TotalTime(ctx context.Context, r Reader, w Window) (*TimeTable, error) {
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
func AddTimes(t *TimeTable) *TimeTable {
	at := map[trace.RegionID]int{}
	regions := slices.Clone(t.Region)
	slices.Sort(regions)
	regions = slices.Compact(regions)
	for i, r := range regions {
		at[r] = i
	}
	n := len(regions)
	out := &TimeTable{
		Locations: []trace.LocationID{trace.NoLocation}, Offsets: []int{0, n}, Region: regions,
		Exclusive: make([]trace.Time, n), Inclusive: make([]trace.Time, n), Calls: make([]int64, n),
	}
	for i, r := range t.Region {
		k := at[r]
		out.Exclusive[k] += t.Exclusive[i]
		out.Inclusive[k] += t.Inclusive[i]
		out.Calls[k] += t.Calls[i]
	}
	return out
}
