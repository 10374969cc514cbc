package moments

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
)

// groupOptimal makes a row of each part of the best aggregation of busy and idle
// time: groups whose members are busy alike are one row.
func (r *planner) groupOptimal(order []int32, capacity int) {
	h, values, err := r.hierarchy()
	if err != nil || len(order) < len(r.ids) {
		r.runsOrRows(order, capacity)
		return
	}
	parts := entropy.BestParts(&entropy.Tree{Parent: h.Parent, Last: h.Last}, values, r.opt.p)
	if len(parts) > capacity {
		r.notes = append(r.notes,
			fmt.Sprintf("the best aggregation at p = %.3g has %s, more than fit: choose a larger p", r.opt.p,
				plural(len(parts), "row")))
		slices.Sort(order)
		r.cut(order, capacity)
		return
	}
	r.rowsOfParts(order, h, parts)
	r.notes = append(r.notes, fmt.Sprintf("rows by the best aggregation of busy time at p = %.3g", r.opt.p))
}
