package otf2

import (
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A threader follows threads, teams, tasks and calling contexts.
type threader struct {
	messenger

	forked   fork
	joined   uint32   // the team that ended last, of which this is the first thread
	contexts []uint32 // calling contexts that are open
	path     []uint32
}

// thread takes records of threads, teams, tasks and their locks.
func (r *threader) thread(e *event, f *fields) {
	n := &r.a.names
	switch e.id {
	case evOmpFork:
		r.fork()
		r.add(r.a.name(&n.threads), bytesValue(e.value))
	case evThreadFork:
		r.fork()
		f.uint8() // model
		r.add(r.a.name(&n.threads), bytesValue(uint64(f.uint32())))
	case evThreadTeamBegin:
		r.teamBegin(f.uint32())
	case evThreadTeamEnd:
		r.teamEnd(f.uint32())
	case evThreadJoin, evOmpJoin:
		r.teamJoin()
	case evOmpAcquireLock, evOmpReleaseLock:
		r.lock(f)
	case evThreadAcquireLock, evThreadReleaseLock:
		f.uint8() // model
		r.lock(f)
	case evThreadCreate, evThreadBegin, evThreadWait, evThreadEnd:
		r.threadLife(e.id, f)
	case evOmpTaskCreate, evOmpTaskSwitch, evOmpTaskComplete:
		r.task(e.id, match.Half{Key: match.Key{Kind: match.Task, A: undefined32, B: uint32(r.process), D: e.value}},
			e.value)
	case evThreadTaskCreate, evThreadTaskSwitch, evThreadTaskComplete:
		_, team := r.comm(f.uint32())
		creator, number := f.uint32(), uint64(f.uint32())
		if !f.bad {
			r.task(e.id,
				match.Half{Key: match.Key{Kind: match.Task, A: team, B: uint32(r.process), C: creator, D: number}},
				number)
		}
	}
}

func (r *threader) lock(f *fields) {
	n := &r.a.names
	r.add(r.a.name(&n.lock), bytesValue(uint64(f.uint32())))
	r.add(r.a.name(&n.order), bytesValue(uint64(f.uint32())))
}

// teamBegin links the fork to the other threads of the team: the first thread of
// the team is the one that forked it.
func (r *threader) teamBegin(ref uint32) {
	c, k := r.comm(ref)
	if c == nil {
		r.tally.partners++
		return
	}
	if c.rankOf(r.at) != 0 {
		r.start(match.Half{Key: match.Key{Kind: match.Team, A: k, B: uint32(r.at)}, Order: r.now, Size: -1})
		return
	}
	if !r.forked.set {
		r.fork()
	}
	for rank, m := range c.members {
		if rank > 0 && m >= 0 {
			r.causeAt(match.Half{Key: match.Key{Kind: match.Team, A: k, B: uint32(m)}, Order: r.now, Size: -1},
				r.forked.time, r.forked.Call)
		}
	}
	r.forked.set = false
}

// A fork is where a team was asked for.
type fork struct {
	set  bool
	time trace.Time
	match.Call
}

func (r *threader) fork() { r.forked = fork{true, r.now, r.innermost()} }

// teamEnd is where a thread gives its part back, which the join waits for.
func (r *threader) teamEnd(ref uint32) {
	c, k := r.comm(ref)
	if c == nil {
		return
	}
	if c.rankOf(r.at) != 0 {
		r.end(match.Half{Key: match.Key{Kind: match.Join, A: k, B: uint32(r.at)}, Order: r.now, Size: -1})
		return
	}
	r.joined = k
}

func (r *threader) teamJoin() {
	if r.joined == undefined32 {
		return
	}
	for rank, m := range r.a.comms[r.joined].members {
		if rank > 0 && m >= 0 {
			r.effect(match.Half{Key: match.Key{Kind: match.Join, A: r.joined, B: uint32(m)}, Order: r.now, Size: -1})
		}
	}
	r.joined = undefined32
}

// threadLife links the creation of a thread to its begin, and its end to who
// waits for it. Begin and end stay as points in time: they bound the thread.
func (r *threader) threadLife(id uint8, f *fields) {
	_, contingent := r.comm(f.uint32())
	h := match.Half{Key: match.Key{Kind: match.Thread, A: contingent, B: uint32(r.process), D: f.uint64()},
		Order: r.now, Size: -1}
	if f.bad {
		return
	}
	switch id {
	case evThreadCreate:
		r.cause(h)
	case evThreadBegin:
		r.start(h)
		r.instant(id)
	case evThreadEnd:
		h.Kind = match.Wait
		r.end(h)
		r.instant(id)
	case evThreadWait:
		h.Kind = match.Wait
		r.effect(h)
	}
}

// task links the creation of a task to where it is first run. Number 0 is the
// task that every thread of a team begins with.
func (r *threader) task(id uint8, h match.Half, number uint64) {
	h.Order, h.Size = r.now, -1
	switch id {
	case evThreadTaskCreate, evOmpTaskCreate:
		r.cause(h)
		r.add(r.a.name(&r.a.names.task), trace.Integer(int64(number)))
	case evThreadTaskSwitch, evOmpTaskSwitch:
		if number != 0 {
			r.start(h)
		}
	default:
		r.tally.tasks++
	}
}

// end keeps the cause of a thread that ends: its last call, if nothing is open any more.
func (r *threader) end(h match.Half) {
	if len(r.stack) == 0 && r.left.Region != trace.NoRegion {
		r.causeAt(h, r.left.time, r.left.Call)
		return
	}
	r.cause(h)
}
