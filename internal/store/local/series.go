package local

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Prefix sums of a lane. At every seriesBlock-th row there is a checkpoint, at the
// time at which that row begins. A posting holds what a region has summed up
// until a checkpoint, and exists only where that changed. What a window holds is
// then the difference of two sums, each a posting and a walk over less than a
// block. All sums are integers: the answer is exact.

// seriesBlock is how many rows lie between checkpoints.
const seriesBlock = 256

// A posting is the sums of one region at a checkpoint.
type posting struct {
	exclusive, inclusive trace.Time
	block                uint32
	calls                uint32
	region               trace.RegionID
}

func comparePostings(a, b posting) int {
	if a.region != b.region {
		return cmp.Compare(a.region, b.region)
	}
	return cmp.Compare(a.block, b.block)
}

// A summer goes through the rows of a lane and makes postings.
type summer struct {
	exclusive, inclusive []trace.Time // closed so far, by region
	calls                []uint32
	outer                []trace.Time // begin of the outermost open interval
	onStack              []uint32
	posted               []posting // the last one of each region
	changed              []bool
	list                 []trace.RegionID // changed since the last checkpoint
	active               []trace.RegionID // open now
	place                []int32          // in active
	regions              []trace.RegionID // of the lane
	stack                []stackRow
	now                  trace.Time
}

func newSummer(regions int) *summer {
	return &summer{
		exclusive: make([]trace.Time, regions), inclusive: make([]trace.Time, regions), calls: make([]uint32, regions),
		outer: make([]trace.Time, regions), onStack: make([]uint32, regions), posted: make([]posting, regions),
		changed: make([]bool, regions), place: make([]int32, regions),
	}
}

// lane makes the postings of a lane. O(rows + checkpoints × regions open there).
func (s *summer) lane(v *laneView, out *spool[posting]) error {
	s.now = v.begin[0]
	for i := range v.begin {
		s.leave(v, v.parent[i])
		s.advance(v.begin[i])
		if i%seriesBlock == 0 && i > 0 {
			if err := s.checkpoint(uint32(i/seriesBlock), out); err != nil {
				return err
			}
		}
		s.enter(int32(i), v.region[i], v.begin[i])
	}
	s.leave(v, -1)
	err := s.checkpoint(uint32((v.len()+seriesBlock-1)/seriesBlock), out)
	for _, r := range s.regions {
		s.exclusive[r], s.inclusive[r], s.calls[r], s.posted[r] = 0, 0, 0, posting{}
	}
	s.regions = s.regions[:0]
	return err
}

// advance gives the time until t to the innermost region.
func (s *summer) advance(t trace.Time) {
	if t <= s.now {
		return
	}
	if n := len(s.stack); n > 0 {
		r := s.stack[n-1].region
		s.exclusive[r] += t - s.now
		s.change(r)
	}
	s.now = t
}

// leave closes the intervals past a parent.
func (s *summer) leave(v *laneView, parent int32) {
	for n := len(s.stack) - 1; n >= 0 && s.stack[n].row > parent; n-- {
		r := s.stack[n].region
		s.advance(v.end(int(s.stack[n].row)))
		s.stack = s.stack[:n]
		if s.onStack[r]--; s.onStack[r] == 0 {
			s.inclusive[r] += s.now - s.outer[r]
			last := s.active[len(s.active)-1]
			s.active[s.place[r]] = last
			s.place[last] = s.place[r]
			s.active = s.active[:len(s.active)-1]
			s.change(r)
		}
	}
}

func (s *summer) enter(row int32, r trace.RegionID, t trace.Time) {
	if s.calls[r] == 0 {
		s.regions = append(s.regions, r)
	}
	if s.onStack[r] == 0 {
		s.outer[r] = t
		s.place[r] = int32(len(s.active))
		s.active = append(s.active, r)
	}
	s.onStack[r]++
	s.calls[r]++
	s.change(r)
	s.stack = append(s.stack, stackRow{row, r})
}

func (s *summer) change(r trace.RegionID) {
	if !s.changed[r] {
		s.changed[r] = true
		s.list = append(s.list, r)
	}
}

// checkpoint posts the sums that are not those of the posting before.
func (s *summer) checkpoint(block uint32, out *spool[posting]) error {
	for _, r := range s.active {
		s.change(r)
	}
	for _, r := range s.list {
		s.changed[r] = false
		p := posting{region: r, block: block, exclusive: s.exclusive[r], inclusive: s.inclusive[r], calls: s.calls[r]}
		if s.onStack[r] > 0 {
			p.inclusive += s.now - s.outer[r]
		}
		old := &s.posted[r]
		if p.exclusive == old.exclusive && p.inclusive == old.inclusive && p.calls == old.calls {
			continue
		}
		*old = p
		if err := out.Add(p); err != nil {
			return err
		}
	}
	s.list = s.list[:0]
	return nil
}

// series is the range of table series that belongs to a lane.
func (r *Reader) series(lane int) (first, last int) {
	return int(r.c.laneSeries[lane]), int(r.c.laneSeries[lane+1])
}

// addPostings adds, times sign, the sums of a lane at a checkpoint.
func (r *Reader) addPostings(lane int, block uint32, s *timeSum, sign int64) {
	first, last := r.series(lane)
	for i := first; i < last; i++ {
		a, b := r.c.seriesPosting[i], r.c.seriesPosting[i+1]
		blocks := r.c.postingBlock[a:b]
		n, found := slices.BinarySearch(blocks, block)
		if !found {
			n--
		}
		if n >= 0 {
			r.addPosting(a+uint64(n), r.c.seriesRegion[i], s, sign)
		}
	}
}

// addTotals adds the sums over a whole lane.
func (r *Reader) addTotals(lane int, s *timeSum) {
	first, last := r.series(lane)
	for i := first; i < last; i++ {
		r.addPosting(r.c.seriesPosting[i+1]-1, r.c.seriesRegion[i], s, 1)
	}
}

func (r *Reader) addPosting(at uint64, region trace.RegionID, s *timeSum, sign int64) {
	s.touch(region)
	s.exclusive[region] += r.c.postingExclusive[at] * trace.Time(sign)
	s.inclusive[region] += r.c.postingInclusive[at] * trace.Time(sign)
	s.calls[region] += int64(r.c.postingCalls[at]) * sign
}

// laneTime adds one lane in a window: O(log n + regions) and two walks of less
// than a block.
func (r *Reader) laneTime(n int, in window, s *timeSum) {
	v := r.lane(n)
	if in.begin >= in.until || v.begin[0] >= in.until || v.last < in.begin {
		return
	}
	lo, hi := v.firstFrom(in.begin), v.firstFrom(in.until)
	if first, last := r.series(n); first == last || hi-lo <= 2*seriesBlock {
		s.walk(&v, lo, hi, in.begin, in.end, 1)
		return
	}
	if hi == v.len() && in.end >= v.last {
		r.addTotals(n, s)
	} else {
		r.addUntil(n, &v, hi, in.end, s, 1)
	}
	if lo > 0 {
		r.addUntil(n, &v, lo, in.begin, s, -1)
	}
}

// addUntil adds, times sign, what a lane has summed up until t; rows before hi
// have begun by then.
func (r *Reader) addUntil(n int, v *laneView, hi int, t trace.Time, s *timeSum, sign int64) {
	block := (hi - 1) / seriesBlock
	r.addPostings(n, uint32(block), s, sign)
	from := block * seriesBlock
	s.walk(v, from, hi, v.begin[from], t, sign)
}
