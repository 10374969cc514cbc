package store

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Sums that are added up on all cores are those of a map, in order, whatever their pairs.
func TestManySumsOfLinksAreAddedUpByPair(t *testing.T) {
	for _, locations := range []int{7, 1 << 20} {
		rnd := rand.New(rand.NewPCG(1, uint64(locations)))
		var a LinkAdder
		want := map[LinkSum]LinkSum{}
		give := func(s LinkSum) LinkSum {
			key := LinkSum{Kind: s.Kind, From: s.From, To: s.To, Untimed: s.Untimed}
			to := want[key]
			if to.Count == 0 {
				to = key
			}
			to.Count, to.Sized, to.Bytes, to.Time = to.Count+s.Count, to.Sized+s.Sized, to.Bytes+s.Bytes, to.Time+s.Time
			want[key] = to
			return s
		}
		next := func() LinkSum {
			return LinkSum{Kind: trace.LinkKind(rnd.IntN(3)), From: trace.LocationID(rnd.IntN(locations)),
				To: trace.LocationID(rnd.IntN(locations)), Untimed: rnd.IntN(10) == 0, Count: 1 + rnd.Int64N(5),
				Sized: rnd.Int64N(2), Bytes: rnd.Int64N(1000), Time: trace.Time(rnd.Int64N(100) - 10)}
		}
		for range 2 {
			for range leastAdded / 2 {
				a.Add(give(next()))
			}
			for i, room := 0, a.Room(leastAdded); i < len(room); i++ {
				room[i] = give(next())
			}
		}
		got := a.Sums()
		if !slices.IsSortedFunc(got, func(x, y LinkSum) int { return linkOrder.Compare(&x, &y) }) {
			t.Errorf("%d locations: sums are out of order", locations)
		}
		if len(got) != len(want) {
			t.Fatalf("%d locations: %d sums, want %d", locations, len(got), len(want))
		}
		for _, s := range got {
			if key := (LinkSum{Kind: s.Kind, From: s.From, To: s.To, Untimed: s.Untimed}); want[key] != s {
				t.Fatalf("%d locations: sum %+v, want %+v", locations, s, want[key])
			}
		}
	}
}
