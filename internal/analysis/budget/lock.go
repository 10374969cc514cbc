package budget

import (
	"cmp"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An acquire is a call that takes a lock, or waits for a condition.
type acquire struct {
	call Call
	lock int64
	kind Kind
}

// A release is where an actor gives a lock back.
type release struct {
	at    trace.Time
	actor int32
	lock  int64
}

// Acquire adds a call that takes a lock: from when the actor asks for it to when it has
// it. Those of an actor come in order; different actors may be fed at once.
func (f *Finder) Acquire(actor int32, c Call, lock int64) {
	f.acquires[actor] = append(f.acquires[actor], acquire{c, lock, Lock})
}

// Await adds a call that waits for a condition, until one signals it: Release.
func (f *Finder) Await(actor int32, c Call, condition int64) {
	f.acquires[actor] = append(f.acquires[actor], acquire{c, condition, Join})
}

// Release notes that an actor begins to give a lock back, or signals a condition.
func (f *Finder) Release(actor int32, at trace.Time, lock int64) {
	f.releases[actor] = append(f.releases[actor], release{at, actor, lock})
}

// handOver finds waits for locks that are over at a moment: the actor that released the lock last
// before it was had held it until then. A release in the first half of the call is of another
// lock of that name, or the one that waited was not let in by it.
func (f *Finder) handOver(until trace.Time) {
	for a, list := range f.releases {
		for _, r := range list {
			f.free[r.lock] = append(f.free[r.lock], r)
		}
		f.releases[a] = list[:0]
	}
	for _, list := range f.free {
		slices.SortFunc(list,
			func(x, y release) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.actor, y.actor)) })
	}
	needed := until // releases before are of no more use
	for a, list := range f.acquires {
		left := list[:0]
		for _, x := range list {
			if x.call.End > until {
				left = append(left, x)
				needed = min(needed, x.call.Begin)
				continue
			}
			free := f.free[x.lock]
			for i := sort.Search(len(free), func(i int) bool { return free[i].at > x.call.End }) - 1; i >= 0 &&
				free[i].at > x.call.Begin; i-- {
				if r := free[i]; r.actor != int32(a) {
					if 2*(r.at-x.call.Begin) >= x.call.End-x.call.Begin {
						f.b.Wait(Wait{int32(a), r.actor, x.kind, x.call.Region, x.call.Begin, r.at}, x.call.End)
					}
					break
				}
			}
		}
		f.acquires[a] = left
	}
	for lock, list := range f.free {
		i := sort.Search(len(list), func(i int) bool { return list[i].at > needed })
		switch {
		case i == len(list):
			delete(f.free, lock)
		case i > 0:
			f.free[lock] = append([]release(nil), list[i:]...)
		}
	}
}
