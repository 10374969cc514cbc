package gotrace

import (
	"math/rand/v2"
	"slices"
	"testing"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A recorded is a tally that keeps where links end, and the names of locations.
type recorded struct {
	tally
	names map[trace.LocationID]string
	links []trace.Link
}

func (r *recorded) Location(l trace.Location) trace.LocationID {
	id := r.tally.Location(l)
	r.names[id] = l.Name
	return id
}

func (r *recorded) Link(l trace.Link) { r.links = append(r.links, l) }

// A script gives a converter changes of goroutines' states, a nanosecond apart.
type script struct {
	*testing.T
	c  *converter
	at xtrace.Time
}

// moves changes the state of a goroutine; by is the one that does it.
func (s *script) moves(by, id xtrace.GoID, from, to xtrace.GoState) {
	s.Helper()
	s.at++
	e, err := xtrace.MakeEvent(xtrace.EventConfig[xtrace.StateTransition]{
		Time: s.at, Kind: xtrace.EventStateTransition, Goroutine: by, Proc: xtrace.NoProc, Details: xtrace.MakeGoStateTransition(id, from, to),
	})
	if err != nil {
		s.Fatal(err)
	}
	s.c.event(&e, xtrace.EventStateTransition)
}

func TestGoroutinesThatEndLeaveNothingBehind(t *testing.T) {
	w := &recorded{names: map[trace.LocationID]string{}}
	s := &script{T: t, c: newConverter(w, "x")}
	const n = 20_000
	for id := range xtrace.GoID(n) {
		s.moves(xtrace.NoGoroutine, id, xtrace.GoNotExist, xtrace.GoRunnable)
		s.moves(xtrace.NoGoroutine, id, xtrace.GoRunnable, xtrace.GoRunning)
		s.moves(id, id, xtrace.GoRunning, xtrace.GoNotExist)
	}
	if len(w.names) < n || w.records.intervals < 3*n {
		t.Errorf("%d locations and %d intervals, want %d at least and 3 for each", len(w.names), w.records.intervals, n)
	}
	if made, live := len(s.c.spare), len(s.c.g.all()); made > 64 || live > 0 {
		t.Errorf("%d goroutines were made and %d live, want a few and none", made, live)
	}
}

// Of neither goroutine a stack is known until they end, so that the link waits while
// the later one ends and others come.
func TestALinkThatWaitsKeepsItsGoroutines(t *testing.T) {
	w := &recorded{names: map[trace.LocationID]string{}}
	s := &script{T: t, c: newConverter(w, "x")}
	s.moves(xtrace.NoGoroutine, 7, xtrace.GoNotExist, xtrace.GoRunnable)
	s.moves(xtrace.NoGoroutine, 7, xtrace.GoRunnable, xtrace.GoRunning)
	s.moves(7, 8, xtrace.GoNotExist, xtrace.GoRunnable)
	s.moves(xtrace.NoGoroutine, 8, xtrace.GoRunnable, xtrace.GoRunning)
	s.moves(8, 8, xtrace.GoRunning, xtrace.GoNotExist)
	for id := range xtrace.GoID(100) {
		s.moves(xtrace.NoGoroutine, 100+id, xtrace.GoNotExist, xtrace.GoRunnable)
	}
	s.moves(7, 7, xtrace.GoRunning, xtrace.GoNotExist)
	if err := s.c.close(); err != nil {
		t.Fatal(err)
	}
	if len(w.links) != 1 {
		t.Fatalf("%d links, want 1", len(w.links))
	}
	if from, to := w.names[w.links[0].From.Location], w.names[w.links[0].To.Location]; from != "goroutine 7" || to != "goroutine 8" {
		t.Errorf("the link goes from %q to %q", from, to)
	}
}

func TestGoroutineLookupEqualsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var h herd
	want := map[xtrace.GoID]*goroutine{}
	for range 100_000 {
		id := xtrace.GoID(random.IntN(4*herdSize)) - 1
		g := h.get(id)
		if g != want[id] {
			t.Fatalf("goroutine %d is %p, want %p", id, g, want[id])
		}
		if g == nil {
			g = &goroutine{id: id}
			h.put(g)
			want[id] = g
		} else if random.IntN(2) == 0 {
			h.remove(g)
			delete(want, id)
		}
	}
	all := h.all()
	if len(all) != len(want) || !slices.IsSortedFunc(all, func(a, b *goroutine) int { return int(a.id - b.id) }) {
		t.Errorf("%d goroutines live, want %d, by id", len(all), len(want))
	}
}
