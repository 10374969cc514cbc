package callgraph

import (
	"encoding/binary"
	"errors"

	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// errRecord is the error of a record that is not as a builder writes it.
var errRecord = errors.New("the prepared calls of a lane are damaged; import the source again")

// A record is one that was read; see Digest for its form.
type record struct {
	kind   uint64
	parent []int32
	region []trace.RegionID
	rows   int
	levels []recordLevel
	blocks []byte
	ends   []int // of each block in blocks, level by level
}

type recordLevel struct {
	bits  uint
	first int // of its blocks in ends
}

// A byteReader reads varints; past the end it gives zeros and is bad.
type byteReader struct {
	b   []byte
	bad bool
}

func (r *byteReader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// take returns the next n bytes.
func (r *byteReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// read takes a record apart, its room used again. O(paths + blocks).
func (x *record) read(b []byte, regions int) error {
	r := byteReader{b: b}
	x.kind = r.uvarint()
	paths := r.uvarint()
	if x.kind != kindPaths && x.kind != kindPairs || paths > uint64(len(b)) {
		return errRecord
	}
	x.parent, x.region, x.levels, x.ends = x.parent[:0], x.region[:0], x.levels[:0], x.ends[:0]
	for i := range int(paths) {
		p, g := int64(r.uvarint())-1, r.uvarint()
		if g >= uint64(regions) || x.kind == kindPaths && p >= int64(i) || p < -1 ||
			p > 2*int64(regions)+1 && x.kind == kindPairs {
			return errRecord
		}
		x.parent, x.region = append(x.parent, int32(p)), append(x.region, trace.RegionID(g))
	}
	rows, levels := r.uvarint(), r.uvarint()
	if rows >= 1<<32 || levels == 0 || levels > 32 {
		return errRecord
	}
	x.rows = int(rows)
	for range levels {
		bits := r.uvarint()
		if bits > 32 {
			return errRecord
		}
		x.levels = append(x.levels, recordLevel{bits: uint(bits)})
	}
	end := 0
	for k := range x.levels {
		l := &x.levels[k]
		l.first = len(x.ends)
		for range (x.rows + 1<<l.bits - 1) >> l.bits {
			if r.bad || len(r.b) == 0 {
				return errRecord
			}
			end += int(min(r.uvarint(), 1<<40))
			x.ends = append(x.ends, end)
		}
	}
	if x.blocks = r.b; r.bad || end != len(x.blocks) {
		return errRecord
	}
	return nil
}

func (x *record) block(level, k int) []byte {
	i := x.levels[level].first + k
	from := 0
	if i > 0 {
		from = x.ends[i-1]
	}
	return x.blocks[from:x.ends[i]]
}

// cover yields rows [lo, hi) as blocks, and as rows if there are none; or, with part, as part of a block that
// they are most of.
func (x *record) cover(lo, hi int, block func(b []byte, whole bool) error, part func(partOfBlock) error,
	rows func(lo, hi int) error) error {
	if lo == 0 && hi == x.rows {
		return block(x.block(0, 0), true)
	}
	last := len(x.levels) - 1
	for lo < hi {
		level := 1
		for ; level <= last; level++ {
			size := 1 << x.levels[level].bits
			if end := lo + size; lo&(size-1) == 0 && (end <= hi || hi == x.rows) {
				if err := block(x.block(level, lo>>x.levels[level].bits), false); err != nil {
					return err
				}
				lo = min(end, hi)
				break
			}
		}
		if level <= last {
			continue
		}
		to := hi
		if last > 0 {
			size := 1 << x.levels[last].bits
			to = min(hi, (lo+size)&^(size-1))
		}
		one := func() error { return rows(lo, to) }
		if part != nil && to <= x.rows {
			if p := x.around(lo, to); p.saves() > fewRows {
				one = func() error { return part(p) }
			}
		}
		if err := one(); err != nil {
			return err
		}
		lo = to
	}
	return nil
}

// around returns the smallest block that has rows [lo, hi), which no smaller ones divide.
func (x *record) around(lo, hi int) partOfBlock {
	last := len(x.levels) - 1
	if last == 0 {
		return partOfBlock{block: x.block(0, 0), whole: true, to: x.rows, lo: lo, hi: hi}
	}
	bits := x.levels[last].bits
	k := lo >> bits
	return partOfBlock{block: x.block(last, k), from: k << bits, to: min((k+1)<<bits, x.rows), lo: lo, hi: hi}
}

// saves is how many rows need not be read where those of the block are that are not in the part.
func (p *partOfBlock) saves() int { return 2*(p.hi-p.lo) - (p.to - p.from) }

// A sketchBytes is a sketch as it was written; box is nil but in the block of the
// whole lane.
type sketchBytes struct{ sketch, box []byte }

// entries visits the paths of a block with their sketches.
func (x *record) entries(block []byte, whole bool, f func(path int, inclusive, exclusive sketchBytes) error) error {
	r := byteReader{b: block}
	sketch := func() (s sketchBytes) {
		s.sketch = r.take(r.uvarint())
		if whole {
			s.box = r.take(quantile.BoxSize)
		}
		return s
	}
	for range r.uvarint() {
		head := r.uvarint()
		inclusive := sketch()
		exclusive := inclusive
		if head&1 == 1 {
			exclusive = sketch()
		}
		if r.bad || head>>1 >= uint64(len(x.parent)) {
			return errRecord
		}
		if err := f(int(head>>1), inclusive, exclusive); err != nil {
			return err
		}
	}
	if r.bad {
		return errRecord
	}
	return nil
}
