package view

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// behaviourTree is the hierarchy of the locations compared, with the time each spent in
// every role; a metric of a profile counts by role too. O(locations × regions).
func behaviourTree(ctx context.Context, s store.Reader, sel trace.Selection, units, holders []trace.LocationID,
	of []int32) (*trace.BehaviourTree, error) {
	t := s.Locations()
	holds := make([]bool, t.Len())
	for _, id := range units {
		holds[id] = true
	}
	h := runfacts.NewHierarchy(t, nil, holds)
	out := &trace.BehaviourTree{Parent: h.Parent, Last: h.Last, Leaf: make([]int32, len(units)),
		Values: make([][]float64, trace.RoleCount)}
	for u, id := range units {
		out.Leaf[u] = h.LeafOf[id]
	}
	leaf := make([]int32, t.Len())
	for i := range leaf {
		leaf[i] = -1
	}
	for i, id := range holders {
		leaf[id] = out.Leaf[of[i]]
	}
	for k := range out.Values {
		out.Values[k] = make([]float64, h.Len())
	}
	keep := make([]bool, len(s.Regions()))
	for id := range keep {
		keep[id] = sel.Regions == nil
	}
	for _, id := range sel.Regions {
		keep[id] = true
	}
	w := store.Window{Begin: sel.Begin, End: sel.End, Locations: sel.Locations}
	err := runfacts.Totals(ctx, s, w, runfacts.DefaultMetric(s.Metrics()), func(list []runfacts.Total) {
		for _, x := range list {
			if i := leaf[x.Location]; i >= 0 && keep[x.Region] {
				out.Values[s.Regions()[x.Region].Role][i] += max(x.Exclusive, 0)
			}
		}
	})
	return out, err
}
