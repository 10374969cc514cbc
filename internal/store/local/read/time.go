package read

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A timeSum adds up time and calls per region of one location at a time. One
// worker uses it; its cells are indexed by region and stay zero in between.
type timeSum struct {
	cells   []timeSumCell
	touched []trace.RegionID
	stack   []stackRow
	out     timePart
}

// Values used together are stored together, in half a cache line.
type timeSumCell struct {
	index.Sum
	onStack uint32
	seen    bool
}

type stackRow struct {
	row    int32
	region trace.RegionID
}

func newTimeSum(regions int) *timeSum { return &timeSum{cells: make([]timeSumCell, regions)} }

// cell returns the cell of a region for adding to it.
func (s *timeSum) cell(r trace.RegionID) *timeSumCell {
	c := &s.cells[r]
	if !c.seen {
		c.seen = true
		s.touched = append(s.touched, r)
	}
	return c
}

// walk adds, times sign, the times of rows [lo, hi), and of those open before them, in [from, to). The rows are those
// that begin there, or at to at the trace's end. O(rows + depth).
func (s *timeSum) walk(v *rows.Lane, lo, hi int, from, to trace.Time, sign int64) {
	v.Touch(lo, hi)
	s.stack = s.stack[:0]
	for p := lo - 1; p >= 0; p = v.Up(p) {
		if v.End(p) > from {
			s.stack = append(s.stack, stackRow{int32(p), v.Region[p]})
		}
	}
	rows.Reverse(s.stack)
	chain := s.stack
	s.stack = s.stack[:0]
	for _, f := range chain {
		s.push(f, (min(v.End(int(f.row)), to)-from)*trace.Time(sign))
	}
	// The rest is push, spelled out: it is where the time of a query goes.
	cells, stack := s.cells, s.stack
	begins, durations := v.Begin[lo:hi], v.Duration[lo:hi]
	regions, parents := v.Region[lo:hi], v.Parent[lo:hi]
	for i, begin := range begins {
		n, parent := len(stack), parents[i]
		for n > 0 && stack[n-1].row > parent {
			n--
			cells[stack[n].region].onStack--
		}
		d := max(min(durations[i], to-begin), 0) * trace.Time(sign)
		if n > 0 {
			cells[stack[n-1].region].Exclusive -= d
		}
		r := regions[i]
		c := &cells[r]
		if !c.seen {
			c.seen = true
			s.touched = append(s.touched, r)
		}
		c.Exclusive += d
		c.Calls += sign
		if c.onStack == 0 {
			c.Inclusive += d
		}
		c.onStack++
		stack = append(stack[:n], stackRow{int32(lo + i), r})
	}
	for _, f := range stack {
		cells[f.region].onStack--
	}
	s.stack = stack
}

// push puts an interval with time d in the window on the stack.
func (s *timeSum) push(f stackRow, d trace.Time) {
	c := s.cell(f.region)
	c.Exclusive += d
	if n := len(s.stack); n > 0 {
		s.cells[s.stack[n-1].region].Exclusive -= d
	}
	if c.onStack == 0 {
		c.Inclusive += d
	}
	c.onStack++
	s.stack = append(s.stack, f)
}

// forget clears the sums.
func (s *timeSum) forget() {
	for _, r := range s.touched {
		s.cells[r] = timeSumCell{}
	}
	s.touched = s.touched[:0]
}

// A timePart is the answer for some of the locations.
type timePart struct {
	locations []trace.LocationID
	ends      []int // of each location's cells
	region    []trace.RegionID
	exclusive []trace.Time
	inclusive []trace.Time
	calls     []int64
}

// take moves the sums of a location into the answer and clears them.
func (s *timeSum) take(id trace.LocationID) {
	p := &s.out
	if !slices.IsSorted(s.touched) {
		slices.Sort(s.touched)
	}
	p.grow(len(s.touched))
	for _, r := range s.touched {
		c := &s.cells[r]
		if c.Sum != (index.Sum{}) {
			p.region = append(p.region, r)
			p.exclusive = append(p.exclusive, c.Exclusive)
			p.inclusive = append(p.inclusive, c.Inclusive)
			p.calls = append(p.calls, c.Calls)
		}
	}
	s.forget()
	p.locations = append(p.locations, id)
	p.ends = append(p.ends, len(p.region))
}

// grow makes room for more cells, for twice as many as there are: of a million locations, copying what grows bit by bit
// takes longer than all else.
func (p *timePart) grow(more int) {
	if n := len(p.region); n+more > cap(p.region) {
		room := max(n, more, 1024)
		p.region, p.calls = slices.Grow(p.region, room), slices.Grow(p.calls, room)
		p.exclusive, p.inclusive = slices.Grow(p.exclusive, room), slices.Grow(p.inclusive, room)
	}
}

// A timePiece says where the answer for one piece of the locations lies: locations
// [first, last) of a worker's part.
type timePiece struct{ worker, first, last int }

// Time implements store.Reader.
func (r times) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	in := r.Window(w)
	pieces := r.Split(r.Ranges(w.Locations))
	done := make([]timePiece, len(pieces))
	sums := make([]*timeSum, r.Workers)
	passers := r.passers(in)
	err := r.Parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		if sums[worker] == nil {
			sums[worker] = r.takeSum()
		}
		s := sums[worker]
		first := len(s.out.locations)
		err := r.timePiece(ctx, in, pieces[i], s, passers[worker])
		done[i] = timePiece{worker, first, len(s.out.locations)}
		return err
	})
	if err != nil {
		return nil, err
	}
	t := joinTimes(sums, done)
	for _, s := range sums {
		if s != nil {
			s.out = timePart{}
			r.sums.Put(s)
		}
	}
	return t, nil
}

// takeSum returns a timeSum whose cells are zero: with very many regions clearing them
// anew for each query would take longer than the query.
func (r times) takeSum() *timeSum {
	if s, ok := r.sums.Get().(*timeSum); ok {
		return s
	}
	return newTimeSum(len(r.Regions))
}

// passers returns one for each worker.
func (r times) passers(in rows.Window) []*rows.Passer {
	pass := r.Passing(in, rows.Pass{Short: rows.Short})
	out := make([]*rows.Passer, r.Workers)
	for i := range out {
		out[i] = r.Passer(pass)
	}
	return out
}

func (r times) timePiece(ctx context.Context, in rows.Window, piece [2]trace.LocationID, s *timeSum,
	pass *rows.Passer) error {
	end := int(r.C.LocationLane[piece[1]])
	for id := piece[0]; id < piece[1]; id++ {
		first, last := r.C.LocationLane[id], r.C.LocationLane[id+1]
		if first == last {
			continue
		}
		if id&0x3f == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for n := first; n < last; n++ {
			v := pass.Lane(int(n), end)
			r.timeOf(&v, int(n), in, s)
		}
		s.take(id)
	}
	return nil
}

// joinTimes puts the pieces together in order of locations.
func joinTimes(sums []*timeSum, pieces []timePiece) *store.TimeTable {
	cells, locations := 0, 0
	for _, s := range sums {
		if s != nil {
			cells += len(s.out.region)
			locations += len(s.out.locations)
		}
	}
	t := &store.TimeTable{
		Locations: make([]trace.LocationID, locations), Offsets: make([]int, locations+1),
		Region: make([]trace.RegionID, cells), Calls: make([]int64, cells),
		Exclusive: make([]trace.Time, cells), Inclusive: make([]trace.Time, cells),
	}
	// cellsOf returns where the cells of a piece lie in its part.
	cellsOf := func(x timePiece) (a, b int) {
		p := &sums[x.worker].out
		if x.first > 0 {
			a = p.ends[x.first-1]
		}
		return a, p.ends[x.last-1]
	}
	type place struct{ location, cell int }
	places := make([]place, len(pieces))
	at := place{}
	for i, x := range pieces {
		if places[i] = at; x.first < x.last {
			a, b := cellsOf(x)
			at = place{at.location + x.last - x.first, at.cell + b - a}
		}
	}
	_ = parallel.For(context.Background(), len(pieces), func(i int) {
		x, at := pieces[i], places[i]
		if x.first == x.last {
			return
		}
		p := &sums[x.worker].out
		a, b := cellsOf(x)
		copy(t.Locations[at.location:], p.locations[x.first:x.last])
		for k, e := range p.ends[x.first:x.last] {
			t.Offsets[at.location+k+1] = at.cell + e - a
		}
		copy(t.Region[at.cell:], p.region[a:b])
		copy(t.Calls[at.cell:], p.calls[a:b])
		copy(t.Exclusive[at.cell:], p.exclusive[a:b])
		copy(t.Inclusive[at.cell:], p.inclusive[a:b])
	})
	return t
}
