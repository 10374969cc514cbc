package moments

import (
	"fmt"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// groupOptimal makes a row of each part of the best aggregation of busy and idle
// time: groups whose members are busy alike are one row.
func (r *result) groupOptimal(order []int32, capacity int) {
	holds := make([]bool, r.tree.Len())
	for _, id := range r.ids {
		holds[id] = true
	}
	h, err := view.HierarchyBy("tree", r.tree, r.selection.Locations, holds)
	if err != nil || len(order) < len(r.ids) {
		r.runsOrRows(order, capacity)
		return
	}
	busy, idle := make([]float64, h.Len()), make([]float64, h.Len())
	window := r.axis.end - r.axis.begin
	for i, m := range r.busy.every(r.ids) {
		if leaf := h.LeafOf[r.ids[i]]; leaf >= 0 {
			m0 := max(m.At(0), 0)
			busy[leaf], idle[leaf] = m0/1e9, max(window-m0, 0)/1e9
		}
	}
	parts := entropy.BestParts(&entropy.Tree{Parent: h.Parent, Last: h.Last}, [][]float64{busy, idle}, r.opt.p)
	if len(parts) > capacity {
		r.notes = append(r.notes, fmt.Sprintf("the best aggregation at p = %.3g has %s, more than fit: choose a larger p", r.opt.p, plural(len(parts), "row")))
		slices.Sort(order)
		r.cut(order, capacity)
		return
	}
	slices.Sort(order)
	for _, i := range parts {
		w := row{node: h.Location[i]}
		first, last := trace.LocationID(0), trace.LocationID(r.tree.Len()-1)
		if w.node != trace.NoLocation {
			first, last = w.node, w.node
			if h.Last[i] > i {
				last = r.tree.Last[w.node]
			}
		}
		lo := sort.Search(len(r.ids), func(k int) bool { return r.ids[k] >= first })
		hi := sort.Search(len(r.ids), func(k int) bool { return r.ids[k] > last })
		if w.members = order[lo:hi]; len(w.members) > 0 {
			r.rows = append(r.rows, w)
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("rows by the best aggregation of busy time at p = %.3g", r.opt.p))
}
