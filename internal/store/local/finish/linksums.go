package finish

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linkSummer adds links up by pair, node by node. Nodes of a level are joined, LinkFan at a time, as soon as they are there, so that
// little is held.
type linkSummer struct {
	kind               disk.Cursor[trace.LinkKind]
	from, to           disk.Cursor[trace.LocationID]
	count, sized, size disk.Cursor[int64]
	time               disk.Cursor[trace.Time]
	node               disk.Cursor[uint64]
	close              []func() error
	written            uint64
	levels             []linkLevel
}

type linkLevel struct {
	sums store.LinkAdder
	have int  // nodes below that are in it
	many bool // of pairs: it is not kept, and neither is any above
}

// mostPairs bounds what a node may hold while it is made.
const mostPairs = 1 << 20

// finish closes the files.
func (s *linkSummer) finish() (err error) {
	for _, f := range s.close {
		err = cmp.Or(err, f())
	}
	return err
}

// add writes a node and joins it to the one above.
func (s *linkSummer) add(level int, sums []store.LinkSum, links int, many bool) {
	if !many && len(sums) <= links/disk.LinkWorth {
		for i := range sums {
			s.write(&sums[i])
		}
	}
	s.node.Add(s.written)
	if level == len(s.levels) {
		s.levels = append(s.levels, linkLevel{})
	}
	l := &s.levels[level]
	l.many = l.many || many
	for i := range sums {
		l.sums.Add(sums[i])
	}
	l.many = l.many || l.sums.Len() > mostPairs
	if l.many {
		l.sums.Sums()
	}
	if l.have++; l.have == disk.LinkFan {
		up, tooMany := l.sums.Sums(), l.many
		l.have, l.many = 0, false
		s.add(level+1, up, links*disk.LinkFan, tooMany)
	}
}

func (s *linkSummer) write(x *store.LinkSum) {
	s.kind.Add(x.Kind)
	s.from.Add(x.From)
	s.to.Add(x.To)
	s.count.Add(x.Count)
	s.sized.Add(x.Sized)
	s.size.Add(x.Bytes)
	s.time.Add(x.Time)
	s.written++
}

func (s *linkSummer) open(dir string) {
	summed(s, dir, "link_sum.kind.u8", &s.kind)
	summed(s, dir, "link_sum.from_location.u32", &s.from)
	summed(s, dir, "link_sum.to_location.u32", &s.to)
	summed(s, dir, "link_sum.count.i64", &s.count)
	summed(s, dir, "link_sum.sized.i64", &s.sized)
	summed(s, dir, "link_sum.size.i64", &s.size)
	summed(s, dir, "link_sum.time.i64", &s.time)
	summed(s, dir, "link_node.sum.u64", &s.node)
}

func summed[T any](s *linkSummer, dir, name string, c *disk.Cursor[T]) {
	c.To = disk.NewColumn[T](dir, name)
	s.close = append(s.close, c.Finish, c.To.Close)
}
