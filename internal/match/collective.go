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
	Flow trace.Flow
}{
	{"barrier", trace.AllToAll}, {"bcast", trace.OneToAll}, {"gather", trace.AllToOne}, {"gatherv", trace.AllToOne},
	{"scatter", trace.OneToAll},
	{"scatterv", trace.OneToAll},
	{"allgather", trace.AllToAll}, {"allgatherv", trace.AllToAll}, {"alltoall", trace.AllToAll},
	{"alltoallv", trace.AllToAll},
	{"alltoallw", trace.AllToAll},
	{"allreduce", trace.AllToAll}, {"reduce", trace.AllToOne}, {"reduce scatter", trace.AllToAll},
	{"scan", trace.NoFlow}, {"exscan", trace.NoFlow},
	{"reduce scatter block", trace.AllToAll}, {"create handle", trace.NoFlow}, {"destroy handle", trace.NoFlow},
	{"allocate", trace.NoFlow},
	{"deallocate", trace.NoFlow},
	{"create handle and allocate", trace.NoFlow}, {"destroy handle and deallocate", trace.NoFlow},
}

// Roots that are no rank.
const (
	rootSelf      = math.MaxUint32 - 1
	RootThisGroup = math.MaxUint32 - 2
)

// A Participation is the part of one process in one collective operation.
type Participation struct {
	Comm    uint32
	Seq     uint32 // among those of its location on the communicator
	Process uint32
	Flow    trace.Flow
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

// mostParts bounds how many processes of one collective are looked at together.
const mostParts = 1 << 20

// Operations calls f for every collective that at least two processes took part
// in, once each; the members have the numbers of their processes. O(n log n).
func (m *Matcher) Operations(ctx context.Context, f func(*trace.Meeting)) error {
	it, err := m.Collectives.Sorted()
	if err != nil {
		return err
	}
	o := trace.Meeting{Root: -1}
	var comm, seq, last uint32
	sound := true
	give := func() {
		if len(o.Members) > 1 && sound {
			f(&o)
		}
		o, sound = trace.Meeting{Root: -1, Members: o.Members[:0]}, true
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
		if k := len(o.Members); k == 0 {
			o.Flow = p.Flow
		} else if last == p.Process || p.Flow != o.Flow || k >= mostParts {
			sound = false // the operations of this communicator are not in step
		}
		last = p.Process
		if sound {
			if p.Process == p.Root {
				o.Root = len(o.Members)
			}
			o.Members = append(o.Members,
				trace.Member{Location: trace.LocationID(p.Process), Begin: p.Begin, End: p.End})
		}
	}
}
