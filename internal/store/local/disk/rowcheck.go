package disk

import (
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A RowCheck is that of table interval, whose rows are touched one by one: a bit for each frame of them. Parents and
// exclusive times are stored as differences from values that follow from the other columns, so the columns of a frame
// are unpacked together.
type RowCheck struct {
	columns [6]*Packed // in the order of the schema
	all     RowSlices  // the memory of the columns
	lanes   []uint64
	rows    uint64
	regions uint64
	done    []atomic.Uint64
	locks   [64]sync.Mutex
	held    *memory.Outside
}

// RowSlices are rows of table interval by column.
type RowSlices struct {
	Begin, Duration, Exclusive []trace.Time
	Region                     []trace.RegionID
	Parent                     []int32
	Depth                      []uint16
}

// RowBytes is the size of an unpacked row.
const RowBytes = 34

func MakeRows(n int) RowSlices {
	return RowSlices{
		Begin: make([]trace.Time, n), Duration: make([]trace.Time, n), Exclusive: make([]trace.Time, n),
		Region: make([]trace.RegionID, n), Parent: make([]int32, n), Depth: make([]uint16, n),
	}
}

// Slice returns rows [lo, hi).
func (r RowSlices) Slice(lo, hi int) RowSlices {
	return RowSlices{
		Begin: r.Begin[lo:hi:hi], Duration: r.Duration[lo:hi:hi], Exclusive: r.Exclusive[lo:hi:hi],
		Region: r.Region[lo:hi:hi], Parent: r.Parent[lo:hi:hi], Depth: r.Depth[lo:hi:hi],
	}
}

// NewRowCheck returns nil if there are no rows.
func NewRowCheck(t *TableCheck, c *Columns, held *memory.Outside) *RowCheck {
	if len(t.columns) == 0 {
		return nil
	}
	r := &RowCheck{rows: uint64(len(c.Begin)), regions: uint64(len(c.RegionName)), lanes: c.LaneRow, held: held,
		all: RowSlices{c.Begin, c.Duration, c.Exclusive, c.Region, c.Parent, c.Depth}}
	for i := range r.columns {
		r.columns[i] = t.columns[i].Packed()
	}
	r.done = make([]atomic.Uint64, len(r.columns[0].done))
	return r
}

// Touch looks at rows [lo, hi).
func (c *RowCheck) Touch(lo, hi uint64) {
	if lo >= hi {
		return
	}
	brought := c.columns[0].check.from == nil
	for g, last := lo/pack.Frame, (hi-1)/pack.Frame; g <= last; g++ {
		if c.done[g>>6].Load()>>(g&63)&1 == 0 {
			if !brought {
				c.bring(g*pack.Frame, hi)
				brought = true
			}
			c.look(g)
		}
	}
}

// Touched reports whether rows [lo, hi) have all been looked at.
func (c *RowCheck) Touched(lo, hi uint64) bool {
	for g, last := lo/pack.Frame, (hi-1)/pack.Frame; g <= last; g++ {
		if c.done[g>>6].Load()>>(g&63)&1 == 0 {
			return false
		}
	}
	return true
}

// TouchFirst verifies the begin times of rows [lo, hi), which are searched.
func (c *RowCheck) TouchFirst(lo, hi uint64) { c.columns[0].touch(int64(lo)*8, int64(hi)*8) }

// Narrow returns rows between which the first of [lo, hi) lies that begins at t or later, no further apart than a
// frame, without unpacking any. Begins of [lo, hi) ascend.
func (c *RowCheck) Narrow(lo, hi uint64, t trace.Time) (uint64, uint64) {
	first, last := lo/pack.Frame+1, (hi+pack.Frame-1)/pack.Frame // frames [first, last) begin within
	for first < last {
		g := (first + last) / 2
		begin, ok := c.columns[0].first(g)
		if !ok {
			c.TouchFirst(g*pack.Frame, g*pack.Frame+1)
			begin = int64(c.all.Begin[g*pack.Frame])
		}
		if trace.Time(begin) < t {
			lo, first = g*pack.Frame, g+1
		} else {
			hi, last = g*pack.Frame, g
		}
	}
	return lo, hi
}

// FirstBegin returns the begin of the first row of frame g; false: it must be unpacked to tell.
func (c *RowCheck) FirstBegin(g uint64) (trace.Time, bool) {
	t, ok := c.columns[0].first(g)
	return trace.Time(t), ok
}

func (c *RowCheck) look(g uint64) {
	mu := &c.locks[g%uint64(len(c.locks))]
	mu.Lock()
	defer mu.Unlock()
	if c.done[g>>6].Load()>>(g&63)&1 != 0 {
		return
	}
	lo := g * pack.Frame
	c.columns[0].touch(int64(lo)*8, int64(lo)*8+1)
	c.unpack(g, c.all.Slice(int(lo), int(min(lo+pack.Frame, c.rows))), false)
	c.held.Add(pack.Frame * (RowBytes - 8))
	c.done[g>>6].Or(1 << (g & 63))
}

// unpack makes the rows of a frame.
func (c *RowCheck) unpack(g uint64, to RowSlices, begins bool) {
	if begins {
		c.columns[0].unpack(g, spool.BytesOf(to.Begin))
	}
	c.columns[1].unpack(g, spool.BytesOf(to.Duration))
	c.columns[2].unpack(g, spool.BytesOf(to.Exclusive))
	c.columns[3].unpack(g, spool.BytesOf(to.Region))
	c.columns[4].unpack(g, spool.BytesOf(to.Parent))
	c.columns[5].unpack(g, spool.BytesOf(to.Depth))
	r := pack.Rows{First: g * pack.Frame, Duration: to.Duration, Exclusive: to.Exclusive, Parent: to.Parent,
		Depth: to.Depth}
	r.Unfold(c.lanes)
	c.checkRegions(to.Region)
}

// checkRegions makes sure that regions exist: who reads looks them up.
func (c *RowCheck) checkRegions(ids []trace.RegionID) {
	var last trace.RegionID
	for _, id := range ids {
		last = max(last, id)
	}
	if uint64(last) >= c.regions {
		panic(Damage("interval.region"))
	}
}

// Copy unpacks the frames that hold rows [lo, hi) into memory of the caller's, which grows as needed, and returns these
// rows. It is for callers that read very many rows once. Without begins, 0 is in their place.
func (c *RowCheck) Copy(into *RowSlices, lo, hi uint64, begins bool) RowSlices {
	first, last := lo/pack.Frame, (hi+pack.Frame-1)/pack.Frame
	n := int(last-first) * pack.Frame
	if len(into.Begin) < n {
		*into = MakeRows(n)
	}
	c.bring(lo, hi)
	for g := first; g < last; g++ {
		at := int(g-first) * pack.Frame
		c.unpack(g, into.Slice(at, at+int(min(c.rows-g*pack.Frame, pack.Frame))), begins)
	}
	if !begins {
		clear(into.Begin[:n])
	}
	at := int(lo - first*pack.Frame)
	return into.Slice(at, at+int(hi-lo))
}

// A RowFrame is a frame of rows in memory of the caller's, of which no more is unpacked than is asked for.
type RowFrame struct {
	number uint64  // plus one; 0: there is none
	have   [6]bool // columns that are there, in the order of the schema
	rows   RowSlices
}

// begin makes a frame that of number g, and returns how many rows it has.
func (c *RowCheck) begin(f *RowFrame, g uint64) int {
	if f.number != g+1 {
		f.number, f.have = g+1, [6]bool{}
	}
	return int(min(c.rows-g*pack.Frame, pack.Frame))
}

// columnOf returns a column of frame g in the memory that it has in a frame, unpacked.
func columnOf[T any](c *RowCheck, f *RowFrame, g uint64, column int, in *[]T) []T {
	n := c.begin(f, g)
	if !f.have[column] {
		if *in == nil {
			*in = make([]T, pack.Frame)
		}
		c.columns[column].unpack(g, spool.BytesOf((*in)[:n]))
		f.have[column] = true
	}
	return (*in)[:n]
}

// Begins returns the begins of the rows of frame g.
func (c *RowCheck) Begins(f *RowFrame, g uint64) []trace.Time {
	return columnOf(c, f, g, 0, &f.rows.Begin)
}

// Durations returns those of the rows of frame g.
func (c *RowCheck) Durations(f *RowFrame, g uint64) []trace.Time {
	return columnOf(c, f, g, 1, &f.rows.Duration)
}

// Regions returns those of the rows of frame g.
func (c *RowCheck) Regions(f *RowFrame, g uint64) []trace.RegionID {
	c.begin(f, g)
	known := f.have[3]
	out := columnOf(c, f, g, 3, &f.rows.Region)
	if !known {
		c.checkRegions(out)
	}
	return out
}

// Depths returns those of the rows of frame g.
func (c *RowCheck) Depths(f *RowFrame, g uint64) []uint16 { return columnOf(c, f, g, 5, &f.rows.Depth) }

// Parents returns those of the rows of frame g. Exclusive times are not unpacked.
func (c *RowCheck) Parents(f *RowFrame, g uint64) []int32 {
	n := c.begin(f, g)
	if !f.have[4] {
		if f.rows.Exclusive == nil {
			f.rows.Exclusive = make([]trace.Time, pack.Frame)
		}
		r := pack.Rows{First: g * pack.Frame, Duration: c.Durations(f, g), Exclusive: f.rows.Exclusive[:n],
			Depth: c.Depths(f, g), Parent: columnOf(c, f, g, 4, &f.rows.Parent)}
		r.Unfold(c.lanes)
	}
	return f.rows.Parent[:n]
}

// Forget takes note that the memory of all columns was given back.
func (c *RowCheck) Forget() {
	if c != nil {
		clear(c.done)
	}
}

// ForgetRows releases the memory of rows [lo, hi), which must not be in use; frames shared with other rows stay.
func (c *RowCheck) ForgetRows(lo, hi uint64) {
	first, last := (lo+pack.Frame-1)/pack.Frame, hi/pack.Frame
	for g := first; g < last; g++ {
		if bit := uint64(1) << (g & 63); c.done[g>>6].Load()&bit != 0 {
			c.done[g>>6].And(^bit)
			c.columns[0].done[g>>6].And(^bit)
			c.held.Add(-pack.Frame * RowBytes)
		}
	}
	for _, p := range c.columns {
		p.values.Release(int64(first*pack.Frame)*int64(p.width), int64(last*pack.Frame)*int64(p.width))
	}
}
