package read

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.Binner = (*Reader)(nil)

// RegionBins implements store.Binner. A bin costs a walk over its rows, or, where it
// has more than two blocks of them, O(regions) and a walk of less than a block at
// each edge; bins that follow each other share theirs.
func (r times) RegionBins(ctx context.Context, level int, keep []bool, want []store.LaneBins,
	f func(int, *store.RegionBin) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	workers := make([]*binner, r.Workers)
	err := r.Parallel(ctx, make(rows.Ranges, len(want)), func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = &binner{r: r, level: level, keep: keep, sums: [2]*timeSum{r.takeSum(), r.takeSum()}}
			workers[worker] = b
		}
		give := disk.Shield(func(x *store.RegionBin) error { return f(i, x) })
		return b.lane(ctx, &want[i], give)
	})
	if err != nil {
		return err // the sums may hold something: they are not used again
	}
	for _, b := range workers {
		if b != nil {
			r.sums.Put(b.sums[0])
			r.sums.Put(b.sums[1])
		}
	}
	return nil
}

// A binner goes through the bins of lanes.
type binner struct {
	r     times
	level int
	keep  []bool
	n     int // the lane
	v     rows.Lane
	sums  [2]*timeSum
	until int64 // sums[0] holds all before this bin; none: -1
	next  int64 // the bin that follows the one at hand before
	row   int   // that begins first in it
	out   store.RegionBin
}

func (b *binner) lane(ctx context.Context, want *store.LaneBins, give func(*store.RegionBin) error) error {
	v, ok := b.r.Lookup(want.Location, want.Lane)
	if !ok {
		return nil
	}
	b.n, b.v, b.until, b.next = int(b.r.C.LocationLane[want.Location])+want.Lane, v, -1, -1
	defer func() { b.sums[0].clear() }() // whichever it is by then
	for k, bin := range want.Bins {
		if k&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if bin < 0 || trace.Time(bin)<<b.level > v.Last {
			continue
		}
		if !b.bin(bin) {
			continue
		}
		b.out.Bin = bin
		if err := give(&b.out); err != nil {
			return err
		}
	}
	return nil
}

// bin fills in a bin; it reports whether anything is in it.
func (b *binner) bin(bin int64) bool {
	v := &b.v
	begin, end := trace.Time(bin)<<b.level, trace.Time(bin+1)<<b.level
	if begin >= end || !v.BeginsBefore(end) {
		return false
	}
	lo := b.row
	if bin != b.next {
		lo = v.FirstFrom(begin)
	}
	hi := v.Gallop(lo, end)
	b.next, b.row = bin+1, hi
	b.out.Region, b.out.Exclusive, b.out.Calls = b.out.Region[:0], b.out.Exclusive[:0], b.out.Calls[:0]
	if hi-lo <= 2*index.CheckBlock || b.r.C.LaneCheckpoint[b.n] == b.r.C.LaneCheckpoint[b.n+1] {
		s := b.sums[1]
		s.walk(v, lo, hi, begin, end, 1)
		b.take(s, nil)
		s.clear()
		return len(b.out.Region) > 0
	}
	if b.until != bin {
		b.sums[0].clear()
		if lo > 0 {
			b.addUntil(lo, begin, b.sums[0])
		}
	}
	b.addUntil(hi, end, b.sums[1])
	b.take(b.sums[1], b.sums[0])
	b.sums[0].clear()
	b.sums[0], b.sums[1], b.until = b.sums[1], b.sums[0], bin+1
	return len(b.out.Region) > 0
}

// take lists the difference of a sum from another, which may be nil.
func (b *binner) take(s, less *timeSum) {
	for _, region := range s.touched {
		if b.keep != nil && !b.keep[region] {
			continue
		}
		x := s.cells[region].Sum
		if less != nil {
			x = x.Minus(less.cells[region].Sum)
		}
		if x.Exclusive != 0 || x.Calls != 0 {
			b.out.Region = append(b.out.Region, region)
			b.out.Exclusive = append(b.out.Exclusive, x.Exclusive)
			b.out.Calls = append(b.out.Calls, x.Calls)
		}
	}
}

// addUntil adds the sums of the lane until t, like Reader.addUntil, for the regions that are kept: most entries of the
// lists are only looked at.
func (b *binner) addUntil(hi int, t trace.Time, s *timeSum) {
	block := (hi - 1) / index.CheckBlock
	if block > 0 {
		c := &b.r.C
		at := int(c.LaneCheckpoint[b.n])
		b.r.OfCheckpoint.Touch(uint64(at), uint64(at+block+1))
		first, last := c.CheckpointSum[at+int(c.CheckpointBase[at+block-1])-1], c.CheckpointSum[at+block]
		if b.keep == nil {
			b.r.addSums(first, last, s, 1)
		} else {
			b.r.OfSum.Touch(first, last)
			for i, region := range c.SumRegion[first:last] {
				if b.keep[region] {
					k := first + uint64(i)
					b.r.addSums(k, k+1, s, 1)
				}
			}
		}
	}
	from := block * index.CheckBlock
	s.walk(&b.v, from, hi, b.v.BeginOf(from), t, 1)
}

// clear makes all cells zero.
func (s *timeSum) clear() {
	for _, r := range s.touched {
		s.cells[r] = timeSumCell{}
	}
	s.touched = s.touched[:0]
}
