package local

import (
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostCallers bounds the callers in other lanes that are handed out, to the nearest. A
// chain of a million spans that each began the next would be handed out a million times.
const mostCallers = 1 << 10

// callersOf gives what Columns.Callers is for the lane with rows [a, b); nil where all
// its callers lie in it. O(log callers).
func (r *Reader) callersOf(a, b uint64) func([]trace.RegionID, int) []trace.RegionID {
	c := &r.c
	lo, found := slices.BinarySearch(c.callerRow, a)
	if !found && (lo == len(c.callerRow) || c.callerRow[lo] >= b) {
		return nil
	}
	return func(into []trace.RegionID, row int) []trace.RegionID {
		from := len(into)
		at := a + uint64(row)
		for len(into)-from < mostCallers { // from caller to caller, each with what is around it
			i, found := slices.BinarySearch(c.callerRow, at)
			if !found {
				break
			}
			at = c.caller[i]
			n := sort.Search(len(c.laneRow), func(n int) bool { return c.laneRow[n] > at }) - 1
			first := c.laneRow[n]
			for {
				into = append(into, c.region[at])
				p := c.parent[at]
				if p < 0 || len(into)-from >= mostCallers {
					break
				}
				if first+uint64(p) >= at {
					panic(damage("interval.parent"))
				}
				at = first + uint64(p)
			}
		}
		reverse(into[from:])
		return into
	}
}

// takeCovered takes off the exclusive time of a lane's regions in a window when children
// in other lanes run. O(log covers + those in the window).
func (r *Reader) takeCovered(n int, in window, s *timeSum) {
	if in.begin >= in.end {
		return
	}
	c := &r.c
	lane := uint32(n)
	lo := sort.Search(len(c.coverLane), func(i int) bool {
		return c.coverLane[i] > lane || c.coverLane[i] == lane && c.coverEnd[i] > in.begin
	})
	for i := lo; i < len(c.coverLane) && c.coverLane[i] == lane && c.coverBegin[i] < in.end; i++ {
		s.cell(c.coverRegion[i]).exclusive -= min(c.coverEnd[i], in.end) - max(c.coverBegin[i], in.begin)
	}
}
