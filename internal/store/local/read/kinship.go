package read

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/store/local/rows"
)

// takeCovered takes off the exclusive time of a lane's regions in a window when children
// in other lanes run. O(log covers + those in the window).
func (r times) takeCovered(n int, in rows.Window, s *timeSum) {
	if in.Begin >= in.End {
		return
	}
	c := &r.C
	r.Checks.Of("cover").Touch(0, uint64(len(c.CoverLane)))
	lane := uint32(n)
	lo := sort.Search(len(c.CoverLane), func(i int) bool {
		return c.CoverLane[i] > lane || c.CoverLane[i] == lane && c.CoverEnd[i] > in.Begin
	})
	for i := lo; i < len(c.CoverLane) && c.CoverLane[i] == lane && c.CoverBegin[i] < in.End; i++ {
		s.cell(c.CoverRegion[i]).Exclusive -= min(c.CoverEnd[i], in.End) - max(c.CoverBegin[i], in.Begin)
	}
}
