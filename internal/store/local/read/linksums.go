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
	var sum store.LinkAdder
	err := r.linkSums(ctx, w, func(l *store.LinkColumns) error {
		addLinks(&sum, l, 0, len(l.Kind))
		return nil
	}, func(lo, hi uint64) error { return r.sumLinks(ctx, &sum, lo, hi) })
	if err != nil {
		return nil, err
	}
	all := sum.Sums()
	return keepSums(all, r.Ranges(w.Locations)), nil
}

// EachLinkSum implements store.LinkSummer.
func (r links) EachLinkSum(ctx context.Context, w store.Window, f func([]store.LinkSum) error) error {
	f = disk.Shield(f)
	set := r.Ranges(w.Locations)
	give := func(sums []store.LinkSum) error {
		if sums = keepSums(sums, set); len(sums) == 0 {
			return nil
		}
		return f(sums)
	}
	return r.linkSums(ctx, w, func(l *store.LinkColumns) error {
		sums := make([]store.LinkSum, len(l.Kind))
		for i := range sums {
			sums[i] = store.LinkSumOf(l, i)
		}
		return give(sums)
	}, func(lo, hi uint64) error {
		var pieces []linkPiece
		r.eachPiece(lo, hi, func(p linkPiece) {
			for ; p.node && p.to-p.from > sumsAtOnce; p.from += sumsAtOnce {
				pieces = append(pieces, linkPiece{p.from, p.from + sumsAtOnce, true})
			}
			pieces = append(pieces, p)
		})
		blocks, sums := make([]store.LinkColumns, r.Workers), make([][]store.LinkSum, r.Workers)
		return r.Parallel(ctx, make(rows.Ranges, len(pieces)), func(_ context.Context, worker, i int) error {
			p := &pieces[i]
			n := int(p.to - p.from)
			if cap(sums[worker]) < n {
				sums[worker] = make([]store.LinkSum, max(n, disk.LinkBlock))
			}
			into := sums[worker][:n]
			r.addPiece(into, p, hi, &blocks[worker])
			return give(into)
		})
	})
}

// sumsAtOnce is the number of stored sums that are given at once.
const sumsAtOnce = 1 << 13

// linkSums reads untimed links, and asks for those of the window by their places in table link.
func (r links) linkSums(ctx context.Context, w store.Window, untimed func(*store.LinkColumns) error,
	timed func(lo, hi uint64) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	in := r.Window(w)
	return r.Guarded(ctx, func() error {
		r.Checks.Of("untimed").Touch(0, uint64(len(r.C.Untimed.Kind)))
		err := r.untimedLinks(r.Ranges(w.Locations), untimed)
		if err != nil || in.Begin >= in.Until || len(r.C.Link.Kind) == 0 {
			return err
		}
		n := uint64(len(r.C.Link.Kind))
		return timed(r.firstLink(n, in.Begin), r.firstLink(n, in.Until))
	})
}

// keepSums leaves the sums that have an end at one of the locations.
func keepSums(all []store.LinkSum, set rows.Ranges) []store.LinkSum {
	out := all[:0]
	for _, s := range all {
		if has(set, &s) {
			out = append(out, s)
		}
	}
	return out
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

// A linkPiece is a node of sums, or links that are read one by one.
type linkPiece struct {
	from, to uint64 // of table link_sum, or of table link
	node     bool
}

// sumLinks adds links [lo, hi).
func (r links) sumLinks(ctx context.Context, sum *store.LinkAdder, lo, hi uint64) error {
	var pieces []linkPiece
	var err error
	n := 0
	add := func() {
		if err == nil && n > 0 {
			err = r.addPieces(ctx, sum.Room(n), pieces, hi)
		}
		pieces, n = pieces[:0], 0
	}
	r.eachPiece(lo, hi, func(p linkPiece) {
		pieces = append(pieces, p)
		if n += int(p.to - p.from); n >= sum.Most() {
			add()
		}
	})
	add()
	return err
}

// eachPiece divides links [lo, hi) into pieces.
func (r links) eachPiece(lo, hi uint64, f func(linkPiece)) {
	r.bringSums(lo, hi, uint64(len(r.C.Link.Kind)))
	for lo < hi {
		p := linkPiece{from: lo, to: min((lo/disk.LinkBlock+1)*disk.LinkBlock, hi)}
		if from, to, size := r.node(lo, hi); size > 0 {
			p = linkPiece{from, to, true}
			lo += size
		} else {
			lo = p.to
		}
		f(p)
	}
}

// addPieces writes the sums of pieces of a window that ends at until.
func (r links) addPieces(ctx context.Context, into []store.LinkSum, pieces []linkPiece, until uint64) error {
	first := make([]uint64, len(pieces)+1)
	for i, p := range pieces {
		first[i+1] = first[i] + p.to - p.from
	}
	blocks := make([]store.LinkColumns, r.Workers)
	return r.Parallel(ctx, make(rows.Ranges, len(pieces)), func(_ context.Context, worker, i int) error {
		r.addPiece(into[first[i]:first[i+1]], &pieces[i], until, &blocks[worker])
		return nil
	})
}

// addPiece writes the sums of one piece.
func (r links) addPiece(into []store.LinkSum, p *linkPiece, until uint64, block *store.LinkColumns) {
	if !p.node {
		first := p.from / disk.LinkBlock * disk.LinkBlock
		r.Checks.Of("link").UnpackLinks(block, first, min(first+disk.LinkBlock, uint64(len(r.C.Link.Kind))), until)
		r.soundLinks("link", block)
		for i := range into {
			into[i] = store.LinkSumOf(block, int(p.from-first)+i)
		}
		return
	}
	from, to := p.from, p.to
	r.Checks.Of("link_sum").Touch(from, to)
	c := &r.C.LinkSum
	sound("link_sum.from_location", c.From[from:to], r.Len())
	sound("link_sum.to_location", c.To[from:to], r.Len())
	for i := from; i < to; i++ {
		into[i-from] = store.LinkSum{Kind: c.Kind[i], From: c.From[i], To: c.To[i], Count: c.Count[i],
			Sized: c.Sized[i], Bytes: c.Bytes[i], Time: c.Time[i]}
	}
}

// bringSums fetches the nodes and links that sumLinks is about to read, together.
func (r links) bringSums(lo, hi, n uint64) {
	if !r.Checks.Of("link").IsRemote() {
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

// mostBrought is how many blocks of links are between two nodes at most where all nodes are kept, twice.
const mostBrought = 2 * disk.LinkNode / disk.LinkBlock

// node finds the largest node that is kept, begins at lo and ends by hi: its rows in table link_sum, and how many links
// it has; 0: there is none.
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
