package budget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// slowed is a run of 8 actors that send along a ring and may meet in each iteration. Work takes what a function says; it
// gives when the run ends.
func slowed(b *Budget, meet bool, work func(actor, iteration int) float64, step func(until trace.Time, f *Finder)) trace.Time {
	const actors = 8
	f := NewFinder(b)
	f.Group([]int32{0, 1, 2, 3, 4, 5, 6, 7})
	at := make([]trace.Time, actors)
	for i := range 50 {
		sent := make([]trace.Time, actors)
		for a := range at {
			end := at[a] + trace.Time(work(a, i))
			b.Add(int32(a), at[a], end, compute)
			at[a], sent[a] = end, end
		}
		last := trace.Time(0)
		for a := range at {
			from := (a + 1) % actors
			end := max(sent[a], sent[from]) + 30
			b.Add(int32(a), at[a], end, mpi)
			f.Call(int32(a), Call{at[a], end, mpi, NoGroup})
			f.Message(Message{int32(from), int32(a), sent[from], end, LateSender, 0})
			at[a] = end
			last = max(last, end)
		}
		if !meet {
			step(slices.Min(at), f)
			continue
		}
		for a := range at {
			b.Add(int32(a), at[a], last+50, mpi)
			f.Call(int32(a), Call{at[a], last + 50, mpi, 0})
			at[a] = last + 50
		}
		step(last+50, f)
	}
	return slices.Max(at)
}

func noisy(slow func(actor, iteration int) float64) func(actor, iteration int) float64 {
	rnd := rand.New(rand.NewPCG(3, 7))
	return func(a, i int) float64 { return 10_000 * (1 + 0.01*rnd.Float64()) * slow(a, i) }
}

// A replay without a change ends when the run did, whole or in steps. With the slow time made as that of the others it
// ends when the same run without the fault does.
func TestAReplayEndsWhenTheRunWithoutTheFaultDoes(t *testing.T) {
	healthy := func(int, int) float64 { return 1 }
	want := slowed(New(8, 3, 0, 1<<40), true, noisy(healthy), func(trace.Time, *Finder) {})
	for name, test := range map[string]struct {
		slow  func(actor, iteration int) float64
		actor func(a int) bool
		to    Target
	}{
		"one":   {func(a, _ int) float64 { return []float64{1, 1.4}[boolInt(a == 3)] }, func(a int) bool { return a == 3 }, ToPeers},
		"half":  {func(a, _ int) float64 { return []float64{1, 1.4}[boolInt(a > 3)] }, func(a int) bool { return a > 3 }, ToPeers},
		"turns": {func(a, i int) float64 { return []float64{1, 1.4}[boolInt(a == i%8)] }, nil, ToMean},
		"late":  {func(a, i int) float64 { return []float64{1, 1.4}[boolInt(a == 3 && i > 30)] }, func(a int) bool { return a == 3 }, ToPeers},
	} {
		for _, steps := range []bool{false, true} {
			b := New(8, 3, 0, 1<<40)
			none := &Change{Actors: make([]bool, 8), Regions: make([]bool, 3)}
			change := &Change{Regions: []bool{false, true, false}, To: test.to}
			if test.actor != nil {
				change.Actors = make([]bool, 8)
				for a := range change.Actors {
					change.Actors[a] = test.actor(a)
				}
			}
			b.Changes = []*Change{none, change}
			seen, n := make([]int, 8), 0
			var f *Finder
			end := slowed(b, true, noisy(test.slow), func(until trace.Time, x *Finder) {
				f = x
				if n++; steps && n%7 == 0 {
					settled := f.Advance(until-1, seen)
					b.Settle(settled)
					f.Forget(settled-20_000, seen)
					b.Forget(settled - 20_000)
				}
			})
			b.Settle(f.Advance(1<<62, seen))
			b.Result()
			if none.End != float64(end) {
				t.Errorf("%s, steps %v: ends at %.0f without a change, the run at %d", name, steps, none.End, end)
			}
			if !steps {
				again := *change
				again.now, again.End, again.Rounds = nil, 0, 0
				if b.Replay([]*Change{&again}); again.End != change.End || again.Rounds != 50 {
					t.Errorf("%s: replayed again it ends at %.0f, before at %.0f, %d rounds", name, again.End, change.End, again.Rounds)
				}
			}
			gain, truth := float64(end)-change.End, float64(end-want)
			if test.to == ToMean { // the mean holds the time that was too long
				truth = float64(end) - float64(want)*1.05
			}
			if math.Abs(gain-truth) > 0.05*truth {
				t.Errorf("%s, steps %v: gain %.0f of %d, truth %.0f", name, steps, gain, end, truth)
			}
		}
	}
}

// Without collectives sums over the whole run are compared: time that others wait for loses what is too much.
func TestWithoutCollectivesAwaitedWorkIsTheExcess(t *testing.T) {
	ring := func(b *Budget, slow func(a, i int) float64) float64 {
		var f *Finder
		end := slowed(b, false, noisy(slow), func(_ trace.Time, x *Finder) { f = x })
		b.Settle(f.Advance(1<<62, make([]int, 8)))
		return float64(end)
	}
	want := ring(New(8, 3, 0, 1<<40), func(int, int) float64 { return 1 })
	for name, slow := range map[string]func(a, i int) float64{
		"once":   func(a, i int) float64 { return []float64{1, 10}[boolInt(a == 3 && i == 20)] },
		"always": func(a, _ int) float64 { return []float64{1, 1.4}[boolInt(a == 3)] },
	} {
		b := New(8, 3, 0, 1<<40)
		change := &Change{Actors: make([]bool, 8), Regions: []bool{false, true, false}, To: ToPeers}
		change.Actors[3] = true
		b.Changes = []*Change{change}
		end := ring(b, slow)
		b.Result()
		if gain, truth := end-change.End, end-want; math.Abs(gain-truth) > 0.05*truth {
			t.Errorf("%s: gain %.0f, truth %.0f of %.0f", name, gain, truth, end)
		}
	}
}

// One works once more in each iteration, shorter than before, while the others wait for its message: that is its excess.
func TestShortWorkThatOthersWaitForIsTheExcess(t *testing.T) {
	b := New(4, 3, 0, 1<<40)
	f := NewFinder(b)
	at := trace.Time(0)
	for range 30 {
		b.Add(0, at, at+800, compute)
		b.Add(0, at+800, at+810, mpi)
		b.Add(0, at+810, at+1110, compute)
		b.Add(0, at+1110, at+1120, mpi)
		for a := int32(1); a < 4; a++ {
			b.Add(a, at, at+800, compute)
			b.Add(a, at+800, at+1120, mpi)
			f.Call(a, Call{at + 800, at + 1120, mpi, NoGroup})
			f.Message(Message{0, a, at + 1110, at + 1120, LateSender, 0})
		}
		at += 1120
	}
	change := &Change{Actors: []bool{true, false, false, false}, Regions: []bool{false, true, false}, To: ToPeers}
	b.Changes = []*Change{change}
	b.Settle(f.Advance(1<<62, make([]int, 4)))
	b.Result()
	if gain := float64(at) - change.End; math.Abs(gain-30*300) > 30*15 {
		t.Errorf("gain %.0f of %d, want %d", gain, at, 30*300)
	}
}

func boolInt(x bool) int {
	if x {
		return 1
	}
	return 0
}
