package invocation

import (
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Call is one node of an invocation tree.
type Call struct {
	Location   trace.LocationID
	Lane       int32
	Row        int32
	Region     trace.RegionID
	Begin, End trace.Time
}

// Calls are the nodes of an invocation tree in the order of Tree: parents before
// children, else by begin. Columns, 32 bytes a call; 28 where they come
// lane by lane.
type Calls struct {
	Tree *Tree
	// Virtual is set where node 0 is not a call but is above several roots.
	Virtual bool
	// Late is the number of calls whose parent begins after them, as clocks that
	// disagree make them: they come right after it, out of the order of time.
	Late int
	// Cut is the number of calls that would be their own ancestors: they hang on the root.
	Cut int

	Begin, End []trace.Time
	Region     []trace.RegionID
	lane       []int32 // of lanes; nil: see joined
	row        []int32
	lanes      []*Lane // emptied when the tree is finished

	// Nodes lane by lane:
	joined []int32 // of lanes in the order of Collect: their first node; nil: nodes are in the order of time
	starts []int32 // of lanes: their first node
	level  []int32
	height int
	order  sync.Once
	number []int32 // of nodes in the order of time, once it was asked for

	// Nodes that stay in the store, see OfRows; there are no columns then:
	rows             *rowTree
	outline          *Outline
	begin, last, end trace.Time // of the root, and the begin of the last call
}

// Len is the number of nodes, the virtual root among them.
func (c *Calls) Len() int {
	if c.rows != nil {
		return int(c.rows.nodes)
	}
	return len(c.Begin)
}

// Location of a node; none for the virtual root.
func (c *Calls) Location(i int32) trace.LocationID {
	if k := c.laneOf(i); k >= 0 {
		return c.lanes[k].Location
	}
	return trace.NoLocation
}

// At returns a node whole.
func (c *Calls) At(i int32) Call {
	if c.rows != nil {
		return c.Pick([]int32{i}, OfRegion|OfTime, nil)[0].Call
	}
	k := Call{Location: trace.NoLocation, Row: c.rowOf(i), Region: c.Region[i], Begin: c.Begin[i], End: c.End[i]}
	if l := c.laneOf(i); l >= 0 {
		k.Location, k.Lane = c.lanes[l].Location, c.lanes[l].Lane
	}
	return k
}

// Locations calls f for the location of every lane with the number of its calls.
func (c *Calls) Locations(f func(id trace.LocationID, calls int)) {
	for _, l := range c.lanes {
		f(l.Location, l.calls)
	}
}

// Rows returns the node of each row, -1 for none: those of row r of lane k, as number numbers lanes, are
// nodes[from[k]+r].
func (c *Calls) Rows(lanes int, number func(trace.LocationID, int32) int) (from []int, nodes []int32) {
	from = make([]int, lanes+1)
	place := make([]int, len(c.lanes)) // of lanes among those of number
	for k, l := range c.lanes {
		place[k] = number(l.Location, l.Lane)
		from[place[k]+1] = l.first + l.rows
	}
	for i := 1; i < len(from); i++ {
		from[i] += from[i-1]
	}
	for k := range place {
		place[k] = from[place[k]]
	}
	nodes = make([]int32, from[lanes])
	for i := range nodes {
		nodes[i] = -1
	}
	for i := range int32(c.Len()) {
		if l := c.laneOf(i); l >= 0 {
			nodes[place[l]+int(c.rowOf(i))] = i
		}
	}
	return from, nodes
}

// Find returns the node of a row of a lane; -1 for none. O(nodes).
func (c *Calls) Find(location trace.LocationID, lane, row int32) int32 {
	for k, l := range c.lanes {
		if l.Location != location || l.Lane != lane {
			continue
		}
		if c.rows != nil {
			if row >= 0 && int(row) < l.calls {
				return c.starts[k] + row
			}
			continue
		}
		if c.Joined() {
			for i := range int32(l.calls) {
				if l.rowAt(int(i)) == row {
					return c.starts[k] + i
				}
			}
			continue
		}
		for i, of := range c.lane {
			if of == int32(k) && c.row[i] == row {
				return int32(i)
			}
		}
	}
	return -1
}

// SizeBytes returns the memory of the nodes.
func (c *Calls) SizeBytes() int64 {
	if c.rows != nil {
		return 160*int64(len(c.lanes)) + c.outline.SizeBytes()
	}
	if c.Joined() {
		return 28*int64(len(c.Begin)) + 4*int64(len(c.number))
	}
	return 32 * int64(len(c.Begin))
}

// Collect orders the calls of lanes by their begin, and hangs each below the one
// that lies around it. Spawn may hang it elsewhere; Finish must follow. The lanes
// are merged in parts of time, one a core: O(n log lanes).
func Collect(lanes []*Lane) *Calls {
	total := 0
	for _, l := range lanes {
		l.calls = l.Len()
		l.place = make([]int32, l.calls)
		total += l.Len()
	}
	n := total + 1 // the virtual root comes first
	c := &Calls{Tree: &Tree{Parent: make([]int32, n)}, Begin: make([]trace.Time, n), End: make([]trace.Time, n),
		Region: make([]trace.RegionID, n), lane: make([]int32, n), row: make([]int32, n), lanes: lanes}
	cuts := cutTimes(lanes, total)
	var wait sync.WaitGroup
	var caught parallel.Caught
	from, at := make([]int, len(lanes)), 1
	for k := 0; k <= len(cuts); k++ {
		to, next := make([]int, len(lanes)), at
		for i, l := range lanes {
			to[i] = l.Len()
			if k < len(cuts) {
				to[i] = l.from(cuts[k])
			}
			next += to[i] - from[i]
		}
		start, begin, end := from, at, to
		wait.Go(func() { _ = caught.Do(func() error { c.merge(start, end, begin); return nil }) })
		from, at = to, next
	}
	wait.Wait()
	caught.Pass()
	for k, l := range lanes {
		for i, p := range l.parent {
			up := int32(-1)
			if p >= 0 {
				up = lanes[k].place[p]
			}
			c.Tree.Parent[l.place[i]] = up
		}
		l.begin, l.end, l.region, l.parent = nil, nil, nil, nil
	}
	return c
}

// cutTimes cuts the run into as many parts as there are cores, by a sample of
// begins. Small runs are one part.
func cutTimes(lanes []*Lane, total int) (cuts []trace.Time) {
	const few = 1 << 16
	parts := min(parallel.Workers(), total/few)
	if parts < 2 {
		return nil
	}
	step := max(1, total/4096)
	var sample []trace.Time
	for _, l := range lanes {
		for i := step / 2; i < l.Len(); i += step {
			sample = append(sample, l.begin[i])
		}
	}
	slices.Sort(sample)
	for k := 1; k < parts && len(sample) > 0; k++ {
		if t := sample[k*len(sample)/parts]; len(cuts) == 0 || t > cuts[len(cuts)-1] {
			cuts = append(cuts, t)
		}
	}
	return cuts
}

// merge writes the calls from…to of every lane to the tree's columns from at on, by
// begin, of equal ones those of the first lane first.
func (c *Calls) merge(from, to []int, at int) {
	var h mergeHeap
	for k, l := range c.lanes {
		if from[k] < to[k] {
			h = append(h, cursor{l.begin[from[k]], int32(k), int32(from[k])})
		}
	}
	h.build()
	for len(h) > 0 {
		top := h[0]
		l := c.lanes[top.lane]
		second, rival := h.second()
		i, last := int(top.at), to[top.lane]
		for { // a run of calls that no other lane comes between
			c.Begin[at], c.End[at], c.Region[at] = l.begin[i], l.end[i], l.region[i]
			c.lane[at], c.row[at] = top.lane, l.rowAt(i)
			l.place[i] = int32(at)
			at++
			i++
			if i == last {
				h.pop()
				break
			}
			if t := l.begin[i]; t > second || t == second && top.lane > rival {
				h[0].begin, h[0].at = t, int32(i)
				h.down(0)
				break
			}
		}
	}
}

// A Spot is a row of a lane, by the lane's number in Collect.
type Spot struct{ Lane, Row int32 }

// Node returns the node that a row is, or the nearest call around it; -1 for none.
// Only between Collect and Finish.
func (c *Calls) Node(s Spot) int32 {
	l := c.lanes[s.Lane]
	if i := l.at(s.Row); i >= 0 {
		return l.place[i]
	}
	return -1
}

// Parent is the node that a node hangs below now, -1 for none.
func (c *Calls) Parent(node int32) int32 {
	if c.rows != nil {
		return c.outline.Parent(node)
	}
	return c.Tree.Parent[node]
}

// Spawn hangs a node below the one that made it.
func (c *Calls) Spawn(node, maker int32) {
	if node != maker {
		c.Tree.Parent[node] = maker
	}
}

// Listed makes nodes of calls that are in their order already, each with the place of its parent, -1 for none.
func Listed(list []Call, parent []int32) *Calls {
	n := len(list)
	c := &Calls{Tree: &Tree{Parent: parent}, Begin: make([]trace.Time, n), End: make([]trace.Time, n),
		Region: make([]trace.RegionID, n), lane: make([]int32, n), row: make([]int32, n)}
	type lane struct {
		location trace.LocationID
		lane     int32
	}
	number := map[lane]int32{}
	for i := range list {
		x := &list[i]
		k, ok := number[lane{x.Location, x.Lane}]
		if !ok {
			k = int32(len(c.lanes))
			number[lane{x.Location, x.Lane}] = k
			c.lanes = append(c.lanes, &Lane{Location: x.Location, Lane: x.Lane})
		}
		c.lanes[k].calls++
		c.Begin[i], c.End[i], c.Region[i], c.lane[i], c.row[i] = x.Begin, x.End, x.Region, k, x.Row
	}
	return c
}
