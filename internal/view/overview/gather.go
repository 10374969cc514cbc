package overview

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
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
	// usualSlices are taken where the user does not say, fewer of very many locations; see settle.
	usualSlices = 80
)

// A gatherer reads the prepared data.
type gatherer struct {
	request *view.Request
	*prepared
	leaves []int32 // of the hierarchy, below each node
	widths []trace.Time
	full   []float64        // information of a location that spends all of a slice in one role
	sheets map[int32]*sheet // of large nodes of the hierarchy, see losses
	other  *subtraction     // of a difference
	roles  int              // how many numbers of states there may be
	opened int              // notes before the slices
	wanted int              // slices, if the user does not say; 0: usualSlices
	kept   bool             // the start is that next to the store
	start  *start           // that was read to be kept
	// coarser says why there are fewer slices than usual; "" if there are not.
	coarser string
}

// prepare reads the slices and measures every node over every stretch of them.
func (g *gatherer) prepare(ctx context.Context, a view.Arranged) error {
	if err := g.open(ctx, a); err != nil {
		return err
	}
	if g.isFirst(a) {
		s, err := startOfRun.Of(ctx, &g.request.Runs[0])
		if err != nil {
			return err
		}
		if s.Leaves == g.hierarchy.Leaves && s.Nodes == g.hierarchy.Len() {
			if g.kept = true; s.Slices != g.slices() {
				g.notes, g.widths, g.full = g.notes[:g.opened], nil, nil
				g.slice(s.Slices)
			}
			return g.take(ctx, s)
		}
	}
	s, err := g.read(ctx)
	if err != nil {
		return err
	}
	return g.take(ctx, s)
}

// open finds the rows and the slices.
func (g *gatherer) open(ctx context.Context, a view.Arranged) error {
	q := g.request
	grouped, err := q.Hierarchy(ctx, a, finders, q.Store().Locations().Holds)
	if err != nil {
		return err
	}
	g.hierarchy, g.groupings = grouped.Hierarchy, grouped.Groupings
	if g.hierarchy.Leaves == 0 {
		return view.NoIntervals(q.Store(), "choose other locations",
			"no location with intervals in the selection")
	}
	g.end, g.roles = q.Selection.End, trace.RoleCount
	if wantsDifference(q) {
		g.roles = mostStates
		if err := g.subtract(); err != nil {
			return err
		}
	}
	if grouped.Note != "" {
		g.notes = append(g.notes, grouped.Note)
	}
	g.opened = len(g.notes)
	g.slice(max(q.Values.Integer("bins"), g.wanted))
	return nil
}

// read adds up the times of the rows.
func (g *gatherer) read(ctx context.Context) (*start, error) {
	g.countLeaves()
	before := len(g.notes)
	if err := g.reduce(ctx); err != nil {
		return nil, err
	}
	cells, err := g.cells(ctx)
	if err != nil {
		return nil, err
	}
	s := &start{Leaves: g.hierarchy.Leaves, Nodes: g.hierarchy.Len(), Node: g.node, Parent: g.tree.Parent,
		Last: g.tree.Last, Count: g.count, Slices: g.slices(), Cells: cells,
		Notes: slices.Clone(g.notes[before:])}
	g.notes = g.notes[:before]
	for _, x := range g.states {
		s.States = append(s.States, x.number)
	}
	return s, nil
}

// take measures the programme of a start.
func (g *gatherer) take(ctx context.Context, s *start) (err error) {
	g.tree, g.node, g.count = &entropy.Tree{Parent: s.Parent, Last: s.Last}, s.Node, s.Count
	g.notes = append(g.notes, s.Notes...)
	g.stretch, g.why = s.First, s.Why
	g.states = nil
	for _, number := range s.States {
		g.states = append(g.states, g.stateOf(number))
	}
	gain := entropy.GainValues
	if g.request.Values.Text("gain") == "entropy" {
		gain = entropy.GainEntropy
	}
	g.programme, err = entropy.NewCells(ctx, g.tree, g.slices(), s.Cells, gain)
	return err
}

// slice cuts the selection into as many equal slices as asked for.
func (g *gatherer) slice(asked int) {
	begin, length := g.request.Selection.Begin, g.end-g.request.Selection.Begin
	most := int(math.Sqrt(mostCells / float64(min(g.hierarchy.Len(), mostNodes))))
	n := asked
	if asked <= 0 {
		n = min(usualSlices, max(16, (1<<24)/g.hierarchy.Leaves))
	}
	n = int(min(trace.Time(min(n, most, mostSlices)), length))
	g.edges = make([]trace.Time, n+1)
	for k := range g.edges {
		// k/n of the window without leaving 64 bits.
		hi, lo := bits.Mul64(uint64(length), uint64(k))
		x, _ := bits.Div64(hi, lo, uint64(n))
		g.edges[k] = begin + trace.Time(x)
	}
	for k := range n {
		w := g.edges[k+1] - g.edges[k]
		g.widths, g.full = append(g.widths, w), append(g.full, entropy.XLog2(float64(w)/1e9))
	}
	more := ""
	if asked > n {
		more = fmt.Sprintf(", fewer than asked for: %d would be too many to weigh", asked)
		if trace.Time(n) == length {
			more = ", fewer than asked for: the time has no more"
		}
	}
	if n == 1 {
		g.notes = append(g.notes, "1 slice"+more)
		return
	}
	g.notes = append(g.notes,
		fmt.Sprintf("%d slices of %s%s", n, view.FormatDuration(float64(length)/float64(n)), more))
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

// each reads the role times of the leaves of the hierarchy that are wanted, in order.
func (g *gatherer) each(ctx context.Context, want func(leaf int32) bool,
	f func(leaf int32, runs []store.RoleRun)) error {
	h := g.hierarchy
	room := 0
	if want == nil {
		room = h.Leaves
	}
	leaves, ids := make([]int32, 0, room), make([]trace.LocationID, 0, room)
	for i := range int32(h.Len()) {
		if h.Last[i] == i && (want == nil || want(i)) {
			leaves, ids = append(leaves, i), append(ids, h.Location[i])
		}
	}
	if len(ids) == 0 {
		return ctx.Err()
	}
	take := func(k int, runs []store.RoleRun) error {
		f(leaves[k], runs)
		return nil
	}
	if g.other != nil {
		return g.other.each(ctx, g.request.Store(), ids, g.edges, take)
	}
	return store.RoleRuns(ctx, g.request.Store(), ids, g.edges, take)
}

// reduce keeps the whole hierarchy if it is small enough. Otherwise it opens the groups
// that lose most as one in each slice, the largest loss first, while there is space. A
// group that stays shut still counts all its locations, see entropy.Cells.
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
	g.sheets = map[int32]*sheet{}
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
			if h.Last[c] > c && loss[c] > 0 { // uniform groups would only take space
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
	if rest < 1e-12*loss[0] {
		rest = 0 // only the rounding of differences of large sums
	}
	if loss[0] > 0 {
		text += fmt.Sprintf(", which hides %s of how locations differ", view.FormatShare(rest/loss[0]))
	}
	g.notes = append(g.notes, text+"; --locations looks into some of them, --hierarchy groups them otherwise")
	return nil
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

// cells returns role × leaf × slice in seconds, and the information of each location:
// from the sheets that are kept, and by reading the other leaves' locations.
func (g *gatherer) cells(ctx context.Context) (*entropy.Cells, error) {
	n, slices := g.tree.Len(), g.slices()
	sheets := make([]*sheet, n)
	var roles uint32
	for at, node := range g.node {
		if !g.tree.Leaf(at) {
			continue
		}
		sheets[at] = newSheet(g.roles, slices)
		if own := g.sheets[node]; own != nil {
			own.spread(sheets[at], slices)
			roles |= own.roles
		}
	}
	// holder goes on from a leaf of the reduced tree to the one that holds a location.
	holder := func(at int, leaf int32) int {
		for g.hierarchy.Last[g.node[at]] < leaf || !g.tree.Leaf(at) {
			at++
		}
		return at
	}
	asked, read := 0, 0
	want := func(leaf int32) bool {
		asked = holder(asked, leaf)
		return g.sheets[g.node[asked]] == nil
	}
	err := g.each(ctx, want, func(leaf int32, runs []store.RoleRun) {
		read = holder(read, leaf)
		sheets[read].add(runs, slices)
	})
	if err != nil {
		return nil, err
	}
	for at, s := range sheets {
		if s != nil && g.sheets[g.node[at]] == nil {
			s.settle(g.widths, g.full)
			roles |= s.roles
		}
	}
	for number := range g.roles {
		if roles>>number&1 != 0 && (number > 0 || g.other != nil) {
			g.states = append(g.states, g.stateOf(number))
		}
	}
	if len(g.states) == 0 {
		return nil, view.Empty("choose a longer time", "nothing happens in the selection")
	}
	c := &entropy.Cells{Count: g.count}
	for _, of := range g.states {
		v, f := make([]float64, n*slices), make([]float64, n*slices)
		for i, s := range sheets {
			if s == nil {
				continue
			}
			for k := range slices {
				from := of.number*slices + k
				v[i*slices+k], f[i*slices+k] = float64(s.time[from])/1e9, s.info[from]
			}
		}
		c.Sum, c.Info = append(c.Sum, v), append(c.Info, f)
	}
	return c, nil
}
