package diagnose

// Waits of threads: for locks, conditions, and work of a pool.

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/concurrency"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// conditions keeps the numbers of conditions apart from those of locks.
const conditions = 1 << 31

// A lockReader passes to the budget who takes which lock and gives it back. Locks have names
// where the source has them; critical sections that of their region; of all others of a
// process the last that was given back is taken to be the one. Conditions are reported alike: who signals one
// last before a thread goes on has made it hold.
type lockReader struct {
	*waitReader
	holding []waiting.Holding // by region
	names   map[string]int32
	lock    func(actor, row int) int32
}

// newLockReader is nil for a run without locks.
func newLockReader(k *waitReader) *lockReader {
	r := &lockReader{waitReader: k, holding: make([]waiting.Holding, len(k.regions)), names: map[string]int32{}}
	some := false
	for i := range k.regions {
		r.holding[i] = waiting.LockOf(&k.regions[i])
		some = some || r.holding[i] != waiting.NoLock
	}
	if !some {
		return nil
	}
	return r
}

// step reads the names of locks in a step of time.
func (r *lockReader) step(ctx context.Context, w store.Window) (err error) {
	if r != nil {
		r.lock, err = r.numbered(ctx, w, "lock", r.names)
	}
	return err
}

// read takes one interval of an actor; s is its call stack before it.
func (r *lockReader) read(a int32, s *rowState, region trace.RegionID, begin, end trace.Time, row int) {
	if r == nil || r.holding[region] == waiting.NoLock {
		return
	}
	number := int64(0)
	if r.lock != nil {
		number = int64(r.lock(int(a), row))
	}
	home := int64(r.tree.Parent[r.actors[a]]+1) << 33
	switch r.holding[region] {
	case waiting.Acquires:
		r.f.Acquire(a, budget.Call{Begin: begin, End: end, Region: r.number[region], Group: budget.NoGroup},
			home|number)
	case waiting.Releases:
		r.f.Release(a, begin, home|number)
	case waiting.Awaits:
		r.f.Await(a, budget.Call{Begin: begin, End: end, Region: r.number[region], Group: budget.NoGroup},
			home|conditions|number)
	case waiting.Signals:
		r.f.Release(a, begin, home|conditions|number)
	case waiting.CriticalBlock:
		if n := len(s.stack); n > 0 {
			section := &s.stack[n-1]
			lock := home | 1<<32 | int64(section.region)
			r.f.Acquire(a, budget.Call{Begin: section.begin, End: begin, Region: section.region, Group: budget.NoGroup},
				lock)
			r.f.Release(a, end, lock)
		}
	}
}

// A poolReader finds the time in which one thread of a process works and the others have
// nothing to do, in runs whose threads take work from a pool: nobody sends it, and they never meet.
type poolReader struct {
	*waitReader
	pool   []int32 // of an actor, -1
	place  []int32 // in its pool
	actors [][]int32
	sweeps []*concurrency.Sweep
	events [][]concurrency.Event // by actor
	held   [][]budget.Wait       // by actor: in time of which nothing is recorded, until something is
}

// fewestWorkers is how many threads make a pool.
const fewestWorkers = 3

// newPoolReader is nil for a run whose units send messages, meet, or fork and join, and for the tasks of a system.
func newPoolReader(k *waitReader) (*poolReader, error) {
	if k.team != nil || k.links > 0 || k.scheduled() {
		return nil, nil
	}
	if n, err := k.store.LinkCount(k.window); err != nil || n > waiting.MostMessages {
		return nil, err
	}
	for i := range k.regions {
		if k.collective[i] || k.regions[i].Role == trace.RoleCommunication {
			return nil, nil
		}
	}
	r := &poolReader{waitReader: k, pool: make([]int32, len(k.accounts.actors)),
		place: make([]int32, len(k.accounts.actors)), events: make([][]concurrency.Event, len(k.accounts.actors)),
		held: make([][]budget.Wait, len(k.accounts.actors))}
	members := map[trace.LocationID][]int32{}
	for a, id := range k.accounts.actors {
		r.pool[a] = -1
		switch k.tree.Kind[id] {
		case trace.KindSite, trace.KindCluster, trace.KindMachine, trace.KindProcess, trace.KindStream,
			trace.KindDevice, trace.KindProcessor, trace.KindGoroutine:
			continue
		}
		if up := k.tree.Parent[id]; up != trace.NoLocation {
			members[up] = append(members[up], int32(a))
		}
	}
	for _, list := range members {
		if len(list) < fewestWorkers {
			continue
		}
		s := concurrency.New(len(list), k.window.Begin)
		s.Starved = func(x concurrency.Starve) {
			w := budget.Wait{Actor: list[x.Actor], Late: list[x.Alone], Kind: budget.Join, Region: x.Label,
				Begin: x.Begin, End: x.End}
			if x.Label == budget.Nothing {
				r.held[w.Actor] = append(r.held[w.Actor], w)
			} else {
				k.b.Wait(w, w.End)
			}
		}
		for i, a := range list {
			r.pool[a], r.place[a] = int32(len(r.sweeps)), int32(i)
		}
		r.sweeps, r.actors = append(r.sweeps, s), append(r.actors, list)
	}
	if len(r.sweeps) == 0 {
		return nil, nil
	}
	return r, nil
}

// note records an actor's state from s.at on: in its innermost region, or in nothing.
func (r *poolReader) note(a int32, s *rowState) {
	if r == nil || r.pool[a] < 0 {
		return
	}
	e := concurrency.Event{At: s.at, Actor: r.place[a], State: concurrency.Waiting, Label: budget.Nothing}
	if n := len(s.stack); n > 0 {
		e.Label = r.b.RegionOf(s.stack[n-1].region)
		switch role := r.role[e.Label]; {
		case role.Busy():
			e.State = concurrency.Busy
		case !waiting.Waits(role):
			e.State = concurrency.Away
		}
	}
	r.events[a] = append(r.events[a], e)
}

// step takes the notes up to the end of a step.
func (r *poolReader) step(end trace.Time) {
	if r == nil {
		return
	}
	for i, s := range r.sweeps {
		var all []concurrency.Event
		for _, a := range r.actors[i] {
			all = append(all, r.events[a]...)
		}
		s.Feed(all)
		s.Cut(end)
		for _, a := range r.actors[i] {
			r.flush(a)
		}
	}
}

// flush passes on the waits of an actor without a record up to where something is recorded
// again: a thread that does nothing to the end of the run may be over.
func (r *poolReader) flush(a int32) {
	last := trace.Time(-1)
	for _, e := range r.events[a] {
		if e.Label != budget.Nothing {
			last = e.At
		}
	}
	r.events[a] = r.events[a][:0]
	n := 0
	for n < len(r.held[a]) && r.held[a][n].End <= last {
		r.b.Wait(r.held[a][n], r.held[a][n].End)
		n++
	}
	r.held[a] = r.held[a][n:]
}
