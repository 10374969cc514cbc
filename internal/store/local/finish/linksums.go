package finish

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linkSummer adds links up by pair, node by node. Nodes of a level are joined, LinkFan at a time, as soon as they are
// there, so that little is held.
type linkSummer struct {
	sums, nodes        *tableWriter
	kind               *disk.Cursor[trace.LinkKind]
	from, to           *disk.Cursor[trace.LocationID]
	count, sized, size *disk.Cursor[int64]
	time               *disk.Cursor[trace.Time]
	node               *disk.Cursor[uint64]
	written            uint64
	levels             []linkLevel
}

func newLinkSummer(dir string) *linkSummer {
	t, n := &tableWriter{dir: dir, table: "link_sum"}, &tableWriter{dir: dir, table: "link_node"}
	s := &linkSummer{
		sums: t, nodes: n, node: appendTo[uint64](n, "sum.u64"),
		kind: appendTo[trace.LinkKind](t, "kind.u8"), from: appendTo[trace.LocationID](t, "from_location.u32"),
		to:    appendTo[trace.LocationID](t, "to_location.u32"),
		count: appendTo[int64](t, "count.i64"), sized: appendTo[int64](t, "sized.i64"),
		size: appendTo[int64](t, "size.i64"), time: appendTo[trace.Time](t, "time.i64"),
	}
	s.node.Add(0)
	return s
}

type linkLevel struct {
	lists [][]store.LinkSum // of nodes below, each in order
	have  int               // nodes below
	many  bool              // pairs: it is not kept, and neither is any above
}

// mostPairs bounds the pairs of a node while it is made.
const mostPairs = 1 << 20

// finish closes the files.
func (s *linkSummer) finish() error { return cmp.Or(s.sums.finish(nil), s.nodes.finish(nil)) }

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
	if l.lists = append(l.lists, sums); l.pairs() > mostPairs { // all of them may be the same
		l.lists = [][]store.LinkSum{mergeSums(l.lists)}
		l.many = l.many || l.pairs() > mostPairs
	}
	if l.many {
		l.lists = nil
	}
	if l.have++; l.have == disk.LinkFan {
		up, tooMany := mergeSums(l.lists), l.many
		*l = linkLevel{}
		s.add(level+1, up, links*disk.LinkFan, tooMany)
	}
}

func (l *linkLevel) pairs() (n int) {
	for _, list := range l.lists {
		n += len(list)
	}
	return n
}

// mergeSums joins lists that are in order. Entries of one pair are added in the order of lists.
func mergeSums(lists [][]store.LinkSum) []store.LinkSum {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	out := make([]store.LinkSum, 0, n)
	for {
		var least *store.LinkSum
		for _, list := range lists {
			if len(list) > 0 && (least == nil || compareSums(&list[0], least) < 0) {
				least = &list[0]
			}
		}
		if least == nil {
			return out
		}
		out = append(out, *least)
		sum := &out[len(out)-1]
		first := true
		for i, list := range lists {
			if len(list) == 0 || compareSums(&list[0], sum) != 0 {
				continue
			}
			if lists[i] = list[1:]; !first {
				addSum(sum, &list[0])
			}
			first = false
		}
	}
}

func compareSums(a, b *store.LinkSum) int {
	if a.Kind != b.Kind {
		return cmp.Compare(a.Kind, b.Kind)
	}
	if a.From != b.From {
		return cmp.Compare(a.From, b.From)
	}
	return cmp.Compare(a.To, b.To)
}

func addSum(to, x *store.LinkSum) {
	to.Count += x.Count
	to.Sized += x.Sized
	to.Bytes += x.Bytes
	to.Time = trace.AddUp(to.Time, x.Time)
}

// A nodeSummer adds up the links of one node. It sorts their pairs: of runs with many locations most links have a pair
// of their own, and to look each up took ten times as long.
type nodeSummer struct {
	sorter spool.Sorter[store.LinkSum]
	rest   store.LinkAdder
}

// pairBits are those of a location in the key of a pair.
const pairBits = 27

func (n *nodeSummer) sum(rows []linkRow) []store.LinkSum {
	keys, fits := n.sorter.Keys[:0], true
	for i := range rows {
		r := &rows[i]
		fits = fits && r.FromLocation < 1<<pairBits && r.ToLocation < 1<<pairBits
		keys = append(keys,
			spool.SortKey{Key: int64(r.Kind)<<(2*pairBits) | int64(r.FromLocation)<<pairBits | int64(r.ToLocation),
				Index: uint32(i)})
	}
	n.sorter.Keys = keys
	if !fits || len(rows) == 0 {
		for i := range rows {
			n.rest.Add(rows[i].sum())
		}
		return n.rest.Sums()
	}
	n.sorter.Spread()
	keys = n.sorter.Keys
	pairs := 0
	for i, key := range keys {
		if i == 0 || key.Key != keys[i-1].Key {
			pairs++
		}
	}
	out := make([]store.LinkSum, 0, pairs)
	for i, key := range keys {
		x := rows[key.Index].sum()
		if i > 0 && key.Key == keys[i-1].Key {
			addSum(&out[len(out)-1], &x)
		} else {
			out = append(out, x)
		}
	}
	return out
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
