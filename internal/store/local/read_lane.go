package local

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A laneView is the rows of one lane.
type laneView struct {
	begin, duration, exclusive []trace.Time
	region                     []trace.RegionID
	parent                     []int32
	depth                      []uint16
	last                       trace.Time // when the last interval ends
	callers                    func([]trace.RegionID, int) []trace.RegionID
}

// lane gives a lane by its number among all lanes.
func (r *Reader) lane(n int) laneView {
	c := &r.c
	a, b := c.laneRow[n], c.laneRow[n+1]
	v := laneView{
		begin: c.begin[a:b:b], duration: c.duration[a:b:b], exclusive: c.exclusive[a:b:b],
		region: c.region[a:b:b], parent: c.parent[a:b:b], depth: c.depth[a:b:b], last: c.laneEnd[n],
	}
	if len(c.callerRow) > 0 {
		v.callers = r.callersOf(a, b)
	}
	return v
}

func (v *laneView) len() int { return len(v.begin) }

func (v *laneView) end(i int) trace.Time { return v.begin[i] + v.duration[i] }

// firstFrom is the first row that begins at t or later. O(log n).
func (v *laneView) firstFrom(t trace.Time) int { return firstFrom(v.begin, t) }

// firstAfter is the first row that begins later than t.
func (v *laneView) firstAfter(t trace.Time) int { return firstFrom(v.begin, t+1) }

// firstFrom is the first index of sorted times that is not before t.
func firstFrom(times []trace.Time, t trace.Time) int {
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

// up is the parent of row i, or -1. Parents come before their children: a column
// that says otherwise is damaged, and following it might never end.
func (v *laneView) up(i int) int {
	p := int(v.parent[i])
	if p >= i || p < -1 {
		panic(damage("interval.parent"))
	}
	return p
}

// maxChain bounds the chains of open intervals that are handed out, to the
// innermost. Only a trace whose intervals are never left nests deeper; handing out
// its chain again and again would take forever.
const maxChain = 1 << 16

// open appends what began before row i and either is open at t, where t is not
// after the begin of row i, or is a parent of row i; outermost first. All of it
// is on the chain of parents of the row before.
func (v *laneView) open(into []trace.OpenInterval, i int, t trace.Time) []trace.OpenInterval {
	from, parent := len(into), -1
	if i < v.len() {
		parent = v.up(i)
	}
	for p := i - 1; p >= 0 && len(into)-from < maxChain; p = v.up(p) {
		if v.end(p) > t || p == parent {
			into = append(into, v.interval(p))
		}
		if p == parent {
			parent = v.up(p)
		}
	}
	reverse(into[from:])
	return into
}

// chain appends the parents of row i, outermost first.
func (v *laneView) chain(into []trace.OpenInterval, i int) []trace.OpenInterval {
	from := len(into)
	for p := v.up(i); p >= 0 && len(into)-from < maxChain; p = v.up(p) {
		into = append(into, v.interval(p))
	}
	reverse(into[from:])
	return into
}

func (v *laneView) interval(i int) trace.OpenInterval {
	return trace.OpenInterval{Row: i, Begin: v.begin[i], End: v.end(i), Region: v.region[i]}
}

func reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// columns gives rows [lo, hi) as a batch.
func (v *laneView) columns(location trace.LocationID, lane, lo, hi int) trace.Columns {
	return trace.Columns{
		Location: location, Lane: lane, First: lo,
		Begin: v.begin[lo:hi:hi], Duration: v.duration[lo:hi:hi], Exclusive: v.exclusive[lo:hi:hi],
		Region: v.region[lo:hi:hi], Parent: v.parent[lo:hi:hi], Depth: v.depth[lo:hi:hi],
		Callers: v.callers,
	}
}

// rangeOf gives the rows of a sorted column that belong to an id.
func rangeOf[T ~uint32 | ~uint64](column []T, id T) (lo, hi int) {
	lo = sort.Search(len(column), func(i int) bool { return column[i] >= id })
	hi = lo + sort.Search(len(column)-lo, func(i int) bool { return column[lo+i] > id })
	return lo, hi
}
