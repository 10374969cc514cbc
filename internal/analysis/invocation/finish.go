package invocation

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Finish brings parents before their children and gives several roots one above
// them. O(n).
func (c *Calls) Finish() *Calls {
	for _, l := range c.lanes {
		l.place, l.row, l.stand = nil, nil, nil
	}
	c.parentsFirst()
	c.behindParents()
	roots := 0
	parent := c.Tree.Parent
	for i := 1; i < len(parent); i++ {
		if parent[i] < 0 {
			roots++
		}
	}
	if roots == 1 {
		c.Begin, c.End, c.Region, c.lane, c.row = c.Begin[1:], c.End[1:], c.Region[1:], c.lane[1:], c.row[1:]
		parent = parent[1:]
		for i := range parent {
			parent[i]--
		}
		parent[0] = -1
		c.Tree.Parent = parent
		return c
	}
	c.Virtual = true
	parent[0], c.lane[0], c.row[0], c.Region[0] = -1, -1, -1, trace.NoRegion
	c.Begin[0], c.End[0] = 0, math.MinInt64
	for i := 1; i < len(parent); i++ {
		parent[i] = max(parent[i], 0)
		c.End[0] = max(c.End[0], c.End[i])
	}
	if len(parent) > 1 {
		c.Begin[0] = slices.Min(c.Begin[1:])
	} else {
		c.End[0] = 0
	}
	return c
}

// parentsFirst moves a call behind its parent where both begin at the same time
// on different lanes; the order of time stays.
func (c *Calls) parentsFirst() {
	var order []int32 // old places by new ones; nil: nothing moves
	for from := 1; from < c.Len(); {
		to, wrong := from+1, c.Tree.Parent[from] > int32(from)
		for to < c.Len() && c.Begin[to] == c.Begin[from] {
			wrong = wrong || c.Tree.Parent[to] > int32(to)
			to++
		}
		if wrong && to-from > 1 {
			if order == nil {
				order = make([]int32, c.Len())
				for i := range order {
					order[i] = int32(i)
				}
			}
			c.sortFamily(order[from:to], from, to)
		}
		from = to
	}
	if order != nil {
		c.reorder(order)
	}
}

// behindParents moves calls that begin before their parent behind it, with all that they made. The trace
// names the caller of a call, whatever the clocks say. O(n log n), and no work if there are no such calls.
func (c *Calls) behindParents() {
	parent := c.Tree.Parent
	behind := false
	for i := 1; i < len(parent); i++ {
		if p := parent[i]; p >= int32(i) {
			behind = true
			if c.Begin[p] > c.Begin[i] {
				c.Late++
			}
		}
	}
	if !behind {
		return
	}
	// A call is due when it and all above it have begun.
	due, depth := make([]trace.Time, c.Len()), make([]int32, c.Len())
	seen := make([]int32, c.Len()) // 0: not yet; -1: done; else the walk that came by
	var chain []int32
	for i := int32(1); i < int32(c.Len()); i++ {
		chain = chain[:0]
		at := i
		for at > 0 && seen[at] == 0 {
			seen[at] = i
			chain = append(chain, at)
			if up := parent[at]; up > 0 && seen[up] == i { // round in a circle
				parent[at] = -1
				c.Cut++
			}
			at = parent[at]
		}
		for k := len(chain) - 1; k >= 0; k-- {
			x := chain[k]
			due[x], seen[x] = c.Begin[x], -1
			if p := parent[x]; p > 0 {
				due[x], depth[x] = max(due[x], due[p]), depth[p]+1
			}
		}
	}
	order := make([]int32, c.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order[1:],
		func(a, b int32) int { return cmp.Or(cmp.Compare(due[a], due[b]), cmp.Compare(depth[a], depth[b])) })
	c.reorder(order)
}

// sortFamily puts parents before children among calls from…to, which begin
// together, stable otherwise.
func (c *Calls) sortFamily(group []int32, from, to int) {
	depth := make([]int32, to-from) // among them, + 1; 0: not known
	var chain []int
	for i := from; i < to; i++ {
		at := i
		for chain = chain[:0]; at >= from && at < to && depth[at-from] == 0 &&
			len(chain) <= to-from; at = int(c.Tree.Parent[at]) {
			chain = append(chain, at)
		}
		d := int32(0)
		if at >= from && at < to {
			d = depth[at-from]
		}
		for k := len(chain) - 1; k >= 0; k-- {
			d++
			if depth[chain[k]-from] == 0 {
				depth[chain[k]-from] = d
			}
		}
	}
	slices.SortStableFunc(group, func(a, b int32) int { return cmp.Compare(depth[int(a)-from], depth[int(b)-from]) })
}

func (c *Calls) reorder(order []int32) {
	place := make([]int32, len(order))
	for k, i := range order {
		place[i] = int32(k)
	}
	c.Begin, c.End = permute(c.Begin, order), permute(c.End, order)
	c.Region, c.lane, c.row = permute(c.Region, order), permute(c.lane, order), permute(c.row, order)
	parent := permute(c.Tree.Parent, order)
	for i, p := range parent {
		if p >= 0 {
			parent[i] = place[p]
		}
	}
	c.Tree.Parent = parent
}

func permute[T any](column []T, order []int32) []T {
	out := make([]T, len(column))
	for k, i := range order {
		out[k] = column[i]
	}
	return out
}

// A cursor is the next call of a lane.
type cursor struct {
	begin    trace.Time
	lane, at int32
}

func (a cursor) before(b cursor) bool {
	return a.begin < b.begin || a.begin == b.begin && a.lane < b.lane
}

// A mergeHeap has the earliest cursor first.
type mergeHeap []cursor

func (h mergeHeap) build() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h mergeHeap) down(i int) {
	for {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && h[k+1].before(h[k]) {
			k++
		}
		if !h[k].before(h[i]) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

func (h *mergeHeap) pop() {
	old := *h
	old[0] = old[len(old)-1]
	*h = old[:len(old)-1]
	h.down(0)
}

// second is the begin and the lane of the earliest cursor but the first.
func (h mergeHeap) second() (trace.Time, int32) {
	switch {
	case len(h) < 2:
		return math.MaxInt64, math.MaxInt32
	case len(h) > 2 && h[2].before(h[1]):
		return h[2].begin, h[2].lane
	}
	return h[1].begin, h[1].lane
}
