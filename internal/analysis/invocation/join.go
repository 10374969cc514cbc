package invocation

import (
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Join makes nodes of lanes that no call leaves, one lane after the other below a virtual root: an order in which
// every subtree is a stretch. The order of time, which Collect merges all lanes for, is found if it is asked for, see
// Number. The lanes come in the order of Collect; compare gives the order of sectors, stable where it is 0.
func Join(lanes []*Lane, compare func(a, b *Lane) int) *Calls {
	turn := make([]int32, len(lanes)) // the place of each lane in the order of sectors
	for k := range turn {
		turn[k] = int32(k)
	}
	slices.SortStableFunc(turn, func(a, b int32) int { return compare(lanes[a], lanes[b]) })
	sorted, first, n := make([]*Lane, len(lanes)), make([]int32, len(lanes)), int32(1)
	for i, k := range turn {
		sorted[i], first[k] = lanes[k], n
		n += int32(lanes[k].Len())
	}
	c := &Calls{Tree: &Tree{Parent: make([]int32, n)}, Virtual: true, Begin: make([]trace.Time, n),
		End: make([]trace.Time, n), Region: make([]trace.RegionID, n), lane: make([]int32, n), row: make([]int32, n),
		lanes: sorted, joined: first}
	_ = parallel.For(context.Background(), len(sorted), func(i int) { c.take(int32(i), first[turn[i]]) })
	c.Tree.Parent[0], c.lane[0], c.row[0], c.Region[0] = -1, -1, -1, trace.NoRegion
	c.Begin[0], c.End[0] = math.MaxInt64, math.MinInt64
	for _, l := range sorted {
		c.Begin[0], c.End[0] = min(c.Begin[0], l.begin[0]), max(c.End[0], slices.Max(l.end))
		l.calls = l.Len()
		l.begin, l.end, l.region, l.parent, l.row, l.stand = nil, nil, nil, nil, nil, nil
	}
	return c
}

// take writes the calls of a lane to the tree's columns from a place on.
func (c *Calls) take(lane, at int32) {
	l := c.lanes[lane]
	copy(c.Begin[at:], l.begin)
	copy(c.End[at:], l.end)
	copy(c.Region[at:], l.region)
	for i, p := range l.parent {
		to := at + int32(i)
		c.lane[to], c.row[to] = lane, l.rowAt(i)
		if p >= 0 {
			c.Tree.Parent[to] = at + p
		}
	}
}

// Roots counts the calls of a lane that lie in no other.
func (l *Lane) Roots() (n int) {
	for _, p := range l.parent {
		if p < 0 {
			n++
		}
	}
	return n
}

// laneEnd is the place behind the lane that begins at a node.
func (c *Calls) laneEnd(at int32) int32 { return at + int32(c.lanes[c.lane[at]].calls) }

// Levels returns the level of every node and the height, as those of its tree; of joined lanes on all cores.
func (c *Calls) Levels() (level []int32, height int) {
	if !c.Joined() {
		return c.Tree.Levels()
	}
	level = make([]int32, c.Len())
	_ = parallel.For(context.Background(), len(c.joined), func(k int) {
		for i, end := c.joined[k], c.laneEnd(c.joined[k]); i < end; i++ {
			level[i] = level[c.Tree.Parent[i]] + 1
		}
	})
	return level, int(slices.Max(level)) + 1
}

// Joined reports whether nodes come lane by lane, in the order of sectors, and not by begin.
func (c *Calls) Joined() bool { return c.joined != nil }

// Number is the place of a node in the order of the run: by begin, of equal ones that of the first lane first.
func (c *Calls) Number(node int32) int32 {
	if !c.Joined() {
		return node
	}
	c.order.Do(func() {
		var s spool.Sorter[struct{}]
		s.Keys = make([]spool.SortKey, 0, c.Len())
		for _, at := range c.joined {
			for i := at; i < c.laneEnd(at); i++ {
				s.Keys = append(s.Keys, spool.SortKey{Key: int64(c.Begin[i]), Index: uint32(i)})
			}
		}
		s.Spread()
		c.number = make([]int32, c.Len())
		for k := range s.Keys {
			c.number[s.Keys[k].Index] = int32(k) + 1
		}
	})
	return c.number[node]
}
