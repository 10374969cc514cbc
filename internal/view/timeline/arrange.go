package timeline

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// arrangeRows lists the rows of single locations so that those that behave alike
// are next to each other, without their tree; nil if that is not asked for.
func (p *plan) arrangeRows(ctx context.Context, q *view.Request, in *input) ([]row, error) {
	arranged, err := q.Arrange(ctx, grouping.Order)
	if err != nil || arranged.Arrangement() == nil {
		return nil, err
	}
	if in.opt.show == average {
		p.notes.add("with --show average rows are groups of the tree, and in its order")
		return nil, nil
	}
	p.Arranged = arranged
	f := p.forest
	var ids []trace.LocationID
	for id := range f.tree.Len() {
		if f.holds(trace.LocationID(id)) {
			ids = append(ids, trace.LocationID(id))
		}
	}
	p.Arrangement().Sort(ids)
	var rows []row
	for _, id := range ids {
		n := node{top: id, bottom: id}
		for up := f.tree.Parent[n.top]; up != trace.NoLocation && f.below(up) == 1; up = f.tree.Parent[n.top] {
			n.top = up // a process is named with its only thread
		}
		rows = append(rows, row{location: id, node: n, count: 1})
	}
	p.notes = p.Arrangement().AddNote(p.notes)
	return rows, nil
}
