package rows

import (
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostCallers bounds the callers in other lanes that are handed out, to the nearest. A
// chain of a million spans that each began the next would be handed out a million times.
const mostCallers = 1 << 10

// lanesNear is of how many lanes it is remembered where their last caller was found.
const lanesNear = 32

// near finds a row among rows that ascend. In a trace of services nearly every row has a caller, so that a row is
// close to its place in an even distribution: some steps instead of log n.
func near(rows []uint64, row uint64) (int, bool) {
	n := len(rows)
	if n == 0 || row < rows[0] || row > rows[n-1] {
		return 0, false
	}
	at := 0
	if width := rows[n-1] - rows[0]; width > 0 {
		at = min(int(float64(row-rows[0])/float64(width)*float64(n-1)), n-1)
	}
	return gallop(rows, row, at)
}

// gallop finds a row among rows that ascend, from a place close to it.
func gallop(rows []uint64, row uint64, at int) (int, bool) {
	n := len(rows)
	lo, hi := at, at+1 // the row is in [lo, hi), if it is there
	for step := 1; lo > 0 && rows[lo] > row; step *= 2 {
		lo, hi = max(lo-step, 0), lo
	}
	for step := 1; hi < n && rows[hi] <= row; step *= 2 {
		lo, hi = hi, min(hi+step, n)
	}
	i, found := slices.BinarySearch(rows[lo:hi], row)
	return lo + i, found
}

// callersOf returns Columns.Callers for the lane with rows [a, b); nil if all its callers are in it. O(log callers).
func (r *Table) callersOf(a, b uint64) func([]trace.RegionID, int) []trace.RegionID {
	c := &r.C
	r.Checks.Of("caller").Touch(0, uint64(len(c.CallerRow)))
	lo, found := slices.BinarySearch(c.CallerRow, a)
	if !found && (lo == len(c.CallerRow) || c.CallerRow[lo] >= b) {
		return nil
	}
	// It may be called when the query is over: rows are unpacked into its own memory.
	var own disk.RowSlices
	rowAt := func(at uint64) (trace.RegionID, int32) {
		if r.Sure == nil {
			return c.Region[at], c.Parent[at]
		}
		row := r.Sure.Copy(&own, at, at+1, true)
		return row.Region[0], row.Parent[0]
	}
	next := lo // rows are mostly asked for one after the other
	// Those that called them are too, lane by lane: the next one is about as far from where the last one was found.
	var last [lanesNear]struct {
		lane int // and one
		row  uint64
		at   int
	}
	find := func(at uint64, lane int) (i int, found bool) {
		k := &last[lane%lanesNear]
		if k.lane == lane+1 && at >= k.row && at-k.row < uint64(len(c.CallerRow)-k.at) {
			k.at, found = gallop(c.CallerRow, at, k.at+int(at-k.row))
		} else {
			k.at, found = near(c.CallerRow, at)
		}
		k.lane, k.row = lane+1, at
		return k.at, found
	}
	lane := -1
	return func(into []trace.RegionID, row int) []trace.RegionID {
		from := len(into)
		at := a + uint64(row)
		for len(into)-from < mostCallers { // from caller to caller, each with the intervals around it
			i, found := next, len(into) == from && next < len(c.CallerRow) && c.CallerRow[next] == at
			switch {
			case found:
			case len(into) == from:
				i, found = near(c.CallerRow, at)
			default:
				i, found = find(at, lane)
			}
			if !found {
				break
			}
			if len(into) == from {
				next = i + 1
			}
			at = c.Caller[i]
			lane = sort.Search(len(c.LaneRow), func(n int) bool { return c.LaneRow[n] > at }) - 1
			first := c.LaneRow[lane]
			for {
				region, p := rowAt(at)
				into = append(into, region)
				if p < 0 || len(into)-from >= mostCallers {
					break
				}
				if first+uint64(p) >= at {
					panic(disk.Damage("interval.parent"))
				}
				at = first + uint64(p)
			}
		}
		Reverse(into[from:])
		return into
	}
}
