package read

import (
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// addSums adds, times sign, the entries [first, last) of table sum.
func (r times) addSums(first, last uint64, s *timeSum, sign trace.Time) {
	r.OfSum.Touch(first, last)
	values := r.C.SumValue[3*first : 3*last]
	for i, region := range r.C.SumRegion[first:last] {
		c := s.cell(region)
		c.Exclusive += values[3*i] * sign
		c.Inclusive += values[3*i+1] * sign
		c.Calls += int64(values[3*i+2] * sign)
	}
}

// addBlocks adds the sums of a lane until checkpoint block, which is not the last. The list of checkpoint k is that of
// row k-1 of the lane's checkpoints.
func (r times) addBlocks(lane, block int, s *timeSum, sign trace.Time) {
	if block == 0 {
		return
	}
	first := int(r.C.LaneCheckpoint[lane])
	r.OfCheckpoint.Touch(uint64(first), uint64(first+block+1))
	base := int(r.C.CheckpointBase[first+block-1])
	r.addSums(r.C.CheckpointSum[first+base-1], r.C.CheckpointSum[first+block], s, sign)
}

// addTotals adds the sums over a whole lane.
func (r times) addTotals(lane int, s *timeSum) {
	last := r.C.LaneCheckpoint[lane+1]
	r.OfCheckpoint.Touch(last-1, last+1)
	r.addSums(r.C.CheckpointSum[last-1], r.C.CheckpointSum[last], s, 1)
}

// laneTime adds one lane in a window: O(log n + regions) and two walks of less
// than a block.
func (r times) laneTime(n int, in rows.Window, s *timeSum) {
	v := r.LaneByRows(n)
	r.timeOf(&v, n, in, s)
}

// timeOf does for a lane that is at hand.
func (r times) timeOf(v *rows.Lane, n int, in rows.Window, s *timeSum) {
	if len(r.C.CoverLane) > 0 {
		r.takeCovered(n, in, s)
	}
	if in.Begin >= in.Until || v.Last < in.Begin || !v.BeginsBefore(in.Until) {
		return
	}
	kept := r.C.LaneCheckpoint[n] < r.C.LaneCheckpoint[n+1]
	if kept && in.End >= v.Last && (in.Begin <= 0 || in.Begin <= v.BeginOf(0)) {
		// the lane ends before the trace does, so all rows begin in time
		r.addTotals(n, s)
		return
	}
	lo, hi := v.FirstFrom(in.Begin), v.FirstFrom(in.Until)
	if !kept || hi-lo <= 2*index.CheckBlock {
		s.walk(v, lo, hi, in.Begin, in.End, 1)
		return
	}
	if hi == v.Len() && in.End >= v.Last {
		r.addTotals(n, s)
	} else {
		r.addUntil(n, v, hi, in.End, s, 1)
	}
	if lo > 0 {
		r.addUntil(n, v, lo, in.Begin, s, -1)
	}
}

// addUntil adds, times sign, the sums of a lane until t; rows before hi have begun by then.
func (r times) addUntil(n int, v *rows.Lane, hi int, t trace.Time, s *timeSum, sign int64) {
	block := (hi - 1) / index.CheckBlock
	r.addBlocks(n, block, s, trace.Time(sign))
	from := block * index.CheckBlock
	s.walk(v, from, hi, v.BeginOf(from), t, sign)
}

// openTime returns for each open interval of a lane how long it is innermost in a window: the exclusive time of its
// region while it is the innermost open one, without the calls of that region that begin meanwhile.
// O(log n + regions) per interval, and the rows below it if it calls its own region.
func (r times) openTime(n int, l *trace.DigestedLane, in rows.Window) []trace.Time {
	out := make([]trace.Time, len(l.Open))
	last := in.End
	for _, x := range l.Left {
		if x.Row >= l.Lo {
			last = min(last, x.Begin) // innermost until the end of the window, or one below it
		}
	}
	s := r.takeSum()
	defer r.sums.Put(s)
	begin := in.Begin
	for i := len(l.Open) - 1; i >= 0; i-- {
		x := &l.Open[i]
		if end := min(x.End, last); begin < end {
			out[i] = r.innermost(n, x.Region, begin, end, s)
			begin = end
		}
	}
	return out
}

// innermost returns the exclusive time of a region in a range without that of calls which begin in it.
func (r times) innermost(n int, region trace.RegionID, begin, end trace.Time, s *timeSum) trace.Time {
	r.laneTime(n, rows.Window{Begin: begin, Until: end, End: end}, s)
	sum := s.cell(region).Sum
	s.forget()
	if sum.Calls == 0 {
		return sum.Exclusive
	}
	v := r.LaneByRows(n)
	lo, hi := v.FirstFrom(begin), v.FirstFrom(end)
	v.Touch(lo, hi)
	for i := lo; i < hi; i++ {
		if v.Region[i] == region {
			sum.Exclusive -= v.Exclusive[i]
		}
	}
	return sum.Exclusive
}
