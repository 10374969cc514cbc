package index

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The summary tree is dyadic in time: node (level, index) of a lane covers
// [index << level, (index+1) << level) ns. A node exists iff more than leafRows rows
// of the lane begin in it, so all nodes above one exist too. Its block is merged of
// those of its halves, or built from its rows where neither half is a node; a half
// that is none beside one that is is built from its rows too.

// leafRows is the number of rows that is not worth a block.
const leafRows = 64

// TopLevel returns the level of a node that covers the whole trace, with rows that begin at its very end.
func TopLevel(end trace.Time) int { return bits.Len64(uint64(end)) }

// A forester builds the nodes of lanes, with the blocks of several summaries.
type forester struct {
	r         *rows.Table
	summaries []disk.Shielded
	kept      []trace.Block // by summary: the condensed block of the node at hand
	top       int

	v      rows.Lane
	sums   *summer
	chain  []trace.OpenInterval // the last row that was built from, and its parents
	s      trace.Stretch
	levels []levelPart
	any    bool // there are nodes in levels
	// Blocks of the left and the right half, by level, then by summary.
	left, right [][]trace.Block
	roles       *grouper // takes the time of the lane; may be nil
	pace        func(rows int)
	err         error
}

// A levelPart is the nodes of one level of one lane.
type levelPart struct {
	count  int64
	index  spool.Spill
	row    spool.Spill
	blocks []spool.Spill // by summary
	sizes  []spool.Spill // of blocks, u32
}

func newForester(r *rows.Table, summaries []trace.Summary, dir string, memory int64) *forester {
	f := &forester{r: r, top: TopLevel(r.End), pace: r.Pace, sums: newSummer(r.Roles)}
	for _, s := range summaries {
		f.summaries = append(f.summaries, disk.ShieldSummary(s))
	}
	f.kept = make([]trace.Block, len(summaries))
	f.levels = make([]levelPart, f.top+1)
	f.left, f.right = make([][]trace.Block, f.top+1), make([][]trace.Block, f.top+1)
	left := int(memory)
	share := spool.Spill{Dir: dir, Share: &left} // most nodes are of a few levels: one limit for all
	for i := range f.levels {
		l := &f.levels[i]
		l.index, l.row = share, share
		for range summaries {
			l.blocks, l.sizes = append(l.blocks, share), append(l.sizes, share)
		}
		f.left[i], f.right[i] = make([]trace.Block, len(summaries)), make([]trace.Block, len(summaries))
	}
	return f
}

func (f *forester) close() {
	for i := range f.levels {
		l := &f.levels[i]
		l.index.Close()
		l.row.Close()
		for k := range l.blocks {
			l.blocks[k].Close()
			l.sizes[k].Close()
		}
	}
}

// lane builds the nodes of a lane, which stay in f.levels until drained, and gives its
// prefix sums to out, if any. O(rows) builds and O(rows / leafRows) merges, and one of
// each for every level above a burst of rows.
func (f *forester) lane(location trace.LocationID, lane int, v rows.Lane, out sumSink) error {
	if f.any {
		for i := range f.levels {
			f.levels[i].count = 0
		}
	}
	if f.any = v.Len() > leafRows; !f.any {
		return nil
	}
	f.v, f.chain = v, f.chain[:0]
	f.s.Rows.Location, f.s.Rows.Lane = location, lane
	f.sums.start(&f.v, out)
	f.node(f.top, 0, 0, v.Len(), f.left[f.top])
	if len(f.summaries) == 0 { // the rows were not read yet
		f.passBy()
	}
	return cmp.Or(f.err, f.sums.finish())
}

// passBy goes through rows for their sums alone.
func (f *forester) passBy() {
	for lo := 0; lo < f.v.Len(); lo += CheckBlock {
		f.sums.segments = f.sums.segments[:0]
		hi := min(lo+CheckBlock, f.v.Len())
		f.sums.rows(lo, hi, 0)
		f.pace(hi - lo)
	}
}

// node makes the blocks of a node with rows [lo, hi) and puts them into out.
func (f *forester) node(level int, index int64, lo, hi int, out []trace.Block) {
	if hi-lo <= leafRows || level == 0 {
		f.build(level, index, lo, hi, out)
		if hi-lo > leafRows {
			f.keep(level, index, lo, out)
		}
		return
	}
	middle := trace.Time(2*index+1) << (level - 1)
	cut := lo + rows.FirstFrom(f.v.Begin[lo:hi], middle)
	left, right := f.left[level-1], f.right[level-1]
	if len(f.summaries) == 0 { // only the shape is asked for
		if cut-lo > leafRows {
			f.node(level-1, 2*index, lo, cut, left)
		}
		if hi-cut > leafRows {
			f.node(level-1, 2*index+1, cut, hi, right)
		}
		f.keep(level, index, lo, out)
		return
	}
	if max(cut-lo, hi-cut) <= leafRows { // neither half is a node: both at once
		f.build(level, index, lo, hi, out)
		f.keep(level, index, lo, out)
		return
	}
	f.node(level-1, 2*index, lo, cut, left)
	f.node(level-1, 2*index+1, cut, hi, right)
	for k, s := range f.summaries {
		out[k] = s.Merge(out[k][:0], left[k], right[k])
	}
	f.keep(level, index, lo, out)
}

// build makes blocks from rows.
func (f *forester) build(level int, index int64, lo, hi int, out []trace.Block) {
	if len(f.summaries) == 0 {
		return
	}
	// Nothing is past the trace, not even idle time.
	begin, end := min(trace.Time(index)<<level, f.r.End), min(trace.Time(index+1)<<level, f.r.End)
	f.s.Begin, f.s.End = begin, end
	f.s.Rows = f.v.Columns(f.s.Rows.Location, f.s.Rows.Lane, lo, hi)
	f.s.Rows.Open = f.open(lo, begin)
	f.sums.segments = f.sums.segments[:0]
	f.sums.rows(lo, hi, end)
	f.s.Segments = f.sums.segments
	for k, s := range f.summaries {
		out[k] = s.Build(out[k][:0], &f.s, f.r.Regions)
	}
	if f.roles != nil {
		f.roles.addSegments(f.s.Segments)
	}
	f.follow(lo, hi)
	f.pace(hi - lo)
}

// follow takes the chain past rows [lo, hi): to the last of them and its parents.
func (f *forester) follow(lo, hi int) {
	if lo == hi {
		return
	}
	p, n := hi-1, 0
	for ; p >= lo; p = f.v.Up(p) {
		n++
	}
	f.popTo(p)
	at := len(f.chain) + n
	f.chain = slices.Grow(f.chain, n)[:at]
	for p = hi - 1; p >= lo; p = f.v.Up(p) {
		at--
		f.chain[at] = f.v.Interval(p)
	}
}

// open returns the same as laneView.open, from the chain: stretches follow each other, so it costs O(1) per row at any
// depth of nesting.
func (f *forester) open(lo int, begin trace.Time) []trace.OpenInterval {
	if lo < f.v.Len() {
		f.popEnded(begin, int(f.v.Parent[lo]))
	} else {
		f.popEnded(begin, -1)
	}
	return f.chain[max(len(f.chain)-rows.MaxChain, 0):]
}

// popEnded drops intervals that ended by t, but for the parents of a row at t.
func (f *forester) popEnded(t trace.Time, parent int) {
	for n := len(f.chain); n > 0 && f.chain[n-1].End <= t && f.chain[n-1].Row > parent; n-- {
		f.chain = f.chain[:n-1]
	}
}

// popTo drops the intervals within a parent.
func (f *forester) popTo(parent int) {
	for n := len(f.chain); n > 0 && f.chain[n-1].Row > parent; n-- {
		f.chain = f.chain[:n-1]
	}
}

// keep adds a node to its level.
func (f *forester) keep(level int, index int64, lo int, blocks []trace.Block) {
	l := &f.levels[level]
	l.count++
	f.fail(l.index.Write(spool.BytesOf([]int64{index})))
	f.fail(l.row.Write(spool.BytesOf([]uint32{uint32(lo)})))
	for k, b := range blocks {
		if s := &f.summaries[k]; s.Condenser != nil {
			f.kept[k] = s.Condense(f.kept[k][:0], b)
			b = f.kept[k]
		}
		f.fail(l.blocks[k].Write(b))
		f.fail(l.sizes[k].Write(spool.BytesOf([]uint32{uint32(len(b))})))
	}
}

func (f *forester) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}
