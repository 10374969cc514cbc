package request

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// sortLate brings children into the order of time where some were moved behind a parent
// that begins after them.
func (f *Forest) sortLate() {
	if f.Late == 0 {
		return
	}
	for i := range f.Len() {
		kids := f.Children[f.First[i]:f.First[i+1]]
		byBegin := func(a, b int32) int { return cmp.Compare(f.Begin[a], f.Begin[b]) }
		if !slices.IsSortedFunc(kids, byBegin) {
			slices.SortStableFunc(kids, byBegin)
		}
	}
}

// selfTimes gives each call its duration less the union of its children. O(nodes).
func (f *Forest) selfTimes() {
	f.Self = make([]trace.Time, f.Len())
	for i := range f.Self {
		begin, end := f.Begin[i], f.End[i]
		self, covered := end-begin, begin
		for _, c := range f.Children[f.First[i]:f.First[i+1]] {
			from, to := max(f.Begin[c], covered), min(f.End[c], end)
			if from < to {
				self -= to - from
				covered = to
			}
		}
		f.Self[i] = self
	}
}
