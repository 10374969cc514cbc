package overview

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// mostNodes and mostCells bound the programme, which takes nodes × slices² of
	// memory and nodes × slices³ of time.
	mostNodes  = 480
	mostSlices = 400
	mostCells  = 8 << 20
	// usualSlices are taken where the user does not say, fewer of very many locations.
	usualSlices = 80
)

// A gatherer reads what is prepared.
type gatherer struct {
	request *view.Request
	*prepared
	leaves []int32 // of the hierarchy, below each node
}

// prepare reads the slices and measures every node over every stretch of them.
func (g *gatherer) prepare(ctx context.Context, a view.Arranged) (err error) {
	q := g.request
	s := q.Store()
	var note string
	if g.hierarchy, note, err = q.Hierarchy(ctx, a, grouping.Order, s.Locations().Holds); err != nil {
		return err
	}
	if g.hierarchy.Leaves == 0 {
		return view.Empty("choose other locations", "no location with intervals in the selection")
	}
	g.slice(q.Values.Integer("bins"))
	if note != "" {
		g.notes = append(g.notes, note)
	}
	g.countLeaves()
	if err := g.reduce(ctx); err != nil {
		return err
	}
	cells, err := g.cells(ctx)
	if err != nil {
		return err
	}
	gain := entropy.GainValues
	if q.Values.Text("gain") == "entropy" {
		gain = entropy.GainEntropy
	}
	g.programme, err = entropy.NewCells(ctx, g.tree, g.slices(), cells, gain)
	return err
}

// slice cuts the selection into as many equal slices as asked for.
func (g *gatherer) slice(asked int) {
	sel := g.request.Selection
	most := int(math.Sqrt(mostCells / float64(min(g.hierarchy.Len(), mostNodes))))
	n := asked
	if asked <= 0 {
		n = min(usualSlices, max(16, (1<<24)/g.hierarchy.Leaves))
	}
	n = int(min(trace.Time(min(n, most, mostSlices)), sel.End-sel.Begin))
	g.edges = make([]trace.Time, n+1)
	for k := range g.edges {
		// k/n of the window without leaving 64 bits.
		hi, lo := bits.Mul64(uint64(sel.End-sel.Begin), uint64(k))
		x, _ := bits.Div64(hi, lo, uint64(n))
		g.edges[k] = sel.Begin + trace.Time(x)
	}
	more := ""
	if asked > n {
		more = fmt.Sprintf(", fewer than asked for: %d would be too many to weigh", asked)
		if trace.Time(n) == sel.End-sel.Begin {
			more = ", fewer than asked for: the time has no more"
		}
	}
	if n == 1 {
		g.notes = append(g.notes, "1 slice"+more)
		return
	}
	g.notes = append(g.notes, fmt.Sprintf("%d slices of %s%s", n, view.FormatDuration(float64(sel.End-sel.Begin)/float64(n)), more))
}

func (g *gatherer) countLeaves() {
	h := g.hierarchy
	g.leaves = make([]int32, h.Len())
	for i := h.Len() - 1; i >= 0; i-- {
		if h.Last[i] == int32(i) {
			g.leaves[i] = 1
		}
		if p := h.Parent[i]; p >= 0 {
			g.leaves[p] += g.leaves[i]
		}
	}
}

// each reads the role times of every leaf of the hierarchy, in order, a batch a query.
func (g *gatherer) each(ctx context.Context, f func(leaf int32, times []trace.Time)) error {
	h, size := g.hierarchy, g.slices()*trace.RoleCount
	batch := max(64, (8<<20)/size)
	var nodes []int32
	var ids []trace.LocationID
	flush := func() error {
		times, err := store.RoleTimes(ctx, g.request.Store(), ids, g.edges)
		if err != nil {
			return err
		}
		for k, i := range nodes {
			f(i, times[k*size:(k+1)*size])
		}
		nodes, ids = nodes[:0], ids[:0]
		return ctx.Err()
	}
	for i := range int32(h.Len()) {
		if h.Last[i] > i {
			continue
		}
		if nodes, ids = append(nodes, i), append(ids, h.Location[i]); len(ids) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// reduce keeps the whole hierarchy where it is small enough, else opens the groups
// that lose most as one in each slice, the largest loss first, while there is room.
// What stays shut still counts all its locations, see entropy.Cells.
func (g *gatherer) reduce(ctx context.Context) error {
	h := g.hierarchy
	open := make([]bool, h.Len())
	if h.Len() <= mostNodes {
		for i := range open {
			open[i] = h.Last[i] > int32(i)
		}
		g.build(open)
		return nil
	}
	loss, err := g.losses(ctx)
	if err != nil {
		return err
	}
	queue := &byLoss{loss: loss, nodes: []int32{0}}
	nodes, rest := 1, loss[0]
	for queue.Len() > 0 {
		i := heap.Pop(queue).(int32)
		var children []int32
		for c := i + 1; c <= h.Last[i]; c = h.Last[c] + 1 {
			children = append(children, c)
		}
		if nodes+len(children) > mostNodes {
			continue
		}
		nodes += len(children)
		open[i] = true
		rest -= loss[i]
		for _, c := range children {
			rest += loss[c]
			if h.Last[c] > c && loss[c] > 0 { // what is all alike would only take room
				heap.Push(queue, c)
			}
		}
	}
	g.build(open)
	shut, hidden := 0, 0
	for i := range g.tree.Len() {
		if g.tree.Leaf(i) && g.count[i] > 1 {
			shut++
			hidden += int(g.count[i])
		}
	}
	if shut == 0 {
		return nil
	}
	verb := "stand"
	if shut == 1 {
		verb = "stands"
	}
	text := fmt.Sprintf("%s %s for %s", view.Count(shut, "row"), verb, view.Count(hidden, "location"))
	if loss[0] > 0 {
		text += fmt.Sprintf(", which hides %s of how locations differ", view.FormatShare(max(rest, 0)/loss[0]))
	}
	g.notes = append(g.notes, text)
	return nil
}

// losses gives what each node of the hierarchy loses as one, slice by slice. It goes
// through the leaves in order and keeps sums only of the nodes around the present one:
// O(nodes × slices) time, O(depth × slices) memory.
func (g *gatherer) losses(ctx context.Context) ([]float64, error) {
	h, size := g.hierarchy, g.slices()*trace.RoleCount
	type around struct {
		node int32
		sum  []trace.Time
		info float64
	}
	var stack, free []around
	out := make([]float64, h.Len())
	shut := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		log := math.Log2(float64(g.leaves[top.node]))
		loss, cancel := top.info, math.Abs(top.info)
		for _, t := range top.sum {
			if t > 0 {
				v := float64(t) / 1e9
				loss += v*log - entropy.XLog2(v)
				cancel += v*log + math.Abs(entropy.XLog2(v))
			}
		}
		if loss > 1e-12*cancel {
			out[top.node] = loss
		}
		if k := len(stack); k > 0 {
			for i, t := range top.sum {
				stack[k-1].sum[i] += t
			}
			stack[k-1].info += top.info
		}
		clear(top.sum)
		free = append(free, top)
	}
	next := int32(0) // the first node that is not on the stack yet
	err := g.each(ctx, func(leaf int32, times []trace.Time) {
		for ; next <= leaf; next++ {
			for k := len(stack); k > 0 && h.Last[stack[k-1].node] < next; k-- {
				shut()
			}
			if h.Last[next] == next {
				continue
			}
			x := around{sum: nil}
			if k := len(free); k > 0 {
				x, free = free[k-1], free[:k-1]
			} else {
				x.sum = make([]trace.Time, size)
			}
			x.node, x.info = next, 0
			stack = append(stack, x)
		}
		if len(stack) == 0 {
			return // a single location
		}
		top := &stack[len(stack)-1]
		for i, t := range times {
			if t > 0 {
				top.sum[i] += t
				top.info += entropy.XLog2(float64(t) / 1e9)
			}
		}
	})
	for len(stack) > 0 {
		shut()
	}
	return out, err
}

// byLoss is a heap of nodes, the largest loss first, of equal ones the first.
type byLoss struct {
	loss  []float64
	nodes []int32
}

func (b *byLoss) Len() int { return len(b.nodes) }
func (b *byLoss) Less(x, y int) bool {
	if i, k := b.nodes[x], b.nodes[y]; b.loss[i] != b.loss[k] {
		return b.loss[i] > b.loss[k]
	} else {
		return i < k
	}
}
func (b *byLoss) Swap(x, y int) { b.nodes[x], b.nodes[y] = b.nodes[y], b.nodes[x] }
func (b *byLoss) Push(x any)    { b.nodes = append(b.nodes, x.(int32)) }
func (b *byLoss) Pop() any {
	x := b.nodes[len(b.nodes)-1]
	b.nodes = b.nodes[:len(b.nodes)-1]
	return x
}

// build makes the tree of the nodes that are open and their children.
func (g *gatherer) build(open []bool) {
	h := g.hierarchy
	place := make([]int32, h.Len())
	g.tree = &entropy.Tree{}
	for i := int32(0); i < int32(h.Len()); {
		parent := int32(-1)
		if p := h.Parent[i]; p >= 0 {
			parent = place[p]
		}
		place[i] = int32(len(g.node))
		g.node, g.count = append(g.node, i), append(g.count, float64(g.leaves[i]))
		g.tree.Parent, g.tree.Last = append(g.tree.Parent, parent), append(g.tree.Last, place[i])
		if open[i] {
			i++
		} else {
			i = h.Last[i] + 1
		}
	}
	for i := g.tree.Len() - 1; i > 0; i-- {
		p := g.tree.Parent[i]
		g.tree.Last[p] = max(g.tree.Last[p], g.tree.Last[i])
	}
}

// cells adds up role × leaf × slice in seconds, and the information of each location.
func (g *gatherer) cells(ctx context.Context) (*entropy.Cells, error) {
	n, slices := g.tree.Len(), g.slices()
	size := slices * trace.RoleCount
	sum, info := make([]trace.Time, n*size), make([]float64, n*size)
	at, total := 0, [trace.RoleCount]trace.Time{}
	err := g.each(ctx, func(leaf int32, times []trace.Time) {
		for g.hierarchy.Last[g.node[at]] < leaf || !g.tree.Leaf(at) {
			at++ // the leaf of the reduced tree that holds it
		}
		for i, t := range times {
			if t > 0 {
				sum[at*size+i] += t
				info[at*size+i] += entropy.XLog2(float64(t) / 1e9)
				total[i%trace.RoleCount] += t
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for role := 1; role < trace.RoleCount; role++ {
		if total[role] > 0 {
			g.roles = append(g.roles, trace.Role(role))
		}
	}
	if len(g.roles) == 0 {
		return nil, view.Empty("choose a longer time", "nothing happens in the selection")
	}
	c := &entropy.Cells{Count: g.count}
	for _, role := range g.roles {
		v, f := make([]float64, n*slices), make([]float64, n*slices)
		for i := range v {
			v[i], f[i] = float64(sum[i*trace.RoleCount+int(role)])/1e9, info[i*trace.RoleCount+int(role)]
		}
		c.Sum, c.Info = append(c.Sum, v), append(c.Info, f)
	}
	return c, nil
}
