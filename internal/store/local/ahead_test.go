package local

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Moments and distributions come back in the order of their tables, and equal ones as they came, whatever the order they came in: packed at once, late, or of
// locations that get other numbers.
func TestRowsComeBackWhateverTheirOrder(t *testing.T) {
	const locations, rows = 40, 9000
	for name, c := range map[string]struct {
		location func(i int, r *rand.Rand) int
		order    func(i int) int64 // in which locations are shown
		high     int               // one row in so many has sums of high orders
		together bool
	}{
		"in order":                {func(i int, _ *rand.Rand) int { return i * locations / rows }, func(i int) int64 { return int64(i) }, 0, true},
		"one by one":              {func(i int, _ *rand.Rand) int { return i * locations / rows }, func(i int) int64 { return int64(i) }, 0, false},
		"in other numbers":        {func(i int, _ *rand.Rand) int { return i * locations / rows }, func(i int) int64 { return int64(-i) }, 0, true},
		"some late":               {func(i int, r *rand.Rand) int { return max(0, i*locations/rows-r.IntN(40)/39*3) }, func(i int) int64 { return int64(i) }, 0, true},
		"in no order":             {func(_ int, r *rand.Rand) int { return r.IntN(locations) }, func(i int) int64 { return int64(i * 7 % locations) }, 0, false},
		"some of high order":      {func(i int, _ *rand.Rand) int { return i * locations / rows }, func(i int) int64 { return int64(i) }, 500, true},
		"undefined locations":     {func(i int, _ *rand.Rand) int { return i * (locations + 2) / rows }, func(i int) int64 { return int64(i) }, 0, true},
		"all of an undefined one": {func(int, *rand.Rand) int { return locations + 5 }, func(i int) int64 { return int64(i) }, 700, true},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			var moments []trace.MomentRow
			var atomics []trace.AtomicRow
			first := trace.Time(1 << 60)
			for i := range rows {
				at := trace.LocationID(c.location(i, random))
				m := trace.MomentRow{Location: at, Role: trace.RoleCompute, Begin: 1_000_000 + trace.Time(random.IntN(50)), Weight: float64(i), Mean: random.Float64()}
				m.End = m.Begin + 10
				m.Central[2], m.Central[3] = random.Float64(), -random.Float64()
				if c.high > 0 && i%c.high == c.high-1 {
					for k := range m.Central {
						m.Central[k] = random.NormFloat64()
					}
				}
				first = min(first, m.Begin)
				moments = append(moments, m)
				atomics = append(atomics, trace.AtomicRow{Location: at, Path: trace.CallPathID(random.IntN(3)), Count: float64(i), Min: random.Float64(), Max: 2, Mean: 1.5, SumSquares: float64(i) * 3})
			}
			path := build(t, Options{Memory: 1 << 18}, func(w trace.Writer) {
				for i := range locations {
					w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: string(rune('a'+i/26)) + string(rune('a'+i%26)), Order: c.order(i), Rank: i})
				}
				region := w.Region(trace.Region{Name: "f"})
				for range 3 {
					w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: region})
					region = w.Region(trace.Region{Name: "f" + string(rune('0'+region))})
				}
				w.Metric(trace.Metric{Name: "time"})
				if !c.together {
					for i := range moments {
						w.Moments(moments[i])
						w.Atomic(atomics[i])
					}
					return
				}
				for i := 0; i < rows; i += 60 {
					to := min(i+60, rows)
					trace.AddRows(w, &trace.Rows{Moments: slices.Clone(moments[i:to]), Atomic: slices.Clone(atomics[i:to])})
				}
			})
			r := reopen(t, path)
			number := map[int]trace.LocationID{}
			for id, rank := range r.Locations().Rank {
				number[int(rank)] = trace.LocationID(id)
			}
			compareRows(t, "moments", moments, func(m *trace.MomentRow) bool {
				id, ok := number[int(m.Location)]
				m.Location, m.Begin, m.End = id, m.Begin-first, m.End-first
				return ok
			}, func(a, b trace.MomentRow) int {
				return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Begin, b.Begin))
			}, r.Moments)
			compareRows(t, "distributions", atomics, func(m *trace.AtomicRow) bool {
				id, ok := number[int(m.Location)]
				m.Location = id
				return ok
			}, func(a, b trace.AtomicRow) int {
				return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Path, b.Path))
			}, r.Atomics)
		})
	}
}

func compareRows[T comparable](t *testing.T, what string, given []T, move func(*T) bool, order func(a, b T) int, read func(context.Context, []trace.LocationID, func([]T) error) error) {
	t.Helper()
	var want, got []T
	for _, m := range given {
		if move(&m) {
			want = append(want, m)
		}
	}
	slices.SortStableFunc(want, order)
	take := func(rows []T) error { got = append(got, rows...); return nil }
	if err := read(context.Background(), nil, take); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %d rows, want %d, or in another order; %v", what, len(got), len(want), err)
	}
}
