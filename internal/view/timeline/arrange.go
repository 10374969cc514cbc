package timeline

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// arrangeGroups lists the rows of single locations so that those that behave alike
// are next to each other, without their tree.
func (r *result) arrangeGroups(ctx context.Context, q *view.Request, f *forest) error {
	var ids []trace.LocationID
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			ids = append(ids, trace.LocationID(id))
		}
	}
	order, groups, err := grouping.Order(r.regions, ids, q.Digests(ctx, callgraph.DigestName))
	if err != nil {
		return err
	}
	for _, k := range order {
		id := ids[k]
		n := node{top: id, bottom: id}
		for up := f.tree.Parent[n.top]; up != trace.NoLocation && f.below(up) == 1; up = f.tree.Parent[n.top] {
			n.top = up // a process is named with its only thread
		}
		r.arranged = append(r.arranged, row{location: id, node: n, count: 1})
	}
	r.note("locations that behave alike are next to each other: %s", count(int64(groups), "group"))
	return nil
}
