package callgraph

import (
	"encoding/binary"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Digest keeps the calls of each lane by call path, with counts, totals, extremes
// and distributions of inclusive and exclusive time. Profiles, matrices, closures,
// filters by caller or path and call trees all follow from it, and give the very
// numbers that reading every call gives.
//
// The record of a lane, numbers as varints:
//
//	kind; paths; for each its caller and region      the key of calls
//	rows; levels; for each log₂ rows of a block      the first level is the whole lane
//	for each block its length in bytes
//	blocks: entries, for each: path, flag, length and bytes of one sketch or two;
//	in that of the whole lane each sketch is followed by its box plot
//
// Blocks of a level are rows of equal number, so that a window is a few blocks and less than two of the
// smallest in rows. A block that has few calls of each path takes as long to read as its rows do, so blocks
// are larger where there are many paths, or there are none but that of the whole lane. If inclusive and
// exclusive time are the same for all calls of a path, one sketch serves both.
//
// Recursion may make more paths than are worth keeping: then calls are kept by
// caller, callee and whether the callee is not around itself; and not at all where
// those are too many too.
type Digest struct{}

// DigestName names the digest in a store.
const DigestName = "calls"

func (Digest) Name() string { return DigestName }
func (Digest) Version() int { return 1 }

// Builder implements trace.Digest.
func (Digest) Builder(regions int) trace.DigestBuilder {
	return &digestBuilder{active: make([]int32, regions)}
}

const (
	kindPaths = 1
	kindPairs = 2

	leafBits   = 13 // a smallest block has at least 2^leafBits rows
	mostLeaves = 256
	fanBits    = 3 // a block has 2^fanBits of the level below
	// rowsForAnEntry is the number of rows that a block has at least for each of its paths: with
	// fewer a block holds every call as it is.
	rowsForAnEntry = quantile.ExactSize
	// mostPaths bounds the memory of a builder; a record with a path for every few rows would take as long
	// to read as they do.
	mostPaths    = 1 << 13
	fewPaths     = 64
	rowsForAPath = 16
)

type digestBuilder struct {
	kind       uint64
	pathFinder                  // its stack holds regions with kindPairs
	active     []int32          // by region: how often it is on the stack, with kindPairs
	base       []trace.RegionID // regions around the top of the lane, with kindPairs

	first                []int32 // where the rows of a path begin, of those found last
	inclusive, exclusive []int64 // of a leaf, by path
	levels               []blockLevel
}

// A blockLevel is the blocks of one size.
type blockLevel struct {
	bits  uint
	cells []blockCell // by path, of the present block
	used  []int32     // paths with calls
	bytes []byte      // of finished blocks
	sizes []int
}

// A blockCell is the calls of a path in a block.
type blockCell struct {
	inclusive, exclusive quantile.Sketch
	differ               bool // else exclusive is as inclusive, and empty
}

// Build implements trace.DigestBuilder: O(rows). It makes no record of few rows, since they are read faster:
// goroutines have a handful each, and a record would take most of their bytes.
func (b *digestBuilder) Build(dst []byte, c *trace.Columns) []byte {
	if c.Len() <= fewRows {
		return dst
	}
	return b.record(dst, c)
}

// Least implements trace.SparseBuilder.
func (b *digestBuilder) Least() int { return fewRows + 1 }

// record appends the record of any rows.
func (b *digestBuilder) record(dst []byte, c *trace.Columns) []byte {
	for _, kind := range []uint64{kindPaths, kindPairs} {
		if b.run(kind, c) {
			return b.append(dst, c.Len())
		}
	}
	return dst
}

// run makes the blocks of a lane; it gives up where there are too many paths. The first
// rows show how many there are, and so how large blocks should be; the first block shows
// whether that is enough.
func (b *digestBuilder) run(kind uint64, c *trace.Columns) bool {
	n := c.Len()
	b.kind = kind
	b.start(nil, nil)
	b.base = b.base[:0]
	clear(b.active)
	most := min(max(fewPaths, n/rowsForAPath), mostPaths)
	for lo := 0; lo < n; lo += 1 << leafBits {
		hi := min(lo+1<<leafBits, n)
		if kind == kindPaths {
			b.find(c.Depth[lo:hi], c.Region[lo:hi], c.First+lo, c.Callers)
		} else {
			b.pairs(c, lo, hi)
		}
		if len(b.table.Parent) > most {
			return false
		}
		if lo == 0 {
			b.shape(n, uint(bits.Len(uint(len(b.table.Parent)*rowsForAnEntry-1))))
		}
		b.count(c, lo, hi)
		leaf := 1 << b.levels[len(b.levels)-1].bits
		if hi == leaf && hi < n && len(b.levels[len(b.levels)-1].used)*rowsForAnEntry > leaf {
			b.flatten()
			continue
		}
		if hi&(leaf-1) == 0 || hi == n {
			b.close(hi, hi == n)
		}
	}
	return true
}

// flatten gives blocks up but for that of the whole lane, after the first one: it has too
// many paths.
func (b *digestBuilder) flatten() {
	whole, l := &b.levels[0], &b.levels[len(b.levels)-1]
	whole.room(len(l.cells))
	for _, p := range l.used {
		whole.at(p).merge(&l.cells[p])
	}
	l.clear()
	b.levels = b.levels[:1]
}

// shape chooses the levels: the whole lane, and blocks of at least 2^least rows where
// they are worth it.
func (b *digestBuilder) shape(n int, least uint) {
	whole := uint(bits.Len(uint(n)))
	shifts := []uint{whole}
	leaf := max(leafBits, least, uint(bits.Len(uint(n/mostLeaves))))
	if n >= 2<<leaf {
		from := len(shifts)
		for s := leaf; n >= 2<<s; s += fanBits {
			shifts = append(shifts, s)
		}
		for i, j := from, len(shifts)-1; i < j; i, j = i+1, j-1 {
			shifts[i], shifts[j] = shifts[j], shifts[i]
		}
	}
	for len(b.levels) < len(shifts) {
		b.levels = append(b.levels, blockLevel{})
	}
	b.levels = b.levels[:len(shifts)]
	for i := range b.levels {
		l := &b.levels[i]
		l.clear()
		l.bits, l.bytes, l.sizes = shifts[i], l.bytes[:0], l.sizes[:0]
	}
}

func (l *blockLevel) clear() {
	for _, p := range l.used {
		x := &l.cells[p]
		x.inclusive.Reset()
		x.exclusive.Reset()
		x.differ = false
	}
	l.used = l.used[:0]
}

// pairs finds caller, callee and whether the callee is not around itself; the
// "parent" of the table is the caller's region twice, plus one where it is not.
func (b *digestBuilder) pairs(c *trace.Columns, lo, hi int) {
	b.of = b.of[:0]
	for i := lo; i < hi; i++ {
		d := min(int(c.Depth[i]), len(b.stack))
		for _, r := range b.stack[d:] {
			b.active[r]--
		}
		b.stack = b.stack[:d]
		caller := int32(-1)
		if d > 0 {
			caller = b.stack[d-1]
		} else if c.Callers != nil {
			caller = b.around(c.Callers, c.First+i)
		}
		parent, region := 2*(caller+1), c.Region[i]
		if b.active[region] == 0 {
			parent++
		}
		b.of = append(b.of, b.table.child(parent, region))
		b.active[region]++
		b.stack = append(b.stack, int32(region))
	}
}

// around puts the callers of a row at the top of its lane in place of those before, and
// gives the nearest.
func (b *digestBuilder) around(callers callersFunc, row int) int32 {
	for _, r := range b.base {
		b.active[r]--
	}
	b.base = callers(b.base[:0], row)
	for _, r := range b.base {
		b.active[r]++
	}
	if n := len(b.base); n > 0 {
		return int32(b.base[n-1])
	}
	return -1
}

// count adds the rows whose paths were found to the smallest block: values sorted
// by path, and then those of a path at once.
func (b *digestBuilder) count(c *trace.Columns, lo, hi int) {
	n := len(b.table.Parent)
	if cap(b.first) <= n {
		b.first = make([]int32, 2*n+64)
	}
	first := b.first[:n+1]
	clear(first)
	for _, p := range b.of {
		first[p+1]++
	}
	for p := range n {
		first[p+1] += first[p]
	}
	if b.inclusive == nil {
		b.inclusive, b.exclusive = make([]int64, 1<<leafBits), make([]int64, 1<<leafBits)
	}
	duration, own := c.Duration[lo:hi], c.Exclusive[lo:hi]
	for i, p := range b.of {
		at := first[p]
		first[p]++
		b.inclusive[at] = max(int64(duration[i]), 0)
		b.exclusive[at] = max(int64(own[i]), 0)
	}
	l := &b.levels[len(b.levels)-1]
	l.room(n)
	from := int32(0)
	for p := range n {
		if to := first[p]; to > from {
			l.at(int32(p)).add(b.inclusive[from:to], b.exclusive[from:to])
			from = to
		}
	}
}

func (l *blockLevel) room(n int) {
	for len(l.cells) < n {
		l.cells = append(l.cells, blockCell{})
	}
}

func (l *blockLevel) at(p int32) *blockCell {
	x := &l.cells[p]
	if x.inclusive.Count == 0 {
		l.used = append(l.used, p)
	}
	return x
}

func (x *blockCell) add(inclusive, exclusive []int64) {
	if !x.differ {
		for i, v := range inclusive {
			if v != exclusive[i] {
				x.part()
				break
			}
		}
	}
	x.inclusive.AddAll(inclusive)
	if x.differ {
		x.exclusive.AddAll(exclusive)
	}
}

// part gives exclusive times a sketch of their own.
func (x *blockCell) part() {
	x.exclusive = x.inclusive.Clone()
	x.differ = true
}

func (x *blockCell) merge(o *blockCell) {
	if o.differ && !x.differ {
		x.part()
	}
	x.inclusive.Merge(&o.inclusive)
	switch {
	case o.differ:
		x.exclusive.Merge(&o.exclusive)
	case x.differ:
		x.exclusive.Merge(&o.inclusive)
	}
}

// close ends the blocks that end at a row: each goes into the one above.
func (b *digestBuilder) close(row int, last bool) {
	for k := len(b.levels) - 1; k >= 0; k-- {
		l := &b.levels[k]
		if !last && (k == 0 || row&(1<<l.bits-1) != 0) {
			return
		}
		from := len(l.bytes)
		l.bytes = l.append(l.bytes, k == 0)
		l.sizes = append(l.sizes, len(l.bytes)-from)
		if k > 0 {
			up := &b.levels[k-1]
			up.room(len(l.cells))
			for _, p := range l.used {
				up.at(p).merge(&l.cells[p])
			}
		}
		l.clear()
	}
}

// append writes the present block.
func (l *blockLevel) append(dst []byte, boxes bool) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(l.used)))
	var one []byte
	sketch := func(s *quantile.Sketch) {
		one = s.Append(one[:0])
		dst = binary.AppendUvarint(dst, uint64(len(one)))
		dst = append(dst, one...)
		if boxes {
			dst = s.AppendBox(dst)
		}
	}
	for _, p := range l.used {
		x := &l.cells[p]
		flag := uint64(0)
		if x.differ {
			flag = 1
		}
		dst = binary.AppendUvarint(dst, uint64(p)<<1|flag)
		sketch(&x.inclusive)
		if x.differ {
			sketch(&x.exclusive)
		}
	}
	return dst
}

// append writes the record.
func (b *digestBuilder) append(dst []byte, rows int) []byte {
	dst = binary.AppendUvarint(dst, b.kind)
	dst = binary.AppendUvarint(dst, uint64(len(b.table.Parent)))
	for i, p := range b.table.Parent {
		dst = binary.AppendUvarint(dst, uint64(p+1))
		dst = binary.AppendUvarint(dst, uint64(b.table.Region[i]))
	}
	dst = binary.AppendUvarint(dst, uint64(rows))
	dst = binary.AppendUvarint(dst, uint64(len(b.levels)))
	for k := range b.levels {
		dst = binary.AppendUvarint(dst, uint64(b.levels[k].bits))
	}
	for k := range b.levels {
		for _, n := range b.levels[k].sizes {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	for k := range b.levels {
		dst = append(dst, b.levels[k].bytes...)
	}
	return dst
}
