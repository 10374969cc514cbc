package local

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.Binner = (*Reader)(nil)

// RegionBins implements store.Binner. A bin costs a walk over its rows, or, where it
// has more than two blocks of them, O(regions) and a walk of less than a block at
// each edge; bins that follow each other share theirs.
func (r *Reader) RegionBins(ctx context.Context, level int, want []store.LaneBins, f func(int, *store.RegionBin) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	workers := make([]*binner, r.workers)
	err := r.parallel(ctx, make(ranges, len(want)), func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = &binner{r: r, level: level, sums: [2]*timeSum{r.takeSum(), r.takeSum()}}
			workers[worker] = b
		}
		give := shield(func(x *store.RegionBin) error { return f(i, x) })
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
	r     *Reader
	level int
	n     int // the lane
	v     laneView
	sums  [2]*timeSum
	until int64 // sums[0] holds all before this bin; none: -1
	out   store.RegionBin
}

func (b *binner) lane(ctx context.Context, want *store.LaneBins, give func(*store.RegionBin) error) error {
	v, ok := b.r.lookup(want.Location, want.Lane)
	if !ok {
		return nil
	}
	b.n, b.v, b.until = int(b.r.c.locationLane[want.Location])+want.Lane, v, -1
	defer func() { b.sums[0].clear() }() // whichever it is by then
	for k, bin := range want.Bins {
		if k&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if bin < 0 || trace.Time(bin)<<b.level > v.last {
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
	if begin >= end || v.begin[0] >= end {
		return false
	}
	lo := v.firstFrom(begin)
	hi := lo + firstFrom(v.begin[lo:], end)
	b.out.Region, b.out.Exclusive, b.out.Calls = b.out.Region[:0], b.out.Exclusive[:0], b.out.Calls[:0]
	if hi-lo <= 2*checkBlock || b.r.c.laneCheckpoint[b.n] == b.r.c.laneCheckpoint[b.n+1] {
		s := b.sums[1]
		s.walk(v, lo, hi, begin, end, 1)
		b.take(s, nil)
		s.clear()
		return len(b.out.Region) > 0
	}
	if b.until != bin {
		b.sums[0].clear()
		if lo > 0 {
			b.r.addUntil(b.n, v, lo, begin, b.sums[0], 1)
		}
	}
	b.r.addUntil(b.n, v, hi, end, b.sums[1], 1)
	b.take(b.sums[1], b.sums[0])
	b.sums[0].clear()
	b.sums[0], b.sums[1], b.until = b.sums[1], b.sums[0], bin+1
	return len(b.out.Region) > 0
}

// take lists what a sum has beyond another, which may be nil.
func (b *binner) take(s, less *timeSum) {
	for _, region := range s.touched {
		x := s.cells[region].sum
		if less != nil {
			x = x.minus(less.cells[region].sum)
		}
		if x.exclusive != 0 || x.calls != 0 {
			b.out.Region = append(b.out.Region, region)
			b.out.Exclusive = append(b.out.Exclusive, x.exclusive)
			b.out.Calls = append(b.out.Calls, x.calls)
		}
	}
}

// clear makes all cells zero.
func (s *timeSum) clear() {
	for _, r := range s.touched {
		s.cells[r] = timeSumCell{}
	}
	s.touched = s.touched[:0]
}
