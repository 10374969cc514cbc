package invocation

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Call is one node of an invocation tree before the tree is known.
type Call struct {
	Location   trace.LocationID
	Lane       int32
	Row        int32
	Region     trace.RegionID
	Begin, End trace.Time
}

// Calls are the nodes of an invocation tree in the order of Tree: by begin, and
// parents before children.
type Calls struct {
	Tree  *Tree
	Calls []Call
	// Virtual is set where node 0 is not a call but stands above several roots.
	Virtual bool
	// Late is the number of calls whose parent begins after them, as clocks that
	// disagree make them: they hang on the root.
	Late int
}

// Build makes the tree of calls. parent[i] is the call that made calls[i], -1 for
// none. Calls of one lane must come in preorder; lanes in any order. O(n log n)
// where lanes interleave, O(n) for one lane.
func Build(calls []Call, parent []int32) *Calls {
	order := make([]int32, len(calls))
	for i := range order {
		order[i] = int32(i)
	}
	byBegin := func(a, b int32) int { return cmp.Compare(calls[a].Begin, calls[b].Begin) }
	if !slices.IsSortedFunc(order, byBegin) {
		slices.SortStableFunc(order, byBegin)
	}
	order = parentsFirst(order, calls, parent)
	roots := 0
	place := make([]int32, len(calls))
	for k, i := range order {
		place[i] = int32(k)
		if parent[i] < 0 {
			roots++
		}
	}
	c := &Calls{Tree: &Tree{}}
	// A parent that comes later cannot be one: its child hangs on the root.
	for k, i := range order {
		if p := parent[i]; p >= 0 && place[p] >= int32(k) {
			c.Late++
			roots++
		}
	}
	shift := int32(0)
	if roots != 1 {
		c.Virtual, shift = true, 1
		c.Tree.Parent = append(c.Tree.Parent, -1)
		c.Calls = append(c.Calls, Call{Location: trace.NoLocation, Region: trace.NoRegion, Row: -1})
	}
	for k, i := range order {
		up := int32(-1)
		if p := parent[i]; p >= 0 && place[p] < int32(k) {
			up = place[p] + shift
		} else if c.Virtual {
			up = 0
		}
		c.Tree.Parent = append(c.Tree.Parent, up)
		c.Calls = append(c.Calls, calls[i])
	}
	if c.Virtual && len(calls) > 0 {
		c.Calls[0].Begin, c.Calls[0].End = calls[order[0]].Begin, calls[order[0]].End
		for i := range calls {
			c.Calls[0].End = max(c.Calls[0].End, calls[i].End)
		}
	}
	return c
}

// parentsFirst moves a call behind its parent where both begin at the same time
// on different lanes; the order of time stays.
func parentsFirst(order []int32, calls []Call, parent []int32) []int32 {
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && calls[order[to]].Begin == calls[order[from]].Begin {
			to++
		}
		if to-from > 1 {
			sortFamily(order[from:to], parent)
		}
		from = to
	}
	return order
}

// sortFamily puts parents before children within calls of one begin, stable
// otherwise. Rounds are bounded by the depth of the chain among them.
func sortFamily(group, parent []int32) {
	in := make(map[int32]int, len(group))
	for _, i := range group {
		in[i] = 0
	}
	depth := func(i int32) int {
		d := 0
		for p := parent[i]; p >= 0 && d <= len(group); p = parent[p] {
			if _, ok := in[p]; !ok {
				break
			}
			d++
		}
		return d
	}
	chained := false
	for _, i := range group {
		in[i] = depth(i)
		chained = chained || in[i] > 0
	}
	if chained {
		slices.SortStableFunc(group, func(a, b int32) int { return cmp.Compare(in[a], in[b]) })
	}
}
