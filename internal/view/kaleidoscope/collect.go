package kaleidoscope

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A laneKey names a lane.
type laneKey struct {
	location trace.LocationID
	lane     int
}

// A laneCalls are the calls of one lane that begin in the window.
type laneCalls struct {
	first  int // row of the first
	calls  []invocation.Call
	parent []int32 // row, -1
	base   int32   // place of the first among all calls
}

// collect reads the calls that begin in the window and who made them: the
// interval around them, or the other end of a spawn link. A link counts where
// nothing, or only an annotation, lies around a call.
func (r *result) collect(ctx context.Context) (*invocation.Calls, error) {
	s := r.request.Store()
	lanes, keys, err := readLanes(ctx, s, r.request.Window())
	if err != nil {
		return nil, err
	}
	total := 0
	for _, k := range keys {
		lanes[k].base = int32(total)
		total += len(lanes[k].calls)
	}
	calls, parent := make([]invocation.Call, 0, total), make([]int32, 0, total)
	for _, k := range keys {
		l := lanes[k]
		calls = append(calls, l.calls...)
		for _, p := range l.parent {
			if up := int(p) - l.first; p >= 0 && up >= 0 {
				parent = append(parent, l.base+int32(up))
			} else {
				parent = append(parent, -1)
			}
		}
	}
	regions := s.Regions()
	find := func(loc trace.LocationID, lane, row int32) int32 {
		l := lanes[laneKey{loc, int(lane)}]
		if l == nil || row < 0 || int(row) < l.first || int(row)-l.first >= len(l.calls) {
			return -1
		}
		return l.base + row - int32(l.first)
	}
	err = s.Links(ctx, r.request.Window(), func(c *store.LinkColumns) error {
		for i, kind := range c.Kind {
			if kind != trace.LinkSpawn && kind != trace.LinkSteal {
				continue
			}
			child, maker := find(c.ToLocation[i], c.ToLane[i], c.ToRow[i]), find(c.FromLocation[i], c.FromLane[i], c.FromRow[i])
			if child < 0 || maker < 0 || child == maker {
				continue
			}
			if p := parent[child]; p < 0 || regions[calls[p].Region].Role == trace.RoleAnnotation {
				parent[child] = maker
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	built := invocation.Build(calls, parent)
	if built.Late > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s calls begin before the call that made them and hang on the root", view.Thousands(int64(built.Late))))
	}
	return built, nil
}

// readLanes reads all lanes in parallel; keys are in order of location and lane.
func readLanes(ctx context.Context, s store.Reader, w store.Window) (map[laneKey]*laneCalls, []laneKey, error) {
	lanes := map[laneKey]*laneCalls{}
	var mu sync.Mutex
	err := s.Intervals(ctx, w, func(c *trace.Columns) error {
		key := laneKey{c.Location, c.Lane}
		mu.Lock()
		l := lanes[key]
		if l == nil {
			l = &laneCalls{first: c.First}
			lanes[key] = l
		}
		mu.Unlock()
		for i := range c.Begin {
			l.calls = append(l.calls, invocation.Call{Location: c.Location, Lane: int32(c.Lane), Row: int32(c.First + i), Region: c.Region[i], Begin: c.Begin[i], End: c.End(i)})
			l.parent = append(l.parent, c.Parent[i])
		}
		return nil
	})
	var keys []laneKey
	first := s.Lanes()
	for id := 0; id+1 < len(first); id++ {
		for lane := range int(first[id+1] - first[id]) {
			if k := (laneKey{trace.LocationID(id), lane}); lanes[k] != nil {
				keys = append(keys, k)
			}
		}
	}
	return lanes, keys, err
}
