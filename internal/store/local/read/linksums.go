package read

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.LinkSummer = (*Reader)(nil)

// LinkSums implements store.LinkSummer. Links are sorted by when they start: those of a window lie next to each other.
// Nodes that lie wholly among them are kept as sums, from the largest down; the links at both ends are read.
func (r links) LinkSums(ctx context.Context, w store.Window) ([]store.LinkSum, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	in := r.Window(w)
	set := r.Ranges(w.Locations)
	var sum store.LinkAdder
	err := r.Guarded(ctx, func() error {
		r.Checks.Of("untimed").Touch(0, uint64(len(r.C.Untimed.Kind)))
		err := r.untimedLinks(set, func(l *store.LinkColumns) error {
			addLinks(&sum, l, 0, len(l.Kind))
			return nil
		})
		if err != nil || in.Begin >= in.Until || len(r.C.Link.Kind) == 0 {
			return err
		}
		n := uint64(len(r.C.Link.Kind))
		return r.sumLinks(ctx, &sum, r.firstLink(n, in.Begin), r.firstLink(n, in.Until))
	})
	if err != nil {
		return nil, err
	}
	all := sum.Sums()
	out := all[:0]
	for _, s := range all {
		if has(set, &s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// linkStart is the place of the time at which links start among the columns of table link.
const linkStart = 2

// firstLink returns the first link that starts at t or later. If clocks agree it is found by the table of blocks.
func (r links) firstLink(n uint64, t trace.Time) uint64 {
	r.Checks.Of("link_block").Touch(0, uint64(len(r.C.BlockBegin)))
	near := rows.FirstFrom(r.C.BlockBegin, t)
	return r.Checks.Of("link").Search(linkStart, n, int64(t), uint64(near)*disk.LinkBlock)
}

func has(set rows.Ranges, s *store.LinkSum) bool { return set.Has(s.From) || set.Has(s.To) }

func addLinks(sum *store.LinkAdder, l *store.LinkColumns, lo, hi int) {
	for i := lo; i < hi; i++ {
		sum.Add(store.LinkSumOf(l, i))
	}
}

// sumLinks adds links [lo, hi).
func (r links) sumLinks(ctx context.Context, sum *store.LinkAdder, lo, hi uint64) error {
	var block store.LinkColumns
	n := uint64(len(r.C.Link.Kind))
	r.bringSums(lo, hi, n)
	for lo < hi {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if size := r.addNode(sum, lo, hi); size > 0 {
			lo += size
			continue
		}
		first := lo / disk.LinkBlock * disk.LinkBlock
		end := min(first+disk.LinkBlock, hi)
		r.Checks.Of("link").UnpackLinks(&block, first, min(first+disk.LinkBlock, n), hi)
		r.soundLinks("link", &block)
		addLinks(sum, &block, int(lo-first), int(end-first))
		lo = end
	}
	return nil
}

// bringSums fetches the nodes and links that sumLinks is about to read, together.
func (r links) bringSums(lo, hi, n uint64) {
	if !r.Checks.Of("link").Elsewhere() {
		return
	}
	nodes, blocks := disk.Rows{Of: r.Checks.Of("link_sum")}, disk.Rows{Of: r.Checks.Of("link")}
	for lo < hi && len(blocks.Ranges) < mostBrought {
		// where no sums are kept it is all links of the window, and these come by and by
		if from, to, size := r.node(lo, hi); size > 0 {
			nodes.Ranges = append(nodes.Ranges, [2]uint64{from, to})
			lo += size
			continue
		}
		first := lo / disk.LinkBlock * disk.LinkBlock
		blocks.Ranges = append(blocks.Ranges, [2]uint64{first, min(first+disk.LinkBlock, n)})
		lo = first + disk.LinkBlock
	}
	disk.Bring(nodes, blocks)
}

// mostBrought is how many blocks of links lie between two nodes at most where all nodes are kept, twice.
const mostBrought = 2 * disk.LinkNode / disk.LinkBlock

// addNode adds the largest node that is kept, begins at lo and ends by hi; it gives how many links it has, 0: there is
// none.
func (r links) addNode(sum *store.LinkAdder, lo, hi uint64) uint64 {
	from, to, size := r.node(lo, hi)
	if size == 0 {
		return 0
	}
	r.Checks.Of("link_sum").Touch(from, to)
	c := &r.C.LinkSum
	sound("link_sum.from_location", c.From[from:to], r.Len())
	sound("link_sum.to_location", c.To[from:to], r.Len())
	for i := from; i < to; i++ {
		sum.Add(store.LinkSum{Kind: c.Kind[i], From: c.From[i], To: c.To[i], Count: c.Count[i], Sized: c.Sized[i],
			Bytes: c.Bytes[i], Time: c.Time[i]})
	}
	return size
}

// node finds that node: its rows in table link_sum, and how many links it has.
func (r links) node(lo, hi uint64) (from, to, links uint64) {
	level, size := 0, uint64(disk.LinkNode)
	if lo%size != 0 || lo+size > hi {
		return 0, 0, 0
	}
	for lo%(size*disk.LinkFan) == 0 && lo+size*disk.LinkFan <= hi {
		level, size = level+1, size*disk.LinkFan
	}
	for ; level >= 0; level, size = level-1, size/disk.LinkFan {
		at := disk.LinkNodeAt(level, lo/size)
		r.Checks.Of("link_node").Touch(at, at+2)
		if from, to = r.C.LinkNodeSum[at], r.C.LinkNodeSum[at+1]; from < to {
			return from, to, size
		}
	}
	return 0, 0, 0
}
