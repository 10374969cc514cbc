package local

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// maxGroupCells bounds the bins of one answer, times the locations: a request must
// not be able to take all memory. An answer of this size has a gigabyte and more.
const maxGroupCells = 1 << 24

// Groups implements store.Reader.
func (r *Reader) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time, level int) (*store.GroupBins, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if level < 0 || level > 62 {
		return nil, fmt.Errorf("groups: level %d is not within 0 to 62", level)
	}
	begin = begin >> level << level
	g := &store.GroupBins{Begin: begin, Level: level, Rows: make([]int, len(locations))}
	if end > begin {
		g.Bins = int((end - begin + 1<<level - 1) >> level)
	}
	if g.Bins > maxGroupCells/max(len(locations), 1) {
		return nil, fmt.Errorf("groups: %d bins of %d locations are more than a picture can show; ask for a coarser level", g.Bins, len(locations))
	}
	g.Time = make([]trace.Time, len(locations)*g.Bins*trace.RoleCount)
	var tasks groupTasks
	for k, id := range locations {
		if int(id) >= r.tree.Len() {
			return nil, fmt.Errorf("groups: location %d of %d", id, r.tree.Len())
		}
		set := r.ranges([]trace.LocationID{id})
		for _, x := range set {
			g.Rows[k] += int(r.holders[x[1]] - r.holders[x[0]])
		}
		if g.Bins == 0 || g.Rows[k] == 0 || r.keptBins(g, k, id) {
			continue
		}
		for _, piece := range r.split(set) {
			tasks.of, tasks.pieces = append(tasks.of, k), append(tasks.pieces, piece)
		}
	}
	err := r.groupRows(ctx, g, &tasks)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return g, err
}

// groupTasks are pieces of locations whose rows must be read, and the location
// asked for that each belongs to.
type groupTasks struct {
	of     []int
	pieces ranges
}

type groupWorker struct {
	*roleBins
	merge laneMerge
}

// groupRows adds the times that are not kept, from the rows.
func (r *Reader) groupRows(ctx context.Context, g *store.GroupBins, tasks *groupTasks) error {
	if len(tasks.pieces) == 0 {
		return ctx.Err()
	}
	var mu sync.Mutex
	workers := make([]*groupWorker, r.workers)
	size := g.Bins * trace.RoleCount
	return r.parallel(ctx, tasks.pieces, func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = &groupWorker{roleBins: newRoleBins(g.Begin, g.Level, g.Bins)}
			workers[worker] = b
		}
		for id := tasks.pieces[i][0]; id < tasks.pieces[i][1]; id++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b.merge.location(r, id, max(g.Begin, 0), min(b.end(), r.info.End), b)
		}
		mu.Lock()
		defer mu.Unlock()
		k := tasks.of[i]
		b.take(g.Time[k*size : (k+1)*size])
		return nil
	})
}

// keptBins fills in the bins of a location from those that are kept, if they are
// at least as fine. O(bins kept).
func (r *Reader) keptBins(g *store.GroupBins, k int, id trace.LocationID) bool {
	roles, level := r.c.groupRoles[id], int(r.c.groupLevel[id])
	if roles == 0 || level > g.Level || r.isAside(id) {
		return false
	}
	n := groupBins(r.info.End, level)
	first := max(g.Begin>>level, 0)
	last := min((g.Begin+trace.Time(g.Bins)<<g.Level)>>level, trace.Time(n))
	at := r.c.group[id]
	out := g.Time[k*g.Bins*trace.RoleCount:]
	for role := range trace.RoleCount {
		if roles>>role&1 == 0 {
			continue
		}
		kept := r.c.groupTime[at : at+uint64(n)]
		at += uint64(n)
		for x := first; x < last; x++ {
			out[int((x<<level-g.Begin)>>g.Level)*trace.RoleCount+role] += kept[x]
		}
	}
	return true
}
