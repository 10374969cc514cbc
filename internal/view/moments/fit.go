package moments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// fill makes rows where locations are somewhat more than pixels: so many pairs of
// neighbours that the rest fits, those that are most alike, so that a location that differs keeps
// a row. Nil where that takes groups of more. O(n log n).
func (k *sketches) fill(order []int32, capacity int) (rows []row, note string) {
	n := len(order)
	all := k.busy.AtHand()
	if 3*n > 4*capacity || all == nil {
		return nil, ""
	}
	type pair struct {
		at  int
		far float64
	}
	pairs := make([]pair, 0, n-1)
	for i := 1; i < n; i++ {
		a, b := k.IDs[order[i-1]], k.IDs[order[i]]
		if g := k.Arrangement(); g != nil && g.Group(a) != g.Group(b) {
			continue
		}
		pairs = append(pairs, pair{i - 1, distance(&all[order[i-1]], &all[order[i]])})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.far, b.far) })
	joined, need := make([]bool, n), n-capacity // of each: with the next one
	for _, p := range pairs {
		if need == 0 {
			break
		}
		if !joined[p.at] && !(p.at > 0 && joined[p.at-1]) && !joined[p.at+1] {
			joined[p.at] = true
			need--
		}
	}
	if need > 0 {
		return nil, ""
	}
	for i := 0; i < n; i++ {
		w := row{members: order[i : i+1], node: k.IDs[order[i]]}
		if joined[i] {
			w = row{members: order[i : i+2], node: trace.NoLocation}
			i++
		}
		rows = append(rows, w)
	}
	return rows, fmt.Sprintf("%s in %s of pixels: the most alike neighbours share one", view.Count(n, "location"),
		view.Count(len(rows), "row"))
}

// distance of two rows, in the unit of their moments; one that is never busy is far
// from all that are.
func distance(a, b *moment.Moments) float64 {
	if a.Empty() || b.Empty() {
		if a.Empty() && b.Empty() {
			return 0
		}
		return math.Inf(1)
	}
	return max(math.Abs(a.M0-b.M0), math.Abs(a.M1-b.M1), math.Abs(a.M2-b.M2))
}

// fitOptimal makes rows of the finest best aggregation of busy time that fits: similar
// locations share a row, different ones have their own. Nil where the tree has no cut
// that uses at least half of the pixels. O(n log n).
func (k *sketches) fitOptimal(order []int32, capacity int) (rows []row, note string) {
	if len(k.IDs) > utilization.ManyRows || len(order) < len(k.IDs) || k.busy.AtHand() == nil {
		return nil, ""
	}
	h, values, err := k.hierarchy()
	if err != nil {
		return nil, ""
	}
	l := entropy.Label(&entropy.Tree{Parent: h.Parent, Last: h.Last}, values, entropy.GainValues)
	thresholds, significant := l.Thresholds()
	cut, odds, ok := l.Finest(thresholds, significant, func(cut entropy.Cut) bool { return len(cut.Parts) <= capacity })
	if !ok || 2*len(cut.Parts) < capacity {
		return nil, ""
	}
	rows = k.rowsOfParts(order, h, cut.Parts)
	return rows, fmt.Sprintf("%s in %s, by the best aggregation of busy time that fits, p = %.3g",
		view.Count(len(k.IDs), "location"), view.Count(len(rows), "row"), l.P(odds, entropy.Normalised))
}

// hierarchy returns the tree of the rows with busy and idle time of its leaves, in
// seconds.
func (k *sketches) hierarchy() (*runfacts.Hierarchy, [][]float64, error) {
	holds := make([]bool, k.Tree.Len())
	for _, id := range k.IDs {
		holds[id] = true
	}
	h, err := view.HierarchyBy("tree", k.Tree, k.Selection.Locations, holds)
	if err != nil {
		return nil, nil, err
	}
	busy, idle := make([]float64, h.Len()), make([]float64, h.Len())
	for i, m := range k.busy.All() {
		if leaf := h.LeafOf[k.IDs[i]]; leaf >= 0 {
			m0 := max(m.At(0), 0)
			busy[leaf], idle[leaf] = m0/1e9, max(k.axis.length()-m0, 0)/1e9
		}
	}
	return h, [][]float64{busy, idle}, nil
}

// rowsOfParts makes a row of each part of a cut; order is sorted by them.
func (k *sketches) rowsOfParts(order []int32, h *runfacts.Hierarchy, parts []int32) (rows []row) {
	slices.Sort(order)
	for _, i := range parts {
		w := row{node: h.Location[i]}
		first, last := trace.LocationID(0), trace.LocationID(k.Tree.Len()-1)
		if w.node != trace.NoLocation {
			first, last = w.node, w.node
			if h.Last[i] > i {
				last = k.Tree.Last[w.node]
			}
		}
		lo := sort.Search(len(k.IDs), func(n int) bool { return k.IDs[n] >= first })
		hi := sort.Search(len(k.IDs), func(n int) bool { return k.IDs[n] > last })
		if w.members = order[lo:hi]; len(w.members) > 0 {
			rows = append(rows, w)
		}
	}
	return rows
}
