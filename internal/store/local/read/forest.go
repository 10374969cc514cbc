package read

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A forestView is the nodes of one lane: levels rows of table level from first on,
// the coarsest at the top of the summary tree.
type forestView struct {
	first, levels int
	top           int
}

func (r *sections) forest(n int) forestView {
	a, b := r.C.LaneForest[n], r.C.LaneForest[n+1]
	return forestView{int(a), int(b - a), index.TopLevel(r.End)}
}

// nodes returns the range of table node of a level; empty if there are none.
func (r *sections) nodes(f forestView, level int) (lo, hi uint64) {
	j := f.top - level
	if j < 0 || j >= f.levels {
		return 0, 0
	}
	r.OfLevel.Touch(uint64(f.first+j), uint64(f.first+j+2))
	lo, hi = r.C.LevelNode[f.first+j], r.C.LevelNode[f.first+j+1]
	r.OfNode.Touch(lo, hi)
	return lo, hi
}

// descend yields the blocks of a lane, and the rows between them.
func (c *coverer) descend(n int) error {
	if c.nodes.levels == 0 {
		return nil
	}
	if c.level == store.Coarsest && c.whole && c.section.tops != nil {
		c.from, c.next = c.r.End, c.v.Len()
		return c.visit.Block(c.id, c.lane, 0, c.r.End, c.section.top(n))
	}
	if c.level == store.Coarsest {
		at := uint64(c.nodes.first)
		c.r.OfLevel.Touch(at, at+1)
		return c.node(c.nodes.top, c.r.C.LevelNode[at], 0, 0) // at the top there is one, and it begins with the trace
	}
	return c.bins()
}

// bins goes through the nodes of one level. O(log n + blocks).
func (c *coverer) bins() error {
	lo, hi := c.r.nodes(c.nodes, c.level)
	if lo == hi {
		return nil
	}
	index := c.r.C.NodeIndex[lo:hi]
	first := int64((c.in.Begin + 1<<c.level - 1) >> c.level)
	from := firstNode(index, first)
	c.section.bring(lo+uint64(from), lo+uint64(firstNode(index, int64(c.in.End>>c.level))))
	for i := from; i < len(index); i++ {
		if trace.Time(index[i]+1)<<c.level > c.in.End {
			return nil
		}
		if err := c.block(c.level, index[i], lo+uint64(i)); err != nil {
			return err
		}
	}
	return nil
}

// node yields a node, at some place in its level, or goes into its halves; those
// that do not exist are left to rows. O(levels).
func (c *coverer) node(level int, at uint64, index int64, in int) error {
	begin, end := trace.Time(index)<<level, trace.Time(index+1)<<level
	if end <= c.in.Begin || begin >= c.in.End {
		return nil
	}
	if begin >= c.in.Begin && (end <= c.in.End || c.in.Until > c.r.End) { // nothing lies past the trace
		return c.block(level, index, at)
	}
	if begin < c.from {
		c.near = nodePlace{level, index, at, true}
	}
	lo, hi := c.r.nodes(c.nodes, level-1)
	if lo == hi {
		return nil
	}
	if int64(hi-lo) == int64(c.r.End>>(level-1))+1 {
		// None is missing: their numbers are their places, and need not be read.
		for i := 2 * index; i <= 2*index+1 && i < int64(hi-lo); i++ {
			if err := c.node(level-1, lo+uint64(i), i, int(i)); err != nil {
				return err
			}
		}
		return nil
	}
	halves := c.r.C.NodeIndex[lo:hi]
	for i := firstHalf(halves, 2*index, 2*in); i < len(halves) && halves[i] <= 2*index+1; i++ {
		if err := c.node(level-1, lo+uint64(i), halves[i], i); err != nil {
			return err
		}
	}
	return nil
}

// firstHalf returns the same as firstNode, but tries a likely place first: twice that of the node above, which is
// right if all have two halves.
func firstHalf(nodes []int64, index int64, guess int) int {
	if guess < len(nodes) && nodes[guess] == index {
		return guess
	}
	return firstNode(nodes, index)
}

// firstNode returns the place of the first node of a level that is not before index. In
// a lane without long gaps it is found at once.
func firstNode(nodes []int64, index int64) int {
	if i := index - nodes[0]; i >= 0 && i < int64(len(nodes)) && nodes[i] == index {
		return int(i)
	}
	i, _ := slices.BinarySearch(nodes, index)
	return i
}

// block yields a block, after the rows that are before it. Which rows are next is
// not asked before they are wanted: mostly another block follows.
func (c *coverer) block(level int, index int64, at uint64) error {
	begin, end := trace.Time(index)<<level, trace.Time(index+1)<<level
	if c.from < begin {
		if err := c.rows(begin, int(c.r.C.NodeRow[at]), false); err != nil {
			return err
		}
	}
	c.from, c.next, c.near = end, -1, nodePlace{level, index, at, true}
	if end > c.r.End { // it has all rows to the last
		end = c.r.End
		c.from, c.next = end, c.v.Len()
	}
	return c.visit.Block(c.id, c.lane, begin, end, c.section.block(at))
}

// A nodePlace is a node of the summary tree and where it is in table node.
type nodePlace struct {
	level int
	index int64
	at    uint64
	known bool
}

// nextRow returns the first row that begins at c.from or later: one of those of the node
// nearby, or the first of the node that follows it. O(log rows of the node).
func (c *coverer) nextRow() int {
	if c.next >= 0 {
		return c.next
	}
	p := &c.near
	if !p.known {
		c.next = c.v.FirstFrom(c.from)
		return c.next
	}
	_, last := c.r.nodes(c.nodes, p.level)
	lo, hi := int(c.r.C.NodeRow[p.at]), c.v.Len()
	if p.at+1 < last {
		hi = int(c.r.C.NodeRow[p.at+1])
		if c.r.C.NodeIndex[p.at+1] == p.index+1 && c.from == trace.Time(p.index+1)<<p.level {
			c.next = hi
			return hi
		}
	}
	c.next = c.v.FirstIn(lo, hi, c.from)
	return c.next
}
