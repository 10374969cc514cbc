package budget

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const compute, mpi = 1, 2

// chain: rank 2 works 30, and passes its lateness on through rank 1 to rank 0.
func TestWaitingIsChargedToTheFirstCause(t *testing.T) {
	b := New(3, 3, 0, 40)
	f := NewFinder(b)
	for i, work := range []trace.Time{10, 10, 30} {
		b.Add(int32(i), 0, work, compute)
		b.Add(int32(i), work, 40, mpi)
	}
	f.Call(1, Call{10, 31, mpi, NoGroup}) // receives from 2 at 31
	f.Call(0, Call{10, 33, mpi, NoGroup}) // receives from 1 at 33
	f.Call(1, Call{31, 40, mpi, NoGroup})
	f.Message(Message{2, 1, 30, 31, LateSender, 0})
	f.Message(Message{1, 0, 31, 33, LateSender, 0})
	b.Settle(f.Advance(40, make([]int, 3)))
	r := b.Result()
	// Rank 1 waits 10..30, rank 0 10..31; the last 1 is the transfer to rank 1.
	if r.Total != 41 || len(r.Rows) != 2 || r.Rows[0].Actor != 2 || r.Rows[0].Region != compute || r.Rows[0].Caused() != 40 || r.Rows[0].Indirect[LateSender] != 20 {
		t.Errorf("total %d: %+v", r.Total, r.Rows)
	}
	if v := maps.Collect(r.Rows[0].Waiters.All()); len(v) != 2 || v[0] != 20 || v[1] != 20 {
		t.Errorf("waiters %v", v)
	}
}

// made is a run with an all-to-all after each iteration, and messages along a ring.
func made(seed uint64, actors, iterations int, b *Budget, f *Finder, step func(until trace.Time)) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	at := make([]trace.Time, actors)
	for range iterations {
		sent := make([]trace.Time, actors)
		for a := range at {
			work := trace.Time(1000 + rnd.IntN(400))
			b.Add(int32(a), at[a], at[a]+work, compute+2*int32(rnd.IntN(2)))
			at[a] += work
			sent[a] = at[a]
		}
		for a := range at {
			from := (a + 1) % actors
			end := max(at[a], sent[from]) + 3
			b.Add(int32(a), at[a], end, mpi)
			f.Call(int32(a), Call{at[a], end, mpi, NoGroup})
			f.Message(Message{int32(from), int32(a), sent[from], end, LateSender, 0})
			at[a] = end
		}
		last := trace.Time(0)
		for _, t := range at {
			last = max(last, t)
		}
		for a := range at {
			b.Add(int32(a), at[a], last+5, mpi)
			f.Call(int32(a), Call{at[a], last + 5, mpi, 0})
			at[a] = last + 5
		}
		step(last + 5)
	}
}

// Whatever is forgotten, and however the run comes, causes add up to what was waited, and
// forgetting what lies before the last meeting of all changes nothing.
func TestCausesAddUpWhenHistoryIsDropped(t *testing.T) {
	const actors, iterations = 7, 60
	members := make([]int32, actors)
	for i := range members {
		members[i] = int32(i)
	}
	run := func(every int, forget bool) *Result {
		b := New(actors, 4, 0, 200_000)
		f := NewFinder(b)
		f.Group(members)
		seen, n, last := make([]int, actors), 0, trace.Time(0)
		made(1, actors, iterations, b, f, func(until trace.Time) {
			if n++; n%every != 0 {
				return
			}
			settled := f.Advance(until, seen)
			b.Settle(settled)
			if forget {
				f.Forget(last, seen)
				b.Forget(last)
			}
			last = settled
		})
		f.Advance(1<<60, seen)
		return b.Result()
	}
	whole := run(iterations, false)
	for _, r := range []*Result{whole, run(1, false), run(5, true), run(1, true)} {
		sum, waiters, series := trace.Time(0), trace.Time(0), trace.Time(0)
		for i := range r.Rows {
			sum += r.Rows[i].Caused()
			for _, v := range r.Rows[i].Waiters.All() {
				waiters += v
			}
			for _, v := range r.Rows[i].Series.All() {
				series += v
			}
		}
		waited := trace.Time(0)
		for _, w := range r.Waited {
			waited += w
		}
		if sum != r.Total || waiters != r.Total || series != r.Total || waited != r.Total || r.Total != whole.Total || r.Total == 0 || r.Unexplained != 0 {
			t.Errorf("rows %d, waiters %d, series %d, waited %d of %d; unexplained %d", sum, waiters, series, waited, whole.Total, r.Unexplained)
		}
		for i := range r.Rows {
			if fmt.Sprint(r.Rows[i].Actor, r.Rows[i].Region, r.Rows[i].Caused()) != fmt.Sprint(whole.Rows[i].Actor, whole.Rows[i].Region, whole.Rows[i].Caused()) {
				t.Errorf("row %d is %+v, want %+v", i, r.Rows[i], whole.Rows[i])
			}
		}
	}
}

// A history that never meets the other is cut, and what was waited is still shared out.
func TestLongHistoriesAreCut(t *testing.T) {
	const actors, iterations = 4, 3000
	b := New(actors, 4, 0, 5_000_000)
	f := NewFinder(b)
	f.Group(nil)
	rnd := rand.New(rand.NewPCG(3, 3))
	at := make([]trace.Time, actors)
	for range iterations { // two pairs that have nothing to do with each other
		for p := 0; p < actors; p += 2 {
			slow := p + rnd.IntN(2)
			for a := p; a < p+2; a++ {
				work := trace.Time(1000)
				if a == slow {
					work += 100
				}
				b.Add(int32(a), at[a], at[a]+work, compute)
				at[a] += work
			}
			end := max(at[p], at[p+1]) + 1
			for a := p; a < p+2; a++ {
				b.Add(int32(a), at[a], end, mpi)
				f.Call(int32(a), Call{at[a], end, mpi, NoGroup})
				f.Message(Message{int32(p + (a-p+1)%2), int32(a), at[p+(a-p+1)%2], end, LateSender, 0})
			}
			at[p], at[p+1] = end, end
		}
	}
	// At the end both pairs meet for the first time.
	last := max(at[0], at[2]) + 500
	b.Add(0, at[0], last, compute)
	f.Call(2, Call{at[2], last + 1, mpi, NoGroup})
	b.Add(2, at[2], last+1, mpi)
	f.Message(Message{0, 2, last, last + 1, LateSender, 0})
	f.Advance(1<<60, make([]int, actors))
	r := b.Result()
	sum := trace.Time(0)
	for i := range r.Rows {
		sum += r.Rows[i].Caused()
	}
	if r.Cut == 0 || sum != r.Total || r.Unexplained != 0 {
		t.Errorf("%d cut; %d of %d, unexplained %d", r.Cut, sum, r.Total, r.Unexplained)
	}
}

// Four million stretches in steps of a few thousand: memory stays what is remembered.
func BenchmarkStream(b *testing.B) {
	const actors = 64
	members := make([]int32, actors)
	for i := range members {
		members[i] = int32(i)
	}
	for b.Loop() {
		k := New(actors, 4, 0, 1<<40)
		f := NewFinder(k)
		f.Group(members)
		seen, most, n, last := make([]int, actors), 0, 0, trace.Time(0)
		made(1, actors, 20_000, k, f, func(until trace.Time) {
			if n++; n%64 != 0 {
				return
			}
			settled := f.Advance(until, seen)
			k.Settle(settled)
			most = max(most, k.Remembered())
			f.Forget(last, seen)
			k.Forget(last)
			last = settled
		})
		r := k.Result()
		b.ReportMetric(float64(most), "stretches-held")
		b.ReportMetric(float64(r.Waits), "waits")
	}
}

// Actor 0 holds a lock for 20, and both others wait for it; 1 gets it first and holds it for 5.
func TestWaitsForALockAreChargedToItsHolder(t *testing.T) {
	const compute, update, lock = 1, 2, 3
	b := New(3, 4, 0, 40)
	f := NewFinder(b)
	b.Add(0, 0, 2, compute)
	b.Add(0, 2, 22, update)
	b.Add(0, 22, 40, compute)
	b.Add(1, 0, 4, compute)
	b.Add(1, 4, 22, lock)
	b.Add(1, 22, 27, update)
	b.Add(1, 27, 40, compute)
	b.Add(2, 0, 6, compute)
	b.Add(2, 6, 27, lock)
	b.Add(2, 27, 40, compute)
	f.Call(1, Call{4, 22, lock, NoGroup})
	f.Call(2, Call{6, 27, lock, NoGroup})
	f.Acquire(0, Call{2, 2, lock, NoGroup}, 9)
	f.Acquire(1, Call{4, 22, lock, NoGroup}, 9)
	f.Acquire(2, Call{6, 27, lock, NoGroup}, 9)
	f.Release(0, 22, 9)
	f.Release(1, 27, 9)
	f.Release(0, 26, 8) // another lock
	b.Settle(f.Advance(40, make([]int, 3)))
	r := b.Result()
	if r.Total != 39 || r.Kinds[Lock] != 39 || len(r.Rows) == 0 || r.Rows[0].Actor != 0 || r.Rows[0].Region != update || r.Unexplained != 0 {
		t.Errorf("total %d: %+v", r.Total, r.Rows)
	}
}

// Who joins another waits until that one wakes it.
func TestAWokenActorWaitedForItsWaker(t *testing.T) {
	const compute, join = 1, 2
	b := New(2, 3, 0, 20)
	f := NewFinder(b)
	b.Add(0, 0, 5, compute)
	b.Add(0, 5, 20, join)
	b.Add(1, 0, 19, compute)
	f.Call(0, Call{5, 20, join, NoGroup})
	f.Message(Message{1, 0, 19, 20, Join, 0})
	b.Settle(f.Advance(30, make([]int, 2)))
	if r := b.Result(); r.Total != 14 || r.Kinds[Join] != 14 || len(r.Rows) != 1 || r.Rows[0].Actor != 1 {
		t.Errorf("%+v", r)
	}
}

// A worker idles from 10 to 30 and begins a task at 31 for which another must be over: that is so at 29.
func TestAWorkerWaitsForTheTaskThatItsNextOneNeeds(t *testing.T) {
	for slack, want := range map[trace.Time]trace.Time{1: 19, 0: 0} {
		const compute, idle = 1, 2
		b := New(2, 3, 0, 40)
		f := NewFinder(b)
		b.Add(0, 0, 10, compute)
		b.Add(0, 10, 30, idle)
		b.Add(0, 31, 40, compute)
		b.Add(1, 0, 29, compute)
		f.Call(0, Call{10, 30, idle, NoGroup})
		f.Message(Message{1, 0, 29, 31, Task, slack})
		b.Settle(f.Advance(40, make([]int, 2)))
		if r := b.Result(); r.Total != want || want > 0 && (r.Rows[0].Actor != 1 || r.Rows[0].Region != compute) {
			t.Errorf("slack %d: %d waited, want %d: %+v", slack, r.Total, want, r.Rows)
		}
	}
}
