package read

import (
	"context"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var _ store.Totaler = (*Reader)(nil)

// TotalTime implements store.Totaler: Time without its table, O(regions) memory.
func (r times) TotalTime(ctx context.Context, w store.Window) (*store.TotalTable, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	in := r.Window(w)
	pieces := r.Split(r.Ranges(w.Locations))
	sums := make([]*timeSum, r.Workers)
	totals := make([]totalSum, r.Workers)
	passers := r.passers(in)
	most := trace.AtMost(max(in.End-in.Begin, r.End))
	err := r.Parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if sums[worker] == nil {
			sums[worker] = r.takeSum()
		}
		first, last := r.C.LocationLane[pieces[i][0]], r.C.LocationLane[pieces[i][1]]
		for n := first; n < last; n++ {
			if n&0x3f == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			v := passers[worker].Lane(int(n), int(last))
			r.timeOf(&v, int(n), in, sums[worker])
			if totals[worker].lanes++; totals[worker].lanes >= most {
				sums[worker].moveTo(&totals[worker])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := totalSum{}
	for i, s := range sums {
		if s != nil {
			s.moveTo(&totals[i])
			r.sums.Put(s)
			all.add(&totals[i])
		}
	}
	return all.table(), nil
}

// A totalSum adds up over locations. Lanes are added as times in between, as many as fit into one.
type totalSum struct {
	cells map[trace.RegionID]*totalCell
	lanes int64 // since the last move
}

type totalCell struct {
	exclusive, inclusive trace.Sum
	calls                int64
}

func (t *totalSum) cell(r trace.RegionID) *totalCell {
	c := t.cells[r]
	if c == nil {
		if t.cells == nil {
			t.cells = map[trace.RegionID]*totalCell{}
		}
		c = new(totalCell)
		t.cells[r] = c
	}
	return c
}

func (t *totalSum) add(o *totalSum) {
	for r, from := range o.cells {
		to := t.cell(r)
		to.exclusive.AddSum(from.exclusive)
		to.inclusive.AddSum(from.inclusive)
		to.calls += from.calls
	}
}

// table lists the times that are not zero, regions ascending.
func (t *totalSum) table() *store.TotalTable {
	out := &store.TotalTable{Region: []trace.RegionID{}, Exclusive: []trace.Sum{}, Inclusive: []trace.Sum{},
		Calls: []int64{}}
	for _, r := range slices.Sorted(maps.Keys(t.cells)) {
		if c := t.cells[r]; *c != (totalCell{}) {
			out.Region, out.Calls = append(out.Region, r), append(out.Calls, c.calls)
			out.Exclusive, out.Inclusive = append(out.Exclusive, c.exclusive), append(out.Inclusive, c.inclusive)
		}
	}
	return out
}

// moveTo adds the cells to the sums and clears them.
func (s *timeSum) moveTo(t *totalSum) {
	for _, r := range s.touched {
		from, to := &s.cells[r], t.cell(r)
		to.exclusive.Add(from.Exclusive)
		to.inclusive.Add(from.Inclusive)
		to.calls += from.Calls
		*from = timeSumCell{}
	}
	s.touched = s.touched[:0]
	t.lanes = 0
}
