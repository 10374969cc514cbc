package moments

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/view"
)

// groupOptimal makes a row of each part of the best aggregation of busy and idle
// time: groups whose members are busy alike are one row.
func (k *sketches) groupOptimal(order []int32, capacity int) (rows []row, note string) {
	h, values, err := k.hierarchy()
	if err != nil || len(order) < len(k.IDs) {
		return k.runsOrRows(order, capacity), ""
	}
	parts := entropy.BestParts(&entropy.Tree{Parent: h.Parent, Last: h.Last}, values, k.opt.p)
	if len(parts) > capacity {
		slices.Sort(order)
		return k.cut(order, capacity),
			fmt.Sprintf("the best aggregation at p = %.3g has %s, more than fit: choose a larger p", k.opt.p,
				view.Count(len(parts), "row"))
	}
	return k.rowsOfParts(order, h, parts), fmt.Sprintf("rows by the best aggregation of busy time at p = %.3g", k.opt.p)
}
