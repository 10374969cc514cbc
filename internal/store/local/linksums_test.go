package local

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Nodes of sums are numbered as they are written: each after those below it.
func TestNodesOfLinksLieInOrder(t *testing.T) {
	next := uint64(0)
	for i := uint64(0); i < 600; i++ {
		for level, size := 0, uint64(1); (i+1)%size == 0; level, size = level+1, size*disk.LinkFan {
			if at := disk.LinkNodeAt(level, (i+1)/size-1); at != next {
				t.Fatalf("node %d of level %d is at %d, want %d", (i+1)/size-1, level, at, next)
			}
			next++
		}
	}
}

// What links add up to in any window, of any locations, is what those that start in it give one by one, whether nodes are kept (few pairs), or not
// (very many), over several levels, and where links do not arrive after they start.
func TestSumsOfLinksAreThoseOfTheLinks(t *testing.T) {
	const n = 10*disk.LinkNode + 777
	for _, c := range []struct {
		name      string
		locations int
		kept      bool
		early     trace.Time // every fifth link arrives so long before it starts: clocks differ
	}{{"few pairs", 8, true, 0}, {"many pairs", 400, false, 0}, {"clocks differ", 8, true, 9000}} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(11, 12))
			r := reopen(t, build(t, Options{}, func(w trace.Writer) {
				for i := range c.locations {
					thread(w, i)
				}
				links := make([]trace.Link, n)
				for i := range links {
					links[i] = trace.Link{
						Kind: trace.LinkMessage, Size: int64(rnd.IntN(99)) - 1, Communicator: trace.NoCommunicator, Count: int64(i % 3),
						From: trace.End{Location: trace.LocationID(rnd.IntN(c.locations)), Time: trace.Time(i / 3), Region: trace.NoRegion},
						To:   trace.End{Location: trace.LocationID(rnd.IntN(c.locations)), Time: trace.Time(i/3 + rnd.IntN(90)), Region: trace.NoRegion},
					}
					if c.early > 0 && i/1000%5 == 0 {
						links[i].To.Time = max(links[i].From.Time-c.early, 0)
					}
					if i%50 == 0 {
						links[i].Kind = trace.LinkWake
					}
					links[i].Untimed = i%10_000 == 0
				}
				trace.AddLinks(w, links)
			}))
			if kept := len(r.C.LinkSum.Kind) > 0; kept != c.kept {
				t.Fatalf("%d sums are kept", len(r.C.LinkSum.Kind))
			}
			end := r.Info().End
			windows := []store.Window{{End: end}, {Begin: 1, End: end - 100}, {Begin: end / 3, End: end / 3}, {End: end, Locations: []trace.LocationID{3, 5}}}
			for range 12 {
				a := trace.Time(rnd.Int64N(int64(end)))
				windows = append(windows, store.Window{Begin: a, End: a + trace.Time(rnd.Int64N(int64(end-a)))})
			}
			for _, w := range windows {
				got, err := r.LinkSums(context.Background(), w)
				want, err2 := store.LinkSums(context.Background(), struct{ store.Reader }{r}, w)
				if err != nil || err2 != nil || !slices.Equal(got, want) {
					t.Errorf("[%d, %d) of %v: %d sums differ from the %d of the links; %v, %v", w.Begin, w.End, w.Locations, len(got), len(want), err, err2)
				}
			}
		})
	}
}
