package timeline

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// groupOptimal folds the groups that the best aggregation of the time in roles draws
// as one, and opens the others: rows are the cells of the treemap at the same p.
func (r *result) groupOptimal(ctx context.Context, q *view.Request, f *forest) error {
	h, err := view.HierarchyBy("tree", f.tree, q.Selection.Locations, f.tree.Holds)
	if err != nil {
		return err
	}
	table, err := r.reader.Time(ctx, q.Window())
	if err != nil {
		return err
	}
	values := make([][]float64, trace.RoleCount)
	for k := range values {
		values[k] = make([]float64, h.Len())
	}
	for k, id := range table.Locations {
		leaf := h.LeafOf[id]
		for i := table.Offsets[k]; i < table.Offsets[k+1] && leaf >= 0; i++ {
			values[r.regions[table.Region[i]].Role][leaf] += float64(table.Exclusive[i]) / 1e9
		}
	}
	parts := entropy.BestParts(&entropy.Tree{Parent: h.Parent, Last: h.Last}, values, q.Values.Number("p"))
	f.opened, f.shut = true, nil
	for _, i := range parts {
		if h.Last[i] > i && h.Location[i] != trace.NoLocation {
			f.shut = append(f.shut, h.Location[i])
		}
	}
	r.note("rows by the best aggregation at p = %.3g: %s for %s", q.Values.Number("p"), count(int64(len(parts)), "row"), count(int64(h.Leaves), "location"))
	return nil
}
