package kaleidoscope

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A forest is the invocation tree of a window with the data that every painting needs.
type forest struct {
	calls      *invocation.Calls
	regions    []trace.Region
	level      []int32 // nil: calls stay in the store
	height     int
	begin, end trace.Time // when the first and the last call begin
	// processor is, for each location, the one that ran its calls where that is
	// another; nil if all run their own.
	processor []trace.LocationID
	// ranksAlone is set where the calls of a rank are all at one location.
	ranksAlone bool

	count sync.Once
	index []int32 // of each node among those of its processor, from 1 on
	made  []int32 // calls that each node made

	move  sync.Once
	moved bool

	scales sync.Map // of paintings
	fans   atomic.Pointer[[]invocation.Fan]
}

// sizeBytes counts the columns that are made when they are asked for too.
func (f *forest) sizeBytes() int64 {
	if f == nil {
		return 0
	}
	made := 8 * int64(len(f.level))
	if f.level != nil && !f.calls.Joined() { // else it has levels itself
		made += 4 * int64(len(f.level))
	}
	return f.calls.SizeBytes() + made + 4*int64(len(f.processor))
}

// firstPaint is the painting of a tree that none is asked for: by location, as in the paper; if one location made all
// calls that shows nothing, and it is by region.
func (f *forest) firstPaint() string {
	first, several := trace.NoLocation, false
	f.calls.Locations(func(id trace.LocationID, calls int) {
		if calls > 0 {
			several = several || first != trace.NoLocation && id != first
			first = id
		}
	})
	if several {
		return "location"
	}
	return "region"
}

// moves reports whether a call was made by one of another location. O(nodes), once.
func (f *forest) moves() bool {
	if f.calls.Joined() {
		return false
	}
	f.move.Do(func() {
		for i, p := range f.calls.Tree.Parent {
			if p >= 0 && (p > 0 || !f.calls.Virtual) && f.calls.Location(int32(i)) != f.calls.Location(p) {
				f.moved = true
				return
			}
		}
	})
	return f.moved
}

// ranBy returns the processor of the calls of a location: where that is a goroutine, the one that ran it longest, else
// the location itself.
func (f *forest) ranBy(id trace.LocationID) trace.LocationID {
	if id != trace.NoLocation && f.processor != nil && f.processor[id] != trace.NoLocation {
		return f.processor[id]
	}
	return id
}

// counts returns the number of each node among the calls of its processor, from 1 on
// in the order in which they begin, and how many calls it made. O(nodes), once.
func (f *forest) counts() (index, made []int32) {
	f.count.Do(func() {
		f.index, f.made = make([]int32, f.calls.Len()), f.calls.Tree.Children()
		last := map[trace.LocationID]int32{}
		for i := range f.index {
			if id := f.ranBy(f.calls.Location(int32(i))); id != trace.NoLocation {
				last[id]++
				f.index[i] = last[id]
			}
		}
	})
	return f.index, f.made
}

// step is the number of a call in the order of the run, from 1 on; 0 for a root
// that is no call.
func (f *forest) step(node int32) int32 {
	if f.calls.Virtual {
		return f.calls.Number(node)
	}
	return node + 1
}

// A way is where the calls of a tree are, and in which order.
type way int

const (
	inTime  way = iota // in memory, in the order of time
	inStore            // in the store where they can be found there, else in memory; sectors are by rank
)

// forestOf returns the tree of a window, which does not depend on how it is shown: it is kept for another painting or
// subtree.
func forestOf(ctx context.Context, run view.Run, w store.Window, in way) (*forest, error) {
	if in == inStore {
		f, err := derived.Keep(run.Cache, "kaleidoscope rows "+keyOf(w), (*forest).sizeBytes, func() (*forest, error) {
			calls, err := invocation.OfRows(ctx, &run, w)
			if calls == nil || err != nil {
				return nil, err
			}
			return newForest(ctx, run.Store, w, calls)
		})
		if err != nil || f != nil {
			return f, err
		}
	}
	name := "kaleidoscope forest "
	if in != inTime {
		name = "kaleidoscope lanes "
	}
	return derived.Keep(run.Cache, name+keyOf(w), (*forest).sizeBytes, func() (*forest, error) {
		calls, err := invocation.Read(ctx, run.Store, w, in != inTime)
		if err != nil {
			return nil, err
		}
		return newForest(ctx, run.Store, w, calls)
	})
}

func newForest(ctx context.Context, s store.Reader, w store.Window, calls *invocation.Calls) (f *forest, err error) {
	f = &forest{calls: calls, regions: s.Regions(), ranksAlone: calls.RanksAlone(s.Locations())}
	if f.processor, err = invocation.Processors(ctx, s, w); err != nil {
		return nil, err
	}
	f.level, f.height = calls.Levels()
	f.begin, f.end = calls.Span()
	return f, nil
}

// pick returns nodes with the facts that are asked for, and maybe more.
func (f *forest) pick(nodes []int32, what invocation.Facts, out []invocation.Node) []invocation.Node {
	if f.calls.OfRows() {
		return f.calls.Pick(nodes, what, out)
	}
	for _, i := range nodes {
		out = append(out, invocation.Node{Call: f.calls.At(i), Number: i, Level: f.level[i]})
	}
	return out
}

// allFacts are all of a node.
const allFacts = invocation.OfRegion | invocation.OfTime | invocation.OfLevel

// node returns a node with all facts.
func (f *forest) node(i int32) *invocation.Node { return &f.pick([]int32{i}, allFacts, nil)[0] }

// indexOf is the number of a call among those of its processor, from 1 on.
func (f *forest) indexOf(n *invocation.Node) int32 {
	if f.calls.OfRows() {
		return n.Row + 1
	}
	index, _ := f.counts()
	return index[n.Number]
}

// madeBy is how many calls a call made.
func (f *forest) madeBy(n *invocation.Node) int32 {
	if f.calls.OfRows() {
		if fans := f.fans.Load(); fans != nil {
			k, known := slices.BinarySearchFunc(*fans, n.Number,
				func(x invocation.Fan, node int32) int { return cmp.Compare(x.Node, node) })
			if known {
				return (*fans)[k].Made
			}
		}
		return f.calls.Made(n.Number)
	}
	_, made := f.counts()
	return made[n.Number]
}

// keyOf names a window; no locations are not all locations.
func keyOf(w store.Window) string { return fmt.Sprint(w.Begin, w.End, w.Locations == nil, w.Locations) }
