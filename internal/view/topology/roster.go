package topology

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A roster is every location of the run that has values, in order of rank and then of
// the tree, whatever is selected: the place of one location in a layout must not depend
// on which others are selected.
type roster struct {
	location []trace.LocationID
	index    []float64 // position in the tree
	rank     []float64 // of the process; NaN of none. The index where the run has no ranks.
	slot     []float64 // position in order of rank
	context  []float64
	thread   []float64
	maxRank  float64 // the highest rank + 1: how many there are where none is missing
	shared   int     // locations whose rank another one has too
	unranked int     // locations without a rank, in a run that has some
}

// newRoster is O(locations log locations).
func newRoster(tree *store.Tree, holds []bool) *roster {
	inTree := runfacts.Chosen(tree, nil, holds)
	n := len(inTree)
	order := make([]int, n)
	ranked := false
	for i, id := range inTree {
		order[i], ranked = i, ranked || tree.Rank[id] != trace.NoRank
	}
	slices.SortStableFunc(order, func(a, b int) int { // those without come last
		return cmp.Compare(uint32(tree.Rank[inTree[a]]), uint32(tree.Rank[inTree[b]]))
	})
	o := &roster{location: pick(inTree, order), index: make([]float64, n), rank: make([]float64, n),
		slot: make([]float64, n)}
	for i, id := range o.location {
		o.index[i], o.slot[i] = float64(order[i]), float64(i)
		switch rank := tree.Rank[id]; {
		case !ranked:
			o.rank[i] = o.index[i]
		case rank == trace.NoRank:
			o.rank[i] = math.NaN()
			o.unranked++
		default:
			o.rank[i] = float64(rank)
			if i > 0 && o.rank[i-1] == o.rank[i] {
				o.shared++
			}
		}
		if o.rank[i] >= o.maxRank {
			o.maxRank = o.rank[i] + 1
		}
	}
	o.number(tree)
	return o
}

// number finds context and thread: the source's own numbers, as of TAU, or else the
// number of a location among those of its rank.
func (o *roster) number(tree *store.Tree) {
	given := false
	o.context, given = o.attribute(tree, "context")
	var threads bool
	if o.thread, threads = o.attribute(tree, "thread"); threads || given {
		return
	}
	for i := range o.thread {
		if i > 0 && o.rank[i] == o.rank[i-1] {
			o.thread[i] = o.thread[i-1] + 1
		}
	}
}

// attribute is a number of each location or of the nearest above it; 0 if there is none.
func (o *roster) attribute(tree *store.Tree, key string) (out []float64, any bool) {
	out = make([]float64, len(o.location))
	for i, id := range o.location {
	up:
		for at := id; at != trace.NoLocation; at = tree.Parent[at] {
			for _, a := range tree.Attributes[at] {
				if v, ok := a.Value.Number(); ok && a.Key == key {
					out[i], any = v, true
					break up
				}
			}
		}
	}
	return out, any
}

// keep reports which of the roster are selected; nil for all.
func (o *roster) keep(tree *store.Tree, selected []trace.LocationID) []int {
	if selected == nil {
		return nil
	}
	chosen := make([]bool, tree.Len())
	for _, id := range tree.Expand(selected) {
		chosen[id] = true
	}
	out := make([]int, 0, len(o.location))
	for i, id := range o.location {
		if chosen[id] {
			out = append(out, i)
		}
	}
	return out
}

// pick keeps some of a column, in order.
func pick[T any](column []T, keep []int) []T {
	if column == nil {
		return nil
	}
	out := make([]T, len(keep))
	for k, i := range keep {
		out[k] = column[i]
	}
	return out
}
