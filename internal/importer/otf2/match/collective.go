package match

import (
	"cmp"
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// operations are the names of collective operations, and who must have begun
// before whom may end.
var Operations = []struct {
	Name string
	Flow flow
}{
	{"barrier", allToAll}, {"bcast", oneToAll}, {"gather", allToOne}, {"gatherv", allToOne}, {"scatter", oneToAll},
	{"scatterv", oneToAll},
	{"allgather", allToAll}, {"allgatherv", allToAll}, {"alltoall", allToAll}, {"alltoallv", allToAll},
	{"alltoallw", allToAll},
	{"allreduce", allToAll}, {"reduce", allToOne}, {"reduce scatter", allToAll}, {"scan", NoFlow}, {"exscan", NoFlow},
	{"reduce scatter block", allToAll}, {"create handle", NoFlow}, {"destroy handle", NoFlow}, {"allocate", NoFlow},
	{"deallocate", NoFlow},
	{"create handle and allocate", NoFlow}, {"destroy handle and deallocate", NoFlow},
}

type flow uint8

const (
	NoFlow flow = iota
	allToAll
	oneToAll
	allToOne
)

// Roots that are no rank.
const (
	rootSelf      = math.MaxUint32 - 1
	RootThisGroup = math.MaxUint32 - 2
)

// A Participation is what one process did in one collective operation.
type Participation struct {
	Comm    uint32
	Seq     uint32 // among those of its location on the communicator
	Process uint32
	Flow    flow
	Root    uint32 // process, or MaxUint32
	Begin   trace.Time
	End     trace.Time
}

var participationOrder = spool.Grouping[Participation]{
	Hash: func(p *Participation) (uint64, int64) { return uint64(p.Comm)<<32 | uint64(p.Seq), int64(p.Process) },
	Compare: func(a, b *Participation) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	},
}

// An Operation is one collective: those who took part, by process.
type Operation struct {
	flow  flow
	root  uint32
	parts []Participation
}

// Broken reports whether somebody left before another, whom it had to wait for,
// had entered, and by how much.
func (o *Operation) Broken() trace.Time {
	var firstEnd, lastBegin, rootBegin, rootEnd trace.Time
	found := false
	for i, p := range o.parts {
		if i == 0 {
			firstEnd, lastBegin = p.End, p.Begin
		}
		firstEnd, lastBegin = min(firstEnd, p.End), max(lastBegin, p.Begin)
		if p.Process == o.root {
			rootBegin, rootEnd, found = p.Begin, p.End, true
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

// Pairs calls f for those who must come before others: with the root, or with the
// first process, so that it is O(n) and still connects all.
func (o *Operation) Pairs(f func(from, to uint32, cause, effect trace.Time)) {
	hub := -1
	for i, p := range o.parts {
		if o.flow == allToAll && hub < 0 || o.flow != allToAll && p.Process == o.root {
			hub = i
		}
	}
	if hub < 0 || o.flow == NoFlow {
		return
	}
	h := o.parts[hub]
	for i, p := range o.parts {
		if i == hub {
			continue
		}
		if o.flow != allToOne {
			f(h.Process, p.Process, h.Begin, p.End)
		}
		if o.flow != oneToAll {
			f(p.Process, h.Process, p.Begin, h.End)
		}
	}
}

// mostParts bounds how many processes of one collective are looked at together.
const mostParts = 1 << 20

// Operations calls f for every collective that at least two processes took part
// in, once each. O(n log n).
func (m *Matcher) Operations(ctx context.Context, f func(*Operation)) error {
	it, err := m.Collectives.Sorted()
	if err != nil {
		return err
	}
	var o Operation
	var comm, seq uint32
	sound := true
	give := func() {
		if len(o.parts) > 1 && sound {
			f(&o)
		}
		o, sound = Operation{parts: o.parts[:0]}, true
	}
	for n := 0; ; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p, err := it.Next()
		if err != nil {
			return err
		}
		if p == nil {
			give()
			return nil
		}
		if p.Comm != comm || p.Seq != seq {
			give()
			comm, seq = p.Comm, p.Seq
		}
		if k := len(o.parts); k == 0 {
			o.flow, o.root = p.Flow, p.Root
		} else if o.parts[k-1].Process == p.Process || p.Flow != o.flow || k >= mostParts {
			sound = false // the operations of this communicator are not in step
		}
		if sound {
			o.parts = append(o.parts, *p)
		}
	}
}
