package read

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.Totaler = (*Reader)(nil)

// TotalTime implements store.Totaler: Time without its table, O(regions) memory.
func (r times) TotalTime(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	in := r.Window(w)
	pieces := r.Split(r.Ranges(w.Locations))
	sums := make([]*timeSum, r.Workers)
	err := r.Parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if sums[worker] == nil {
			sums[worker] = r.takeSum()
		}
		first, last := r.C.LocationLane[pieces[i][0]], r.C.LocationLane[pieces[i][1]]
		for n := first; n < last; n++ {
			if n&0x3f == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.laneTime(int(n), in, sums[worker])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := r.takeSum()
	for _, s := range sums {
		if s != nil {
			s.moveTo(all)
			r.sums.Put(s)
		}
	}
	all.take(trace.NoLocation)
	t := joinTimes([]*timeSum{all}, []timePiece{{0, 0, 1}})
	all.out = timePart{}
	r.sums.Put(all)
	return t, nil
}

// moveTo adds the cells to those of another and clears them.
func (s *timeSum) moveTo(o *timeSum) {
	for _, r := range s.touched {
		from, to := &s.cells[r], o.cell(r)
		to.Exclusive += from.Exclusive
		to.Inclusive += from.Inclusive
		to.Calls += from.Calls
		*from = timeSumCell{}
	}
	s.touched = s.touched[:0]
}
