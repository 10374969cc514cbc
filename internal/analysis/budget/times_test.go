package budget

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Waiters and bins are the sums of what came, however many there are and in whatever order they came.
func TestTimesOfWaitersAndBinsAddUpInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for _, n := range []int{3, fewTimes, fewTimes + 1, 1024} {
		for _, hit := range []int{0, 1, 20, n / 3, n} {
			want := map[int]trace.Time{}
			var x, y tallying
			var g gathering
			type one struct {
				at   int32
				time trace.Time
			}
			var list []one
			for range 5 * hit {
				o := one{int32(rng.IntN(max(hit, 1)) * n / max(hit, 1)), trace.Time(1 + rng.Int64N(1000))}
				list = append(list, o)
				want[int(o.at)] += o.time
				x.add(o.at, n, o.time)
			}
			rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
			for _, o := range list {
				y.add(o.at, n, o.time)
			}
			got, again := x.done(n, &g), y.done(n, &g)
			if !reflect.DeepEqual(got, again) {
				t.Errorf("%d of %d: another order gives other times", hit, n)
			}
			if have := maps.Collect(got.All()); got.Len() != n || !maps.Equal(have, want) {
				t.Errorf("%d of %d: %d times, %v, want %v", hit, n, got.Len(), have, want)
			}
			if bytes := got.sizeBytes(); bytes > int64(8*n) || bytes > int64(12*len(want)) && 3*len(want) < 2*n {
				t.Errorf("%d of %d take %d bytes", hit, n, bytes)
			}
		}
	}
	var p paging
	want := map[int]trace.Time{}
	for range 300 {
		bin, x := rng.IntN(Bins)/7, trace.Time(rng.Int64N(50))
		p.add(bin, x)
		if x > 0 {
			want[bin] += x
		}
	}
	series := p.done(&gathering{})
	if have := maps.Collect(series.All()); !maps.Equal(have, want) {
		t.Errorf("bins %v, want %v", have, want)
	}
}

// Messages may come in any order within a step.
func TestMessagesMayComeInAnyOrder(t *testing.T) {
	const actors, iterations = 9, 80
	run := func(every int, shuffle bool) *Result {
		b := New(actors, 4, 0, 400_000)
		f := NewFinder(b)
		f.Group(nil)
		seen, n := make([]int, actors), 0
		rng := rand.New(rand.NewPCG(2, 3))
		made(4, actors, iterations, b, f, func(until trace.Time) {
			if n++; n%every != 0 {
				return
			}
			for _, list := range f.inbox {
				if shuffle {
					rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
				}
			}
			b.Settle(f.Advance(until, seen))
		})
		return b.Result()
	}
	want := run(iterations, false)
	if want.Kinds[LateSender] == 0 {
		t.Fatal("nobody waits for a message")
	}
	for _, every := range []int{1, 10, iterations} {
		if got := run(every, true); got.Kinds != want.Kinds || got.Waits != want.Waits || !reflect.DeepEqual(got.Waited, want.Waited) {
			t.Errorf("in steps of %d iterations: %d waits, %v; want %d, %v", every, got.Waits, got.Kinds, want.Waits, want.Kinds)
		}
	}
}
