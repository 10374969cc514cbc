package concurrency_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/concurrency"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Three actors: 0 works from 0 to 10, 1 from 4 to 6; 2 waits from 2 to 9.
func TestSerialWorkHasItsWaiters(t *testing.T) {
	var got []string
	s := concurrency.New(3, 0)
	s.Alone = func(a, label int32, b, e trace.Time) {
		got = append(got, fmt.Sprintf("%d alone in %d %d-%d", a, label, b, e))
	}
	s.Starved = func(w concurrency.Starve) {
		got = append(got, fmt.Sprintf("%d for %d in %d %d-%d", w.Actor, w.Alone, w.With, w.Begin, w.End))
	}
	s.Feed([]concurrency.Event{{At: 0, Actor: 0, State: concurrency.Busy, Label: 7}, {At: 2, Actor: 2, State: concurrency.Waiting}, {At: 4, Actor: 1, State: concurrency.Busy, Label: 8}})
	s.Feed([]concurrency.Event{{At: 6, Actor: 1, State: concurrency.Away}, {At: 9, Actor: 2, State: concurrency.Away}, {At: 10, Actor: 0, State: concurrency.Away}})
	s.Cut(12)
	slices.Sort(got)
	want := []string{"0 alone in 7 0-4", "0 alone in 7 6-10", "2 for 0 in 7 2-4", "2 for 0 in 7 6-9"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Held against counting every moment.
func TestSweepsEqualCountingMomentByMoment(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		const actors, length = 5, 200
		table := [actors][length]concurrency.State{}
		var events []concurrency.Event
		for a := range actors {
			state := concurrency.Away
			for x := range length {
				if rnd.IntN(6) == 0 {
					state = concurrency.State(rnd.IntN(int(concurrency.States)))
					events = append(events, concurrency.Event{At: trace.Time(x), Actor: int32(a), State: state})
				}
				table[a][x] = state
			}
		}
		var alone, starved, ready [actors]trace.Time
		var spans trace.Time
		s := concurrency.New(actors, 0)
		s.Alone = func(a, _ int32, b, e trace.Time) { alone[a] += e - b }
		s.Starved = func(w concurrency.Starve) { starved[w.Actor] += w.End - w.Begin }
		s.Span = func(b, e trace.Time, in *[concurrency.States]int) {
			spans += e - b
			ready[0] += (e - b) * trace.Time(in[concurrency.Ready])
		}
		slices.SortStableFunc(events, func(x, y concurrency.Event) int { return int(x.At - y.At) })
		half := len(events) / 2
		for half < len(events) && half > 0 && events[half].At == events[half-1].At {
			half++
		}
		s.Feed(events[:half])
		if half > 0 {
			s.Cut(events[half-1].At)
		}
		s.Feed(events[half:])
		s.Cut(length)
		var wantAlone, wantStarved, wantReady [actors]trace.Time
		for x := range length {
			busy, who := 0, 0
			for a := range actors {
				if table[a][x] == concurrency.Busy {
					busy, who = busy+1, a
				}
				if table[a][x] == concurrency.Ready {
					wantReady[0]++
				}
			}
			if busy != 1 {
				continue
			}
			wantAlone[who]++
			for a := range actors {
				if table[a][x] == concurrency.Waiting {
					wantStarved[a]++
				}
			}
		}
		if alone != wantAlone || starved != wantStarved || ready != wantReady || spans != length {
			t.Fatalf("seed %d: alone %v %v, starved %v %v, ready %v %v, spans %v", seed, alone, wantAlone, starved, wantStarved, ready, wantReady, spans)
		}
	}
}
