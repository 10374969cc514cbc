package local

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Bins must say what Time says of the same windows, from bins of a few rows to such of
// many blocks, whichever are asked for.
func TestRegionBinsEqualTimes(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeBench(w, 3, 20_000) })
	r, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(1, 3))
	var ids []trace.LocationID
	for id := range r.Locations().Len() {
		if r.Locations().Holds[id] {
			ids = append(ids, trace.LocationID(id))
		}
	}
	odd := make([]bool, len(r.Regions()))
	for i := range odd {
		odd[i] = i%2 == 1
	}
	for level := bits.Len64(uint64(r.Info().End)) - 12; level < bits.Len64(uint64(r.Info().End)); level++ {
		var want []store.LaneBins
		for _, id := range ids {
			l := store.LaneBins{Location: id}
			for bin := range int64(r.Info().End)>>level + 2 {
				if rng.IntN(3) > 0 {
					l.Bins = append(l.Bins, bin)
				}
			}
			want = append(want, l)
		}
		var keep []bool
		if level%2 == 0 {
			keep = odd
		}
		var mu sync.Mutex
		got := map[string]string{}
		err := r.RegionBins(context.Background(), level, keep, want, func(entry int, b *store.RegionBin) error {
			mu.Lock()
			defer mu.Unlock()
			got[fmt.Sprint(want[entry].Location, b.Bin)] = cellsOf(nil, b.Region, b.Exclusive, b.Calls)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for _, l := range want {
			for _, bin := range l.Bins {
				if asked++; asked%7 > 0 { // some of them: a query each is slow
					continue
				}
				table, err := r.Time(context.Background(), store.Window{
					Begin: trace.Time(bin) << level, End: trace.Time(bin+1) << level, Locations: []trace.LocationID{l.Location},
				})
				if err != nil {
					t.Fatal(err)
				}
				if a, b := got[fmt.Sprint(l.Location, bin)], cellsOf(keep, table.Region, table.Exclusive, table.Calls); a != b {
					t.Fatalf("level %d, location %d, bin %d: %s; want %s", level, l.Location, bin, a, b)
				}
			}
		}
	}
}

// cellsOf writes cells in order of regions; those with neither time nor calls are left out.
func cellsOf(keep []bool, regions []trace.RegionID, times []trace.Time, calls []int64) (out string) {
	for id := range trace.RegionID(32) {
		for i, r := range regions {
			if r == id && (keep == nil || keep[r]) && (times[i] != 0 || calls[i] != 0) {
				out += fmt.Sprint(r, " ", times[i], " ", calls[i], "; ")
			}
		}
	}
	return out
}

func TestRoleTimesOfSegmentsAreThoseOfEach(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	for round := range 200 {
		level, n := random.IntN(6), 1+random.IntN(20)
		one, many := rows.NewRoleBins(0, level, n), rows.NewRoleBins(0, level, n)
		var list []trace.Segment
		for now := trace.Time(0); ; {
			end := now + 1 + trace.Time(random.IntN(40))
			if end > one.End() {
				break
			}
			g := trace.Segment{Begin: now, End: end, Row: random.IntN(3) - 1}
			if g.Row >= 0 {
				g.Role = trace.Role(1 + random.IntN(2))
				one.Add(g.Begin, g.End, g.Role)
			}
			list = append(list, g)
			now = end
		}
		many.AddSegments(list)
		want, wantRoles := one.Pack()
		got, roles := many.Pack()
		if !slices.Equal(got, want) || roles != wantRoles {
			t.Fatalf("round %d: %v (%b), want %v (%b)", round, got, roles, want, wantRoles)
		}
	}
}
