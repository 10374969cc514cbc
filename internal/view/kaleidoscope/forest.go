package kaleidoscope

import (
	"context"
	"fmt"
	"sync"

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
	level      []int32
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

	scales sync.Map // of paintings
}

// sizeBytes counts the columns that are made when they are asked for too.
func (f *forest) sizeBytes() int64 {
	made := 8 * int64(len(f.level))
	if !f.calls.Joined() { // else it has levels itself
		made += 4 * int64(len(f.level))
	}
	return f.calls.SizeBytes() + made + 4*int64(len(f.processor))
}

// ranBy returns the processor of a node: where its location is a goroutine, the one
// that ran it longest, else the location itself.
func (f *forest) ranBy(node int32) trace.LocationID {
	id := f.calls.Location(node)
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
			if id := f.ranBy(int32(i)); id != trace.NoLocation {
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

// forestOf returns the tree of a window, which does not depend on how it is shown: it is
// kept for another painting or subtree. The nodes of one for sectors by rank may lie lane by lane; of others they are
// in the order of time.
func forestOf(ctx context.Context, run view.Run, w store.Window, byRank bool) (*forest, error) {
	s, name := run.Store, "kaleidoscope forest "
	if byRank {
		name = "kaleidoscope lanes "
	}
	return derived.Keep(run.Cache, name+keyOf(w), (*forest).sizeBytes, func() (*forest, error) {
		calls, err := invocation.Read(ctx, s, w, byRank)
		if err != nil {
			return nil, err
		}
		f := &forest{calls: calls, regions: s.Regions(), ranksAlone: calls.RanksAlone(s.Locations())}
		if f.processor, err = invocation.Processors(ctx, s, w); err != nil {
			return nil, err
		}
		f.level, f.height = calls.Levels()
		f.begin, f.end = calls.Span()
		return f, nil
	})
}

// keyOf names a window; no locations are not all locations.
func keyOf(w store.Window) string { return fmt.Sprint(w.Begin, w.End, w.Locations == nil, w.Locations) }
