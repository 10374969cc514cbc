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

// callersOf gives what Columns.Callers is for the lane with rows [a, b); nil where all
// its callers lie in it. O(log callers).
func (r *Table) callersOf(a, b uint64) func([]trace.RegionID, int) []trace.RegionID {
	c := &r.C
	r.Checks.Of("caller").Touch(0, uint64(len(c.CallerRow)))
	lo, found := slices.BinarySearch(c.CallerRow, a)
	if !found && (lo == len(c.CallerRow) || c.CallerRow[lo] >= b) {
		return nil
	}
	return func(into []trace.RegionID, row int) []trace.RegionID {
		from := len(into)
		at := a + uint64(row)
		for len(into)-from < mostCallers { // from caller to caller, each with what is around it
			i, found := slices.BinarySearch(c.CallerRow, at)
			if !found {
				break
			}
			at = c.Caller[i]
			if r.Sure != nil {
				r.Sure.Touch(at, at+1)
			}
			n := sort.Search(len(c.LaneRow), func(n int) bool { return c.LaneRow[n] > at }) - 1
			first := c.LaneRow[n]
			for {
				into = append(into, c.Region[at])
				p := c.Parent[at]
				if p < 0 || len(into)-from >= mostCallers {
					break
				}
				if first+uint64(p) >= at {
					panic(disk.Damage("interval.parent"))
				}
				at = first + uint64(p)
				if r.Sure != nil {
					r.Sure.Touch(at, at+1)
				}
			}
		}
		Reverse(into[from:])
		return into
	}
}
