package rows

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Lane is the rows of one lane.
type Lane struct {
	Begin, Duration, Exclusive []trace.Time
	Region                     []trace.RegionID
	Parent                     []int32
	Depth                      []uint16
	Last                       trace.Time // when the last interval ends
	Callers                    func([]trace.RegionID, int) []trace.RegionID

	// sure is set where rows are looked at one by one before they are used.
	sure *disk.RowCheck
	base uint64 // the first row's number among all
	// own is memory for batches of very many rows, which are read once; nil: there is none.
	own *disk.RowSlices
	// Timeless: the begins of the rows of a batch are not needed, and may be 0.
	Timeless bool
	// batch is how many rows one has at most.
	batch int
}

// BatchRows returns the number of rows of the lane that are handed out at once.
func (v *Lane) BatchRows() int {
	if v.batch == 0 {
		return BatchRows
	}
	return v.batch
}

// Touch looks at rows [lo, hi) before they are used.
func (v *Lane) Touch(lo, hi int) {
	if v.sure != nil && lo < hi {
		v.sure.Touch(v.base+uint64(lo), v.base+uint64(hi))
	}
}

// touchBegins looks at when rows begin, and no more.
func (v *Lane) touchBegins(lo, hi int) {
	if v.sure != nil && lo < hi {
		v.sure.TouchFirst(v.base+uint64(lo), v.base+uint64(hi))
	}
}

// Lane returns a lane by its number among all lanes, with all its rows at hand, for callers that go through them.
func (r *Table) Lane(n int) Lane {
	v := r.LaneByRows(n)
	if v.sure != nil {
		v.sure.Touch(v.base, v.base+uint64(v.Len()))
		v.sure = nil
	}
	return v
}

// LaneByRows returns a lane for callers that may use little of it, such as the rows that sums leave: rows are verified
// when they are used, so that damage elsewhere has no effect.
func (r *Table) LaneByRows(n int) Lane {
	c := &r.C
	a, b := c.LaneRow[n], c.LaneRow[n+1]
	v := r.laneOf(n,
		disk.RowSlices{Begin: c.Begin, Duration: c.Duration, Exclusive: c.Exclusive, Region: c.Region, Parent: c.Parent,
			Depth: c.Depth}.Slice(int(a), int(b)))
	v.sure, v.base = r.Sure, a
	if s, ok := r.spreadOf(a, b); ok {
		v.Begin, v.Duration, v.Exclusive, v.Region, v.Parent, v.Depth = s.Begin, s.Duration, s.Exclusive, s.Region,
			s.Parent, s.Depth
		v.sure = nil
	}
	return v
}

// laneOf returns a lane whose rows are at hand.
func (r *Table) laneOf(n int, x disk.RowSlices) Lane {
	v := Lane{Begin: x.Begin, Duration: x.Duration, Exclusive: x.Exclusive, Region: x.Region, Parent: x.Parent,
		Depth: x.Depth, Last: r.C.LaneEnd[n]}
	if len(r.C.CallerRow) > 0 {
		v.Callers = r.callersOf(r.C.LaneRow[n], r.C.LaneRow[n+1])
	}
	return v
}

// Unpacked holds some rows of a packed table in memory of one goroutine, which is reused: else a pass over all rows
// would ask the system for new memory all the time.
type Unpacked struct {
	r     *Table
	first uint64
	rows  disk.RowSlices
	room  disk.RowSlices
}

// Take unpacks rows [a, b). Without begins, 0 is in their place.
func (u *Unpacked) Take(r *Table, a, b uint64, begins bool) {
	u.r, u.first, u.rows = r, a, r.Sure.Copy(&u.room, a, b, begins)
}

// Lane returns a lane all of whose rows were taken.
func (u *Unpacked) Lane(n int) Lane {
	a, b := u.r.C.LaneRow[n], u.r.C.LaneRow[n+1]
	return u.r.laneOf(n, u.rows.Slice(int(a-u.first), int(b-u.first)))
}

func (v *Lane) Len() int { return len(v.Begin) }

// BeginsBefore reports whether the first row begins before t. If t is after the end of the last one no row is looked
// at: most queries are about whole lanes, and in a remote store the row of each would have to be fetched.
func (v *Lane) BeginsBefore(t trace.Time) bool { return t > v.Last || v.BeginOf(0) < t }

// BeginOf returns the begin of row i.
func (v *Lane) BeginOf(i int) trace.Time {
	v.touchBegins(i, i+1)
	return v.Begin[i]
}

func (v *Lane) End(i int) trace.Time {
	if v.sure != nil {
		v.Touch(i, i+1)
	}
	return v.Begin[i] + v.Duration[i]
}

// FirstFrom returns the first row that begins at t or later. O(log n); of a whole lane no row is looked at.
func (v *Lane) FirstFrom(t trace.Time) int {
	switch {
	case t <= 0:
		return 0
	case t > v.Last:
		return len(v.Begin)
	}
	return v.FirstIn(0, len(v.Begin), t)
}

// FirstIn does for rows [lo, hi); hi where none of them is.
func (v *Lane) FirstIn(lo, hi int, t trace.Time) int {
	if v.sure != nil && lo < hi {
		a, b := v.sure.Narrow(v.base+uint64(lo), v.base+uint64(hi), t)
		lo, hi = int(a-v.base), int(b-v.base)
		v.touchBegins(lo, hi)
	}
	return lo + FirstFrom(v.Begin[lo:hi], t)
}

// firstAfter returns the first row that begins later than t.
func (v *Lane) firstAfter(t trace.Time) int { return v.FirstFrom(t + 1) }

// FirstFrom returns the first index of sorted times that is not before t.
func FirstFrom(times []trace.Time, t trace.Time) int {
	lo, hi := 0, len(times)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if times[mid] < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Up returns the parent of row i, or -1. Parents come before their children: a column
// that says otherwise is damaged, and following it might never end.
func (v *Lane) Up(i int) int {
	if v.sure != nil {
		v.Touch(i, i+1)
	}
	return v.up(i)
}

// up does where the row was looked at.
func (v *Lane) up(i int) int {
	p := int(v.Parent[i])
	if p >= i || p < -1 {
		panic(disk.Damage("interval.parent"))
	}
	return p
}

// maxChain bounds the chains of open intervals that are handed out, to the
// innermost. Only a trace whose intervals are never left nests deeper; handing out
// its chain again and again would take forever.
const MaxChain = 1 << 16

// Open appends the intervals that began before row i and either are open at t, where t is not after the begin of row
// i, or are parents of row i; outermost first. All are on the chain of parents of the row before.
func (v *Lane) Open(into []trace.OpenInterval, i int, t trace.Time) []trace.OpenInterval {
	from, parent := len(into), -1
	if i == 0 {
		return into // and no row is looked at
	}
	if i < v.Len() {
		parent = v.Up(i)
	}
	for p := i - 1; p >= 0 && len(into)-from < MaxChain; p = v.Up(p) {
		if v.End(p) > t || p == parent {
			into = append(into, v.Interval(p))
		}
		if p == parent {
			parent = v.Up(p)
		}
	}
	Reverse(into[from:])
	return into
}

// Chain appends the parents of row i, outermost first.
func (v *Lane) Chain(into []trace.OpenInterval, i int) []trace.OpenInterval {
	from := len(into)
	for p := v.Up(i); p >= 0 && len(into)-from < MaxChain; p = v.Up(p) {
		into = append(into, v.Interval(p))
	}
	Reverse(into[from:])
	return into
}

func (v *Lane) Interval(i int) trace.OpenInterval {
	end := v.End(i) // which looks at the row
	return trace.OpenInterval{Row: i, Begin: v.Begin[i], End: end, Region: v.Region[i]}
}

func Reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Columns returns rows [lo, hi) as a batch.
func (v *Lane) Columns(location trace.LocationID, lane, lo, hi int) trace.Columns {
	if v.sure != nil && v.own != nil && hi-lo >= scanRows && !v.sure.Touched(v.base+uint64(lo), v.base+uint64(hi)) {
		c := v.sure.Copy(v.own, v.base+uint64(lo), v.base+uint64(hi), !v.Timeless)
		return trace.Columns{
			Location: location, Lane: lane, First: lo,
			Begin: c.Begin, Duration: c.Duration, Exclusive: c.Exclusive, Region: c.Region, Parent: c.Parent,
			Depth:   c.Depth,
			Callers: v.Callers,
		}
	}
	v.Touch(lo, hi)
	return trace.Columns{
		Location: location, Lane: lane, First: lo,
		Begin: v.Begin[lo:hi:hi], Duration: v.Duration[lo:hi:hi], Exclusive: v.Exclusive[lo:hi:hi],
		Region: v.Region[lo:hi:hi], Parent: v.Parent[lo:hi:hi], Depth: v.Depth[lo:hi:hi],
		Callers: v.Callers,
	}
}

// scanRows is from how many rows on a batch is read once rather than kept.
const scanRows = 1 << 10

// Batches yields rows [lo, hi).
func (v *Lane) Batches(ctx context.Context, id trace.LocationID, lane, lo, hi int, f func(*trace.Columns) error) error {
	var open []trace.OpenInterval
	for lo < hi {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c := v.Columns(id, lane, lo, min(lo+v.BatchRows(), hi))
		open = v.Chain(open[:0], lo)
		c.Open = open
		if err := f(&c); err != nil {
			return err
		}
		lo += c.Len()
	}
	return nil
}

// batchRows is the size of a batch of intervals.
const BatchRows = 1 << 16

// Gallop returns the first row from lo on that begins at t or later. O(log distance).
func (v *Lane) Gallop(lo int, t trace.Time) int {
	if v.sure != nil {
		near := min(lo+gallopRows, len(v.Begin))
		if v.touchBegins(lo, near); lo == near || near == len(v.Begin) || v.Begin[near-1] >= t {
			return lo + FirstFrom(v.Begin[lo:near], t)
		}
		return v.FirstIn(near, len(v.Begin), t)
	}
	step := 1
	for lo+step < len(v.Begin) && v.Begin[lo+step] < t {
		step *= 2
	}
	lo += step / 2
	return lo + FirstFrom(v.Begin[lo:min(lo+step, len(v.Begin))], t)
}

// gallopRows is how far to look before frames are asked.
const gallopRows = 256

// Inside reports whether row i is in the subtree of an earlier row.
func (v *Lane) Inside(i, of int) bool {
	for i > of {
		i = v.Up(i)
	}
	return i == of
}

// SubtreeEnd returns the first row after the subtree of row i.
func (v *Lane) SubtreeEnd(i int) int {
	// Rows of the subtree follow i without a gap: gallop, then halve.
	n := v.Len()
	step := 1
	lo, hi := i, i+1 // lo is inside
	for hi < n && v.Inside(hi, i) {
		lo = hi
		step *= 2
		hi = min(i+step, n)
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if v.Inside(mid, i) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// OpenAt finds the innermost interval of a lane that is open at t.
func OpenAt(v *Lane, t trace.Time, region trace.RegionID) int {
	return OpenFrom(v, v.firstAfter(t)-1, t, region)
}

// OpenFrom finds the innermost interval open at t among row i and its parents.
func OpenFrom(v *Lane, i int, t trace.Time, region trace.RegionID) int {
	for ; i >= 0; i = v.Up(i) {
		if v.End(i) > t && Matches(v.Region[i], region) {
			return i
		}
	}
	return -1
}

func Matches(have, want trace.RegionID) bool { return want == trace.NoRegion || have == want }

// FirstAfterNear returns the first index of sorted times that is after t, looked for in
// steps that double from near on.
func FirstAfterNear(times []trace.Time, t trace.Time, near int) int {
	lo, hi := 0, len(times) // times before lo are not after t, those from hi on are
	near = min(near, hi)
	if near == hi || times[near] > t {
		hi = near
		for step := 1; hi > lo; step *= 2 {
			at := max(hi-step, lo)
			if times[at] <= t {
				lo = at + 1
				break
			}
			hi = at
		}
	} else {
		lo = near + 1
		for step := 1; lo < hi; step *= 2 {
			at := min(lo+step, hi) - 1
			if times[at] > t {
				hi = at
				break
			}
			lo = at + 1
		}
	}
	return lo + FirstFrom(times[lo:hi], t+1)
}
