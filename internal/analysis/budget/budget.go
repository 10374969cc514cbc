// Package budget explains waiting: who made whom wait, in which region, directly or
// through others that waited themselves, so that the causes add up to all that was
// waited, in whole nanoseconds.
//
// A wait of actor w for the late actor l lasts from b to e. The history of an actor up
// to a time goes back along it to the end of its last wait, goes on at that moment on
// the actor it waited for, and so on: it holds no waiting and covers each moment once. The
// history of l up to e and that of w up to b are compared back to where both are the same.
// With H(k) the time in region k on a history since then,
//
//	e − b = Σ over k of ( H_l(k) − H_w(k) )
//
// exactly, so the wait is shared among the regions in which l's history is longer. Comparing the n-th
// visits of a region in both histories tells which actor has the excess.
//
// After Böhme, Geimer, Wolf, Arnold: "Identifying the root causes of wait states in large-scale parallel
// applications", ICPP 2010; unlike there, an actor's work before its wait is no cause of later waits, since
// the actor would have been late anyway.
//
// The kernel streams: segments and waits come in order of time, are explained as soon as all that bears on
// them is known, and old ones are forgotten. A history that reaches beyond the remembered segments, or that
// is very long, is cut at one moment on both sides, which keeps the equation.
package budget

import (
	"context"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Kind is why an actor waits.
type Kind uint8

// The kinds.
const (
	LateSender Kind = iota
	LateReceiver
	Collective
	Join // threads of a team for one that works alone, or for the last of them
	Lock
	End  // after an actor's last interval, until the run ends
	Task // workers, for the tasks that their next one needs
	kinds
)

func (k Kind) String() string {
	return [...]string{"late sender", "late receiver", "wait at collective", "wait at join", "wait for lock",
		"wait at the end", "wait for task"}[k]
}

// Nothing is the region of time in which nothing is recorded. Regions are numbered from
// 1 in order of their names, which decides where a nanosecond goes that cannot be split.
const Nothing int32 = 0

// NoActor caused waits that the records contradict.
const NoActor int32 = -1

// A Wait is one actor waiting for another.
type Wait struct {
	Actor, Late int32
	Kind        Kind
	Region      int32 // of the call in which it waits
	Begin, End  trace.Time
}

// A Row is the waiting that one actor in one region caused to others.
type Row struct {
	Actor  int32 // NoActor if the records contradict it
	Region int32
	// Direct and Indirect are by kind of the wait. Indirect is through others that
	// waited themselves.
	Direct, Indirect [kinds]trace.Time
	// Waiters is the waiting of each actor, in blocks of Result.Fold actors; Series the waiting over time,
	// in Result.Bins equal bins, without waits at the end of the run. Both are empty if there were too many
	// rows.
	Waiters, Series Times
}

// Caused is all that it made others wait.
func (r *Row) Caused() (sum trace.Time) {
	for k := range kinds {
		sum = trace.AddUp(sum, r.Of(k))
	}
	return sum
}

// Of returns the waiting that the row caused in waits of a kind.
func (r *Row) Of(k Kind) trace.Time { return trace.AddUp(r.Direct[k], r.Indirect[k]) }

// Explained reports whether a row names a cause: not where nothing is
// recorded, nor where the records contradict one another.
func (r *Row) Explained() bool { return r.Actor != NoActor && r.Region != Nothing }

// A Result is a budget of waiting: Rows add up to Total.
type Result struct {
	Rows  derived.Long[Row] // most first
	Total trace.Time
	Kinds [kinds]trace.Time
	// Unexplained is the waiting charged to Nothing and NoActor.
	Unexplained trace.Time
	// Waited is the total waiting of each actor by kind: Waited[actor*Kinds+kind].
	Waited []trace.Time
	// InCalls is the waiting in calls of each region.
	InCalls []trace.Time
	// Clipped counts waits that would have outlasted their call, Cut those whose
	// histories were too long.
	Waits, Clipped, Cut int64
	Bins, Fold          int
	Begin, End          trace.Time
}

// NumKinds is the number of kinds, for tables by kind.
const NumKinds = int(kinds)

// Bins is over how many bins of time rows are reported.
const Bins = 512

const (
	// blocks is of how many waiters a row tells at most.
	blocks = 1024
	// mostPieces is after how many steps a history is cut.
	mostPieces = 2048
)

// A Budget is a computation on its way.
type Budget struct {
	begin, end trace.Time
	floor      trace.Time // before it nothing is remembered
	fold       int
	tracks     []track
	workers    []*worker
	clipped    int64
	shards     [shards]shard
	detailed   atomic.Int64 // rows that have detail
	mostDetail int
	uses       int32 // numbers from here on are uses of region used; 0: none are
	used       int32
	// Keep, if set, receives every wait and where its histories part; for tests.
	Keep func(w Wait, since trace.Time)
	// Each, if set, receives every wait once per cause, with the part of it that the cause has.
	Each func(w *Wait, actor, region int32, direct bool, t trace.Time)
	// Changes, if set, are replayed, and nothing is explained. Rooted says of regions that are collectives whether
	// some members do not wait for all others.
	Changes  []*Change
	Rooted   []bool
	replayed trace.Time
	last     trace.Time // end of the last actor
}

// New begins a budget of actors from begin to end of the run, of which regions have
// numbers below the given one.
func New(actors, regions int, begin, end trace.Time) *Budget {
	b := &Budget{begin: begin, end: end, floor: begin, fold: max(1, (actors+blocks-1)/blocks),
		tracks: make([]track, actors), mostDetail: mostDetail,
		replayed: begin, last: begin}
	for i := range b.shards {
		b.shards[i].rows, b.shards[i].cells = map[rowKey]*account{}, map[cell]trace.Time{}
	}
	for i := range b.tracks {
		b.tracks[i].until = begin
	}
	for range parallel.Workers() {
		b.workers = append(b.workers, newWorker(b, regions))
	}
	return b
}

// Divide makes n uses of a region, whose visits are compared with those of the same use only, such as the work
// between two calls with that between the same calls of another actor. It returns the number of the first; causes are
// distinguished by the region. It is called before any other method.
func (b *Budget) Divide(region int32, n int) (first int32) {
	for _, k := range b.workers {
		b.uses, b.used = int32(len(k.byRegion)), region
		k.byRegion = make([]tally, len(k.byRegion)+n)
	}
	return b.uses
}

// RegionOf returns the region that a number is a use of.
func (b *Budget) RegionOf(number int32) int32 {
	if b.uses > 0 && number >= b.uses {
		return b.used
	}
	return number
}

// Add appends a stretch of an actor's time with one region innermost. Stretches come in order; time between
// them is Nothing. Different actors may be fed at once.
func (b *Budget) Add(actor int32, begin, end trace.Time, region int32) {
	b.tracks[actor].add(begin, end, region)
}

// Extend lengthens the last stretch of an actor, which was cut where a step ended.
func (b *Budget) Extend(actor int32, end trace.Time) {
	if t := &b.tracks[actor]; t.any && end > t.until {
		t.until = end
	}
}

// Wait notes a wait: until the moment at which the late one came, at most to the end of
// the call.
func (b *Budget) Wait(w Wait, callEnd trace.Time) { b.note(w, callEnd, &b.clipped) }

// note is Wait for one of several goroutines that have different actors.
func (b *Budget) note(w Wait, callEnd trace.Time, clipped *int64) {
	if callEnd < w.End {
		*clipped++
		w.End = callEnd
	}
	if w.End > w.Begin {
		t := &b.tracks[w.Actor]
		t.pending = append(t.pending, w)
	}
}

// Settle explains the waits that end by a moment. All waits that end until then, and the
// time of all actors up to it, must be known. O(waits × length of their histories).
func (b *Budget) Settle(until trace.Time) {
	const some = 512
	first := make([]int, len(b.tracks)) // wait that is new
	eachOf(len(b.tracks), func(i int) {
		first[i] = len(b.tracks[i].waits)
		b.tracks[i].settle(until)
	})
	type job struct {
		actor       int32
		first, last int
	}
	var jobs []job
	var settled []Wait
	for i, first := range first {
		waits := b.tracks[i].waits
		if b.Changes != nil {
			settled = append(settled, waits[first:]...)
			continue
		}
		for n := len(waits); first < n; first += some {
			jobs = append(jobs, job{int32(i), first, min(first+some, n)})
		}
	}
	eachOf(len(b.tracks), func(i int) { // once the waits of all are known
		t := &b.tracks[i]
		for n := len(t.marks); n < len(t.waits); n++ {
			w := &t.waits[n]
			late := &b.tracks[w.Late]
			t.marks = append(t.marks,
				mark{int32(t.at(w.End)) + t.dropped, int32(late.lastWait(w.End)) + late.forgotten})
		}
	})
	if b.Changes != nil {
		b.replay(settled, until)
		return
	}
	workers := b.workers
	if b.Keep != nil || b.Each != nil || len(jobs) < 2 {
		workers = workers[:1]
	}
	var next atomic.Int64
	parallel.For(context.Background(), len(workers), func(w int) {
		for n := int(next.Add(1)) - 1; n < len(jobs); n = int(next.Add(1)) - 1 {
			for i := jobs[n].first; i < jobs[n].last; i++ {
				workers[w].explain(jobs[n].actor, i)
			}
		}
		for at := range workers[w].entries {
			workers[w].put(at)
		}
	})
	b.admit()
}

// Forget drops all data before a time, up to which everything must be settled.
func (b *Budget) Forget(before trace.Time) {
	if before <= b.floor {
		return
	}
	b.floor = before
	eachOf(len(b.tracks), func(i int) { b.tracks[i].forget(before) })
}

// actorsAtOnce is the number of actors that one goroutine goes through.
const actorsAtOnce = 512

// eachOf calls f for the numbers of n actors, on all cores.
func eachOf(n int, f func(actor int)) {
	_ = parallel.Ranges(context.Background(), n, actorsAtOnce, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// actorShards is into how many ranges n actors are divided, to note what concerns each.
func actorShards(n int) int { return min(max((n+actorsAtOnce-1)/actorsAtOnce, 1), shards) }

// Remembered is the number of stretches that are held.
func (b *Budget) Remembered() (n int) {
	for i := range b.tracks {
		n += len(b.tracks[i].stretches)
	}
	return n
}

// Ends notes the waits of actors that end before the last: after their last interval,
// until the run's. Actors without any do not wait.
func (b *Budget) Ends() {
	late, last := NoActor, trace.Time(0)
	for i := range b.tracks {
		if t := &b.tracks[i]; t.any && (late == NoActor || t.until > last) {
			late, last = int32(i), t.until
		}
	}
	for i := range b.tracks {
		if t := &b.tracks[i]; t.any && t.until < last {
			b.Wait(Wait{Actor: int32(i), Late: late, Kind: End, Region: Nothing, Begin: t.until, End: last}, last)
		}
	}
}

// rowsAtOnce is the number of rows that one goroutine completes.
const rowsAtOnce = 1024

// Result settles the rest and gives the budget.
func (b *Budget) Result() *Result {
	b.Settle(1<<63 - 1)
	for _, c := range b.Changes {
		c.finish()
	}
	r := &Result{Bins: Bins, Fold: b.fold, Begin: b.begin, End: b.end, Clipped: b.clipped,
		Waited: make([]trace.Time, len(b.tracks)*NumKinds)}
	for _, k := range b.workers {
		r.Cut += k.cut
		r.Waits += k.waits
		for i, t := range k.waited {
			r.Waited[i] += t
			r.Kinds[i%NumKinds] = trace.AddUp(r.Kinds[i%NumKinds], t)
			r.Total = trace.AddUp(r.Total, t)
		}
		if r.InCalls == nil {
			r.InCalls = make([]trace.Time, len(k.inCalls))
		}
		for i, t := range k.inCalls {
			r.InCalls[i] = trace.AddUp(r.InCalls[i], t)
		}
	}
	all := b.ranked(func(r *account) bool { return r.Caused() > 0 })
	if len(all) == 0 {
		return r
	}
	r.Rows = make([]Row, len(all))
	_ = parallel.Ranges(context.Background(), len(all), rowsAtOnce, func(from, to int) {
		var g gathering
		for i := from; i < to; i++ {
			x := all[i].row
			r.Rows[i] = x.Row
			if d := x.detail; d != nil {
				r.Rows[i].Waiters, r.Rows[i].Series = d.waiters.done(b.waiterBlocks(), &g), d.series.done(&g)
			}
		}
	})
	for i := range r.Rows {
		if !r.Rows[i].Explained() {
			r.Unexplained = trace.AddUp(r.Unexplained, all[i].caused)
		}
	}
	return r
}
