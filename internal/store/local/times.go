package local

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A timeSum adds up time and calls per region of one location at a time. One
// worker uses it; its arrays are indexed by region and stay zero in between.
type timeSum struct {
	exclusive, inclusive []trace.Time
	calls                []int64
	seen                 []bool
	touched              []trace.RegionID
	onStack              []uint32
	stack                []stackRow
}

type stackRow struct {
	row    int32
	region trace.RegionID
}

func newTimeSum(regions int) *timeSum {
	return &timeSum{
		exclusive: make([]trace.Time, regions), inclusive: make([]trace.Time, regions), calls: make([]int64, regions),
		seen: make([]bool, regions), onStack: make([]uint32, regions),
	}
}

func (s *timeSum) touch(r trace.RegionID) {
	if !s.seen[r] {
		s.seen[r] = true
		s.touched = append(s.touched, r)
	}
}

// walk adds, times sign, what rows [lo, hi) and those open before them do in
// [from, to). The rows are those that begin there, or at to at the trace's end.
// O(rows + depth).
func (s *timeSum) walk(v *laneView, lo, hi int, from, to trace.Time, sign int64) {
	s.stack = s.stack[:0]
	for p := lo - 1; p >= 0; p = v.up(p) {
		if v.end(p) > from {
			s.stack = append(s.stack, stackRow{int32(p), v.region[p]})
		}
	}
	reverse(s.stack)
	chain := s.stack
	s.stack = s.stack[:0]
	for _, f := range chain {
		s.push(f, (min(v.end(int(f.row)), to)-from)*trace.Time(sign))
	}
	for i := lo; i < hi; i++ {
		for n := len(s.stack) - 1; n >= 0 && s.stack[n].row > v.parent[i]; n-- {
			s.onStack[s.stack[n].region]--
			s.stack = s.stack[:n]
		}
		r := v.region[i]
		s.push(stackRow{int32(i), r}, max(min(v.end(i), to)-v.begin[i], 0)*trace.Time(sign))
		s.calls[r] += sign
	}
	for _, f := range s.stack {
		s.onStack[f.region]--
	}
}

// push puts an interval with time d in the window on the stack.
func (s *timeSum) push(f stackRow, d trace.Time) {
	s.touch(f.region)
	s.exclusive[f.region] += d
	if n := len(s.stack); n > 0 {
		s.exclusive[s.stack[n-1].region] -= d
	}
	if s.onStack[f.region] == 0 {
		s.inclusive[f.region] += d
	}
	s.onStack[f.region]++
	s.stack = append(s.stack, f)
}

// A timePart is the answer for one piece of the locations.
type timePart struct {
	locations []trace.LocationID
	ends      []int // of each location's cells
	region    []trace.RegionID
	exclusive []trace.Time
	inclusive []trace.Time
	calls     []int64
}

// take moves the sums of a location into the answer and clears them.
func (s *timeSum) take(p *timePart, id trace.LocationID) {
	slices.Sort(s.touched)
	for _, r := range s.touched {
		if s.exclusive[r] != 0 || s.inclusive[r] != 0 || s.calls[r] != 0 {
			p.region = append(p.region, r)
			p.exclusive = append(p.exclusive, s.exclusive[r])
			p.inclusive = append(p.inclusive, s.inclusive[r])
			p.calls = append(p.calls, s.calls[r])
		}
		s.exclusive[r], s.inclusive[r], s.calls[r], s.seen[r] = 0, 0, 0, false
	}
	s.touched = s.touched[:0]
	p.locations = append(p.locations, id)
	p.ends = append(p.ends, len(p.region))
}

// Time implements store.Reader.
func (r *Reader) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	in := r.window(w)
	pieces := r.split(r.ranges(w.Locations))
	parts := make([]timePart, len(pieces))
	sums := make([]*timeSum, r.workers)
	err := r.parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if sums[worker] == nil {
			sums[worker] = newTimeSum(len(r.regions))
		}
		return r.timePiece(ctx, in, pieces[i], sums[worker], &parts[i])
	})
	if err != nil {
		return nil, err
	}
	return joinTimes(parts), nil
}

func (r *Reader) timePiece(ctx context.Context, in window, piece [2]trace.LocationID, s *timeSum, p *timePart) error {
	for id := piece[0]; id < piece[1]; id++ {
		first, last := r.c.locationLane[id], r.c.locationLane[id+1]
		if first == last {
			continue
		}
		if id&0x3f == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for n := first; n < last; n++ {
			r.laneTime(int(n), in, s)
		}
		s.take(p, id)
	}
	return nil
}

func joinTimes(parts []timePart) *store.TimeTable {
	t := &store.TimeTable{Offsets: []int{0}}
	cells, locations := 0, 0
	for i := range parts {
		cells += len(parts[i].region)
		locations += len(parts[i].locations)
	}
	t.Locations, t.Offsets = make([]trace.LocationID, 0, locations), append(make([]int, 0, locations+1), 0)
	t.Region, t.Calls = make([]trace.RegionID, 0, cells), make([]int64, 0, cells)
	t.Exclusive, t.Inclusive = make([]trace.Time, 0, cells), make([]trace.Time, 0, cells)
	for i := range parts {
		p := &parts[i]
		base := len(t.Region)
		t.Locations = append(t.Locations, p.locations...)
		for _, e := range p.ends {
			t.Offsets = append(t.Offsets, base+e)
		}
		t.Region, t.Calls = append(t.Region, p.region...), append(t.Calls, p.calls...)
		t.Exclusive, t.Inclusive = append(t.Exclusive, p.exclusive...), append(t.Inclusive, p.inclusive...)
	}
	return t
}
