package otf2

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// operations are the names of collective operations, and who must have begun
// before whom may end.
var operations = []struct {
	name string
	flow flow
}{
	{"barrier", allToAll}, {"bcast", oneToAll}, {"gather", allToOne}, {"gatherv", allToOne}, {"scatter", oneToAll}, {"scatterv", oneToAll},
	{"allgather", allToAll}, {"allgatherv", allToAll}, {"alltoall", allToAll}, {"alltoallv", allToAll}, {"alltoallw", allToAll},
	{"allreduce", allToAll}, {"reduce", allToOne}, {"reduce scatter", allToAll}, {"scan", noFlow}, {"exscan", noFlow},
	{"reduce scatter block", allToAll}, {"create handle", noFlow}, {"destroy handle", noFlow}, {"allocate", noFlow}, {"deallocate", noFlow},
	{"create handle and allocate", noFlow}, {"destroy handle and deallocate", noFlow},
}

type flow uint8

const (
	noFlow flow = iota
	allToAll
	oneToAll
	allToOne
)

// Roots that are no rank.
const (
	rootSelf      = undefined32 - 1
	rootThisGroup = undefined32 - 2
)

// A participation is what one process did in one collective operation.
type participation struct {
	comm    uint32
	seq     uint32 // among those of its location on the communicator
	process uint32
	flow    flow
	root    uint32 // process, or undefined32
	begin   trace.Time
	end     trace.Time
}

var participationOrder = ordering[participation]{
	digest: func(p *participation) (uint64, int64) { return uint64(p.comm)<<32 | uint64(p.seq), int64(p.process) },
	compare: func(a, b *participation) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	},
}

// An operation is one collective: those who took part, by process.
type operation struct {
	flow  flow
	root  uint32
	parts []participation
}

// broken reports whether somebody left before another, whom it had to wait for,
// had entered, and by how much.
func (o *operation) broken() trace.Time {
	var firstEnd, lastBegin, rootBegin, rootEnd trace.Time
	found := false
	for i, p := range o.parts {
		if i == 0 {
			firstEnd, lastBegin = p.end, p.begin
		}
		firstEnd, lastBegin = min(firstEnd, p.end), max(lastBegin, p.begin)
		if p.process == o.root {
			rootBegin, rootEnd, found = p.begin, p.end, true
		}
	}
	switch {
	case o.flow == allToAll:
		return max(0, lastBegin-firstEnd)
	case o.flow == oneToAll && found:
		return max(0, rootBegin-firstEnd)
	case o.flow == allToOne && found:
		return max(0, lastBegin-rootEnd)
	}
	return 0
}

// pairs calls f for those who must come before others: with the root, or with the
// first process, so that it is O(n) and still connects all.
func (o *operation) pairs(f func(from, to uint32, cause, effect trace.Time)) {
	hub := -1
	for i, p := range o.parts {
		if o.flow == allToAll && hub < 0 || o.flow != allToAll && p.process == o.root {
			hub = i
		}
	}
	if hub < 0 || o.flow == noFlow {
		return
	}
	h := o.parts[hub]
	for i, p := range o.parts {
		if i == hub {
			continue
		}
		if o.flow != allToOne {
			f(h.process, p.process, h.begin, p.end)
		}
		if o.flow != oneToAll {
			f(p.process, h.process, p.begin, h.end)
		}
	}
}

// mostParts bounds how many processes of one collective are looked at together.
const mostParts = 1 << 20

// operations calls f for every collective that at least two processes took part
// in, once each. O(n log n).
func (m *matcher) operations(ctx context.Context, f func(*operation)) error {
	it, err := m.collectives.sorted()
	if err != nil {
		return err
	}
	var o operation
	var comm, seq uint32
	sound := true
	give := func() {
		if len(o.parts) > 1 && sound {
			f(&o)
		}
		o, sound = operation{parts: o.parts[:0]}, true
	}
	for n := 0; ; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p, err := it.next()
		if err != nil {
			return err
		}
		if p == nil {
			give()
			return nil
		}
		if p.comm != comm || p.seq != seq {
			give()
			comm, seq = p.comm, p.seq
		}
		if k := len(o.parts); k == 0 {
			o.flow, o.root = p.flow, p.root
		} else if o.parts[k-1].process == p.process || p.flow != o.flow || k >= mostParts {
			sound = false // the operations of this communicator are not in step
		}
		if sound {
			o.parts = append(o.parts, *p)
		}
	}
}
