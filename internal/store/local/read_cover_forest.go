package local

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A forestView is the nodes of one lane: levels rows of table level from first on,
// the coarsest at the top of the forest.
type forestView struct {
	first, levels int
	top           int
}

func (r *Reader) forest(n int) forestView {
	a, b := r.c.laneForest[n], r.c.laneForest[n+1]
	return forestView{int(a), int(b - a), topLevel(r.info.End)}
}

// nodes gives the range of table node of a level; empty where there are none.
func (r *Reader) nodes(f forestView, level int) (lo, hi uint64) {
	j := f.top - level
	if j < 0 || j >= f.levels {
		return 0, 0
	}
	return r.c.levelNode[f.first+j], r.c.levelNode[f.first+j+1]
}

// descend hands out the blocks of a lane, and the rows between them.
func (c *coverer) descend() error {
	if c.nodes.levels == 0 {
		return nil
	}
	if c.level == store.Coarsest {
		return c.node(c.nodes.top, c.r.c.levelNode[c.nodes.first])
	}
	return c.bins()
}

// bins goes through the nodes of one level. O(log n + blocks).
func (c *coverer) bins() error {
	lo, hi := c.r.nodes(c.nodes, c.level)
	if lo == hi {
		return nil
	}
	index := c.r.c.nodeIndex[lo:hi]
	first := int64((c.in.begin + 1<<c.level - 1) >> c.level)
	for i := firstNode(index, first); i < len(index); i++ {
		if trace.Time(index[i]+1)<<c.level > c.in.end {
			return nil
		}
		if err := c.block(c.level, index[i], lo+uint64(i)); err != nil {
			return err
		}
	}
	return nil
}

// node hands out a node or goes into its halves; those that do not exist are left
// to rows. O(levels).
func (c *coverer) node(level int, at uint64) error {
	index := c.r.c.nodeIndex[at]
	begin, end := trace.Time(index)<<level, trace.Time(index+1)<<level
	if end <= c.in.begin || begin >= c.in.end {
		return nil
	}
	if begin >= c.in.begin && end <= c.in.end {
		return c.block(level, index, at)
	}
	lo, hi := c.r.nodes(c.nodes, level-1)
	if lo == hi {
		return nil
	}
	i := firstNode(c.r.c.nodeIndex[lo:hi], 2*index)
	for k := lo + uint64(i); k < hi && c.r.c.nodeIndex[k] <= 2*index+1; k++ {
		if err := c.node(level-1, k); err != nil {
			return err
		}
	}
	return nil
}

// firstNode is the place of the first node of a level that is not before index. In
// a lane without long gaps it is found at once.
func firstNode(nodes []int64, index int64) int {
	if i := index - nodes[0]; i >= 0 && i < int64(len(nodes)) && nodes[i] == index {
		return int(i)
	}
	i, _ := slices.BinarySearch(nodes, index)
	return i
}

// block hands out a block, after the rows that lie before it.
func (c *coverer) block(level int, index int64, at uint64) error {
	begin, end := trace.Time(index)<<level, trace.Time(index+1)<<level
	first := int(c.r.c.nodeRow[at])
	if err := c.rows(begin, first, false); err != nil {
		return err
	}
	c.from, c.next = end, c.rowAfter(level, index, at, first)
	return c.visit.Block(c.id, c.lane, begin, end, c.section.block(at))
}

// rowAfter is the first row that begins after a node, whose first row is given: that
// of the next node where this follows without a gap.
func (c *coverer) rowAfter(level int, index int64, at uint64, first int) int {
	end := c.v.len()
	if _, hi := c.r.nodes(c.nodes, level); at+1 < hi {
		end = int(c.r.c.nodeRow[at+1])
		if c.r.c.nodeIndex[at+1] == index+1 {
			return end
		}
	}
	return first + firstFrom(c.v.begin[first:end], trace.Time(index+1)<<level)
}
