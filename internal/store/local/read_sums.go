package local

import "github.com/parallax-hpc/parallax/internal/trace"

// addSums adds, times sign, the entries [first, last) of table sum.
func (r *Reader) addSums(first, last uint64, s *timeSum, sign trace.Time) {
	values := r.c.sumValue[3*first : 3*last]
	for i, region := range r.c.sumRegion[first:last] {
		c := s.cell(region)
		c.exclusive += values[3*i] * sign
		c.inclusive += values[3*i+1] * sign
		c.calls += int64(values[3*i+2] * sign)
	}
}

// addBlocks adds what a lane has summed up until checkpoint block, which is not
// the last. The list of checkpoint k is that of row k-1 of the lane's checkpoints.
func (r *Reader) addBlocks(lane, block int, s *timeSum, sign trace.Time) {
	if block == 0 {
		return
	}
	first := int(r.c.laneCheckpoint[lane])
	base := int(r.c.checkpointBase[first+block-1])
	r.addSums(r.c.checkpointSum[first+base-1], r.c.checkpointSum[first+block], s, sign)
}

// addTotals adds the sums over a whole lane.
func (r *Reader) addTotals(lane int, s *timeSum) {
	last := r.c.laneCheckpoint[lane+1]
	r.addSums(r.c.checkpointSum[last-1], r.c.checkpointSum[last], s, 1)
}

// laneTime adds one lane in a window: O(log n + regions) and two walks of less
// than a block.
func (r *Reader) laneTime(n int, in window, s *timeSum) {
	if len(r.c.coverLane) > 0 {
		r.takeCovered(n, in, s)
	}
	v := r.lane(n)
	if in.begin >= in.until || v.begin[0] >= in.until || v.last < in.begin {
		return
	}
	kept := r.c.laneCheckpoint[n] < r.c.laneCheckpoint[n+1]
	if kept && in.begin <= v.begin[0] && in.end >= v.last { // the lane ends before the trace does, so all rows begin in time
		r.addTotals(n, s)
		return
	}
	lo, hi := v.firstFrom(in.begin), v.firstFrom(in.until)
	if !kept || hi-lo <= 2*checkBlock {
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
	block := (hi - 1) / checkBlock
	r.addBlocks(n, block, s, trace.Time(sign))
	from := block * checkBlock
	s.walk(v, from, hi, v.begin[from], t, sign)
}
