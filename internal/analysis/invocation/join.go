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
	for _, l := range lanes {
		l.calls = l.Len()
	}
	j := NewJoiner(lanes, compare)
	_ = parallel.For(context.Background(), len(lanes), func(k int) { j.take(k) })
	for _, l := range lanes {
		l.begin, l.end, l.region, l.parent, l.stand = nil, nil, nil, nil, nil
	}
	return j.Calls()
}

// A Joiner lays calls out while they are read: lane by lane below a virtual root, see Join. Each call is written once,
// to its place.
type Joiner struct {
	calls *Calls
	lanes []*Lane // in the order of Collect
	done  []int32 // of each, calls added
}

// NewJoiner makes room for lanes with so many calls each.
func NewJoiner(lanes []*Lane, compare func(a, b *Lane) int) *Joiner {
	sorted, first, starts, n := inOrder(lanes, compare)
	c := &Calls{Tree: &Tree{Parent: make([]int32, n)}, Virtual: true, Begin: make([]trace.Time, n),
		End: make([]trace.Time, n), Region: make([]trace.RegionID, n), level: make([]int32, n), lanes: sorted,
		joined: first, starts: starts}
	touch(c.Begin)
	touch(c.End)
	touch(c.Region)
	touch(c.level)
	touch(c.Tree.Parent)
	return &Joiner{calls: c, lanes: lanes, done: make([]int32, len(lanes))}
}

// inOrder brings lanes into the order of sectors. It gives their first nodes in both orders, and how many nodes there
// are with the root.
func inOrder(lanes []*Lane, compare func(a, b *Lane) int) (sorted []*Lane, first, starts []int32, n int32) {
	turn := make([]int32, len(lanes)) // the place of each lane in the order of sectors
	for k := range turn {
		turn[k] = int32(k)
	}
	slices.SortStableFunc(turn, func(a, b int32) int { return compare(lanes[a], lanes[b]) })
	sorted, first, starts = make([]*Lane, len(lanes)), make([]int32, len(lanes)), make([]int32, len(lanes))
	n = 1
	for i, k := range turn {
		sorted[i], first[k], starts[i] = lanes[k], n, n
		n += int32(lanes[k].calls)
	}
	return sorted, first, starts, n
}

// touch takes the memory of a column, each part of it on one core. Lanes are short against the pages of a large column,
// and cores that are the first to write to one page at once wait for each other.
func touch[T trace.Time | trace.RegionID | int32](column []T) {
	const part, page = 1 << 20, 512
	var zero T
	_ = parallel.For(context.Background(), (len(column)+part-1)/part, func(k int) {
		for i := k * part; i < min((k+1)*part, len(column)); i += page {
			column[i] = zero
		}
	})
}

// Counted returns a lane that has so many calls.
func Counted(id trace.LocationID, calls int) *Lane { return &Lane{Location: id, calls: calls} }

// Add adds the next rows of a lane, all of which are calls. It returns false if they are more than there is room for.
// Lanes may be added to at once.
func (j *Joiner) Add(k int, rows *trace.Columns) bool {
	l, c := j.lanes[k], j.calls
	if int(j.done[k])+rows.Len() > l.calls {
		return false
	}
	if j.done[k] == 0 {
		l.first = rows.First
	}
	at, first := j.calls.joined[k]+j.done[k], j.calls.joined[k]-int32(l.first)
	for i, begin := range rows.Begin {
		to := at + int32(i)
		c.Begin[to], c.End[to], c.Region[to] = begin, begin+rows.Duration[i], rows.Region[i]
		up := int32(0)
		if p := rows.Parent[i]; p >= int32(l.first) {
			up = first + p
		}
		c.Tree.Parent[to], c.level[to] = up, c.level[up]+1
	}
	j.done[k] += int32(rows.Len())
	l.rows += rows.Len()
	return true
}

// take writes the calls of a lane that has them.
func (j *Joiner) take(k int) {
	l, c := j.lanes[k], j.calls
	at := c.joined[k]
	copy(c.Begin[at:], l.begin)
	copy(c.End[at:], l.end)
	copy(c.Region[at:], l.region)
	for i, p := range l.parent {
		to, up := at+int32(i), int32(0)
		if p >= 0 {
			up = at + p
		}
		c.Tree.Parent[to], c.level[to] = up, c.level[up]+1
	}
	j.done[k] = int32(l.calls)
}

// Calls returns the nodes; nil if a lane has fewer calls than there was room for.
func (j *Joiner) Calls() *Calls {
	c := j.calls
	for k, l := range j.lanes {
		if int(j.done[k]) != l.calls {
			return nil
		}
	}
	deep, last := make([]int32, len(j.lanes)), make([]trace.Time, len(j.lanes))
	_ = parallel.For(context.Background(), len(j.lanes), func(k int) {
		from, to := c.joined[k], c.joined[k]+j.done[k]
		deep[k], last[k] = slices.Max(c.level[from:to]), slices.Max(c.End[from:to])
	})
	c.Tree.Parent[0], c.Region[0] = -1, trace.NoRegion
	c.Begin[0], c.End[0] = math.MaxInt64, slices.Max(last)
	for _, at := range c.joined {
		c.Begin[0] = min(c.Begin[0], c.Begin[at])
	}
	c.height = int(slices.Max(deep)) + 1
	return c
}

// Span is when the first and the last call begin; in a lane of joined ones these are its first and its last.
func (c *Calls) Span() (first, last trace.Time) {
	if c.rows != nil {
		return c.begin, c.last
	}
	if !c.Joined() {
		from := 0
		if c.Virtual {
			from = 1
		}
		if from >= c.Len() {
			return 0, 0
		}
		return slices.Min(c.Begin[from:]), slices.Max(c.Begin[from:])
	}
	first, last = math.MaxInt64, math.MinInt64
	for _, at := range c.joined {
		first, last = min(first, c.Begin[at]), max(last, c.Begin[c.laneEnd(at)-1])
	}
	return first, last
}

// Roots counts the calls of a lane that are in no other.
func (l *Lane) Roots() (n int) {
	for _, p := range l.parent {
		if p < 0 {
			n++
		}
	}
	return n
}

// laneEnd is the place behind the lane that begins at a node.
func (c *Calls) laneEnd(at int32) int32 { return at + int32(c.lanes[c.laneOf(at)].calls) }

// laneOf is the place of a node's lane among the lanes; -1 for the virtual root.
func (c *Calls) laneOf(i int32) int32 {
	if c.rows != nil && i == 0 {
		return -1
	}
	if !c.Joined() {
		return c.lane[i]
	}
	k, at := slices.BinarySearch(c.starts, i)
	if !at {
		k--
	}
	return int32(k)
}

// rowOf is the row of a node; -1 for the virtual root.
func (c *Calls) rowOf(i int32) int32 {
	if !c.Joined() {
		return c.row[i]
	}
	if k := c.laneOf(i); k >= 0 {
		return c.lanes[k].rowAt(int(i - c.starts[k]))
	}
	return -1
}

// Levels returns the level of every node and the height, as those of its tree.
func (c *Calls) Levels() (level []int32, height int) {
	if !c.Joined() {
		return c.Tree.Levels()
	}
	return c.level, c.height
}

// Joined reports whether nodes come lane by lane, in the order of sectors, and not by begin.
func (c *Calls) Joined() bool { return c.joined != nil || c.rows != nil }

// Outline returns the outline of nodes that come lane by lane.
func (c *Calls) Outline() *Outline {
	if c.rows != nil {
		return c.outline
	}
	return NewOutline(c.level)
}

// Number is the place of a node in the order of the run: by begin, of equal ones that of the first lane first.
func (c *Calls) Number(node int32) int32 {
	if c.rows != nil {
		return c.rows.number(node)
	}
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
