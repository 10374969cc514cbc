package invocation

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowTree is a tree whose nodes are rows of a store, lane by lane below a virtual root. They stay there: what is
// asked for is read, block by block.
type rowTree struct {
	store  store.Peeker
	reader store.Reader // the same
	nodes  int32
	lanes  []*Lane  // in the order of sectors
	starts []int32  // of lanes: their first node
	from   []uint64 // of lanes: the number of their first row
	even   bool     // lanes come in the order of the store: node i is row i-1 behind the first
	held   [heldBlocks]atomic.Pointer[levelBlock]
	failed atomic.Pointer[error]
}

// A levelBlock is the levels of a block of nodes.
type levelBlock struct {
	number int32
	level  [rowBlock]int32
}

// heldBlocks is how many blocks of levels stay in memory: those of many pictures.
const heldBlocks = 1 << 11

// rowsOf returns the tree of the lanes of a window with all of the time, if it is known from the lanes alone that their
// rows are its nodes: each location with calls is of a rank, is no goroutine, and has one lane; else nil.
func rowsOf(s store.Reader, p store.Peeker, w store.Window) *rowTree {
	t := s.Locations()
	if s.Info().Intervals >= math.MaxInt32 || w.Begin > 0 || w.End < s.Info().End {
		return nil
	}
	ids := lanesApart(s, w)
	lanes := make([]*Lane, 0, len(ids))
	for _, id := range ids {
		if n := p.RowsBefore(id+1) - p.RowsBefore(id); t.IsAside(id) {
			return nil
		} else if n > 0 {
			lanes = append(lanes, Counted(id, int(n)))
		}
	}
	if len(lanes) < 2 {
		return nil
	}
	r := &rowTree{store: p, reader: s}
	var first []int32
	r.lanes, first, r.starts, r.nodes = inOrder(lanes, ofRanks(t))
	r.even = slices.IsSorted(first)
	for k, l := range r.lanes {
		l.rows = l.calls
		r.from = append(r.from, uint64(p.RowsBefore(l.Location)))
		if k > 0 && r.from[k] != r.from[k-1]+uint64(r.lanes[k-1].calls) {
			r.even = false // rows of others lie between
		}
	}
	return r
}

// OfRows returns the tree of a window without reading its calls, where the store gives single rows at little cost and
// the nodes are its rows; else nil.
func OfRows(ctx context.Context, run *derived.Run, w store.Window) (*Calls, error) {
	p, ok := run.Store.(store.Peeker)
	if !ok || !p.Peeks() {
		return nil, nil
	}
	r := rowsOf(run.Store, p, w)
	if r == nil {
		return nil, nil
	}
	var sums *LevelSums
	var err error
	if w.Locations == nil {
		sums, err = LevelsOfRun.Of(ctx, run)
	} else if spawns, wrong := spawnsAny(ctx, run.Store, w); wrong != nil || spawns {
		return nil, wrong
	} else {
		sums, err = r.sums(ctx)
	}
	if err != nil || !sums.Rows {
		return nil, err
	}
	c := &Calls{Virtual: true, lanes: r.lanes, starts: r.starts, rows: r, outline: r.outline(sums)}
	c.begin, c.last, c.end, c.height = sums.First, sums.Last, run.Store.Info().End, c.outline.Height
	return c, nil
}

// laneAt is the place of a node's lane, where that of a node before it is near.
func (r *rowTree) laneAt(i int32, near int) int {
	if near >= 0 && r.starts[near] <= i && (near+1 == len(r.starts) || i < r.starts[near+1]) {
		return near
	}
	k, at := slices.BinarySearch(r.starts, i)
	if !at {
		k--
	}
	return k
}

// rowOf is the number of the row that a node of a lane is.
func (r *rowTree) rowOf(lane int, i int32) uint64 { return r.from[lane] + uint64(i-r.starts[lane]) }

// stretches calls f for the rows [lo, hi) that nodes from…to are, but for the root, in order.
func (r *rowTree) stretches(from, to int32, f func(lo, hi uint64)) {
	if from = max(from, 1); from >= to {
		return
	}
	if r.even {
		f(r.from[0]+uint64(from-1), r.from[0]+uint64(to-1))
		return
	}
	for k := r.laneAt(from, -1); from < to; k++ {
		end := min(to, r.starts[k]+int32(r.lanes[k].calls))
		f(r.rowOf(k, from), r.rowOf(k, from)+uint64(end-from))
		from = end
	}
}

// block implements levels.
func (r *rowTree) block(b int32) []int32 {
	slot := &r.held[b%heldBlocks]
	if x := slot.Load(); x != nil && x.number == b {
		return x.level[:]
	}
	x := &levelBlock{number: b}
	if b > 0 {
		err := r.store.Peek(func(p store.Peek) error {
			k := 0
			r.stretches(blockStart(b), min(blockStart(b+1), r.nodes), func(lo, hi uint64) {
				p.Depths(lo, hi, func(depths []uint16) {
					for _, d := range depths {
						x.level[k] = int32(d) + 1
						k++
					}
				})
			})
			return nil
		})
		if err != nil {
			r.fail(err)
			return x.level[:]
		}
	}
	slot.Store(x)
	return x.level[:]
}

// bytes implements levels: as much as blocks can be held.
func (r *rowTree) bytes() int64 { return heldBlocks * (4*rowBlock + 16) }

// fail takes note of the first error of the store: nodes that were read then have no meaning.
func (r *rowTree) fail(err error) {
	if err != nil {
		r.failed.CompareAndSwap(nil, &err)
	}
}

// Err returns what went wrong since it was asked last when rows were read, and forgets it.
func (c *Calls) Err() error {
	if c.rows != nil {
		if err := c.rows.failed.Swap(nil); err != nil {
			return *err
		}
	}
	return nil
}

// OfRows reports whether nodes are rows that stay in the store: there are no columns of them, only Pick.
func (c *Calls) OfRows() bool { return c.rows != nil }

// Facts are parts of a call, which cost more the more are asked for.
type Facts uint8

// Parts of a call. Its place is always known.
const (
	OfRegion Facts = 1 << iota
	OfTime
	OfLevel
	OfBegin // alone, without the end
)

// A Node is a call with its number in its tree and its level there.
type Node struct {
	Call
	Number, Level int32
}

// Pick reads some nodes, which come in order, of a tree of rows. Facts that are not asked for may be left out.
func (c *Calls) Pick(nodes []int32, what Facts, out []Node) []Node {
	r, near := c.rows, -1
	from := len(out)
	err := r.store.Peek(func(p store.Peek) error {
		for _, i := range nodes {
			if i == 0 {
				out = append(out, c.rootNode())
				continue
			}
			near = r.laneAt(i, near)
			l, row := r.lanes[near], r.rowOf(near, i)
			n := Node{Call: Call{Location: l.Location, Lane: l.Lane, Row: i - r.starts[near]}, Number: i}
			if what&OfRegion != 0 {
				n.Region = p.Region(row)
			}
			if what&OfTime != 0 {
				n.Begin, n.End = p.Begin(row), p.End(row)
			}
			if what&OfBegin != 0 {
				n.Begin = p.Begin(row)
			}
			if what&OfLevel != 0 {
				n.Level = int32(p.Depth(row)) + 1
			}
			out = append(out, n)
		}
		return nil
	})
	if err != nil {
		r.fail(err)
		out = append(out[:from], make([]Node, len(nodes))...)
	}
	return out
}

// counter returns how many calls of locations begin at a time or later; err keeps the first error.
func (r *rowTree) counter(err *error) func(trace.Time, []trace.LocationID) int64 {
	return func(t trace.Time, ids []trace.LocationID) int64 {
		if len(ids) == 0 {
			return 0
		}
		n, wrong := r.reader.Count(store.Window{Begin: t, End: r.reader.Info().End + 1, Locations: ids})
		*err = cmp.Or(*err, wrong)
		return n
	}
}

// number is the place of a node in the order of the run: what begins before it, or with it in a lane before its own.
func (r *rowTree) number(i int32) int32 {
	if i == 0 {
		return 0
	}
	k := r.laneAt(i, -1)
	row, own := r.rowOf(k, i), r.lanes[k].Location
	var begin trace.Time
	err := r.store.Peek(func(p store.Peek) error {
		begin = p.Begin(row)
		return nil
	})
	var before, all []trace.LocationID
	for _, l := range r.lanes {
		if all = append(all, l.Location); l.Location < own {
			before = append(before, l.Location)
		}
	}
	slices.Sort(all)
	slices.Sort(before)
	from := r.counter(&err)
	earlier := int64(r.nodes-1) - from(begin, all) // in all lanes
	inLane := int64(r.lanes[k].calls) - from(begin, []trace.LocationID{own})
	same := from(begin, before) - from(begin+1, before) // begin with it, in lanes before
	r.fail(err)
	return int32(1 + earlier - inLane + same + int64(i-r.starts[k]))
}

// FindNumbered returns the node with a number in the order of the run, see Number.
func (c *Calls) FindNumbered(number int32) (int32, error) {
	r := c.rows
	switch {
	case number == 0 || !c.Joined():
		return number, nil
	case r == nil:
		c.Number(0)
		return int32(slices.Index(c.number, number)), nil
	}
	byLocation := slices.Clone(r.lanes)
	slices.SortFunc(byLocation, func(a, b *Lane) int { return cmp.Compare(a.Location, b.Location) })
	ids := make([]trace.LocationID, len(byLocation))
	for k, l := range byLocation {
		ids[k] = l.Location
	}
	var err error
	from := r.counter(&err)
	all := int64(r.nodes - 1)
	low, high := c.begin, c.last // the call begins in this time
	for low < high {
		if mid := low + (high-low)/2; all-from(mid+1, ids) >= int64(number) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	left := int64(number) - (all - from(low, ids)) // of those that begin then, the first one is 1
	here := func(lanes int) int64 { return from(low, ids[:lanes]) - from(low+1, ids[:lanes]) }
	k := sort.Search(len(ids)-1, func(k int) bool { return here(k+1) >= left })
	left -= here(k)
	l := byLocation[k]
	return c.Find(l.Location, l.Lane, int32(int64(l.calls)-from(low, ids[k:k+1])+left-1)), err
}

// Begun returns, for each lane of joined calls, the first node that begins later than a time, or the end of the lane.
func (c *Calls) Begun(ctx context.Context, until trace.Time) ([]int32, error) {
	r, out := c.rows, make([]int32, len(c.lanes))
	if r == nil { // in memory
		for k, at := range c.starts {
			lane := c.Begin[at : at+int32(c.lanes[k].calls)]
			out[k] = at + int32(sort.Search(len(lane), func(i int) bool { return lane[i] > until }))
		}
		return out, nil
	}
	const part = 64
	return out, parallel.Tasks(ctx, (len(c.lanes)+part-1)/part, func(_ context.Context, n int) error {
		return r.store.Peek(func(p store.Peek) error {
			for k := n * part; k < min((n+1)*part, len(c.lanes)); k++ {
				out[k] = r.starts[k] + int32(sort.Search(r.lanes[k].calls, func(i int) bool {
					return p.Begin(r.from[k]+uint64(i)) > until
				}))
			}
			return nil
		})
	})
}

// children counts the calls that a node made.
func (o *Outline) children(i int32) (n int32) {
	for c, end := i+1, o.End(i); c < end; c = o.End(c) {
		n++
	}
	return n
}

// Made counts the calls that a node of a tree of rows made.
func (c *Calls) Made(i int32) int32 { return c.outline.children(i) }

// Durations returns the least and the longest time that a call of a tree of rows lasts, but for those that last none.
func (c *Calls) Durations(ctx context.Context) (least, most trace.Time, err error) {
	const part = 1 << 16
	r, n := c.rows, c.rows.nodes
	least, most = math.MaxInt64, math.MinInt64
	var mu sync.Mutex
	err = parallel.For(ctx, int((n+part-1)/part), func(k int) {
		low, high := trace.Time(math.MaxInt64), trace.Time(math.MinInt64)
		r.fail(r.store.Peek(func(p store.Peek) error {
			r.stretches(int32(k)*part, min(int32(k+1)*part, n), func(lo, hi uint64) {
				p.Durations(lo, hi, func(durations []trace.Time) {
					for _, d := range durations {
						if d > 0 {
							low, high = min(low, d), max(high, d)
						}
					}
				})
			})
			return nil
		}))
		mu.Lock()
		defer mu.Unlock()
		least, most = min(least, low), max(most, high)
	})
	return least, most, err
}

// EachPart calls f for all nodes of a tree of rows, part by part, on all cores. They are valid until f returns.
func (c *Calls) EachPart(what Facts, f func(nodes []Node)) {
	const part = 1 << 14
	n := c.rows.nodes
	_ = parallel.For(context.Background(), int((n+part-1)/part), func(k int) {
		var at [part]int32
		list := at[:0]
		for i := int32(k) * part; i < min(int32(k+1)*part, n); i++ {
			list = append(list, i)
		}
		f(c.Pick(list, what, make([]Node, 0, len(list))))
	})
}

// rootNode is the virtual root.
func (c *Calls) rootNode() Node {
	return Node{Call: Call{Location: trace.NoLocation, Row: -1, Region: trace.NoRegion, Begin: c.begin, End: c.end}}
}
