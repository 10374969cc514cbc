package gotrace

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sampled keeps the samples of the first counter of a stream.
type sampled struct {
	trace.Stream
	times  []trace.Time
	values []float64
}

func (s *sampled) Sample(c trace.CounterID, t trace.Time, v float64) {
	if c != 0 {
		return
	}
	s.times, s.values = append(s.times, t), append(s.values, v)
}

// A step is what a counter of goroutines is within levelStep.
type step struct{ first, low, high, last float64 }

func steps(times []trace.Time, values []float64) map[trace.Time]step {
	all := map[trace.Time]step{}
	for i, t := range times {
		v := values[i]
		s, ok := all[t/levelStep]
		if !ok {
			s = step{v, v, v, v}
		}
		all[t/levelStep] = step{s.first, min(s.low, v), max(s.high, v), v}
	}
	return all
}

func TestCountersOfGoroutinesKeepTheirExtremesOfEveryStep(t *testing.T) {
	kept := new(sampled)
	c := &levels{dictionary: dictionary{w: importertest.NewCount()}, main: kept, started: true}
	c.alive.before, c.runnable.id = 500, 1
	random := rand.New(rand.NewPCG(1, 2))
	times, values := []trace.Time{0}, []float64{500}
	for at, i := trace.Time(0), 0; i < 4*levelExact; i++ {
		if i == levelExact/2 {
			c.settle(&c.alive)
		}
		if at += trace.Time(random.IntN(500)); i%5000 == 0 {
			at += 10 * levelStep
		}
		by := 2*random.IntN(2) - 1
		c.count(at, &c.alive, by)
		times, values = append(times, at), append(values, values[len(values)-1]+float64(by))
	}
	c.closeLevels()
	if !slices.Equal(kept.values[:levelExact], values[:levelExact]) || !slices.Equal(kept.times[:levelExact], times[:levelExact]) {
		t.Error("the first changes are not written as they are")
	}
	got, want := steps(kept.times, kept.values), steps(times, values)
	for at, s := range want {
		if got[at] != s {
			t.Fatalf("step %d: first, lowest, highest, last are %v, want %v", at, got[at], s)
		}
	}
	if len(got) != len(want) || len(kept.times) > levelExact+4*len(want)+2 || !slices.IsSorted(kept.times) {
		t.Errorf("%d samples in %d steps, want at most 4 in each of %d, in order", len(kept.times), len(got), len(want))
	}
}
