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

// A Use is an operation in some requests.
type Use struct {
	Service        trace.LocationID
	Region         trace.RegionID
	Calls, Errors  int64
	Duration, Self trace.Time
}

// Uses adds up the calls of some requests by operation, in the order of services and regions. O(nodes).
func (f *Forest) Uses(requests []int32) []Use {
	type op struct {
		service trace.LocationID
		region  trace.RegionID
	}
	sums := map[op]*Use{}
	in := make([]bool, len(f.Requests))
	for _, k := range requests {
		in[k] = true
	}
	recent := make([]*Use, len(f.Regions)) // the last of a region: mostly it is of one service
	for i, k := range f.Of {
		if k < 0 || !in[k] {
			continue
		}
		node := int32(i)
		o := op{f.Service(node), f.Region[node]}
		u := recent[o.region]
		if u == nil || u.Service != o.service {
			if u = sums[o]; u == nil {
				u = &Use{Service: o.service, Region: o.region}
				sums[o] = u
			}
			recent[o.region] = u
		}
		u.Calls++
		u.Duration += f.End[node] - f.Begin[node]
		u.Self += f.Self[node]
		if f.Failed(node) {
			u.Errors++
		}
	}
	out := make([]Use, 0, len(sums))
	for _, u := range sums {
		out = append(out, *u)
	}
	slices.SortFunc(out,
		func(a, b Use) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region)) })
	return out
}
