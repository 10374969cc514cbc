package timeline

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// arrangeGroups lists the rows of single locations so that those that behave alike
// are next to each other, without their tree.
func (r *planner) arrangeGroups(ctx context.Context, q *view.Request, f *forest) error {
	var ids []trace.LocationID
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			ids = append(ids, trace.LocationID(id))
		}
	}
	var err error
	if r.Arranged, err = q.Arrange(ctx, grouping.Order); err != nil || r.Arrangement() == nil {
		return err
	}
	if r.opt.show == average {
		r.Arranged = view.Arranged{}
		r.note("with --show average rows are groups of the tree, and in its order")
		return nil
	}
	r.Arrangement().Sort(ids)
	for _, id := range ids {
		n := node{top: id, bottom: id}
		for up := f.tree.Parent[n.top]; up != trace.NoLocation && f.below(up) == 1; up = f.tree.Parent[n.top] {
			n.top = up // a process is named with its only thread
		}
		r.arranged = append(r.arranged, row{location: id, node: n, count: 1})
	}
	r.notes = r.Arrangement().AddNote(r.notes)
	return nil
}
