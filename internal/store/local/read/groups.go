package read

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// maxGroupCells bounds the bins of one answer, times the locations: a request must
// not be able to take all memory. An answer of this size has a gigabyte and more.
const maxGroupCells = 1 << 24

// Groups implements store.Reader.
func (r roleTimes) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time,
	level int) (*store.GroupBins, error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	if level < 0 || level > 62 {
		return nil, fmt.Errorf("groups: level %d is not within 0 to 62", level)
	}
	begin = begin >> level << level
	g := &store.GroupBins{Begin: begin, Level: level, Rows: make([]int, len(locations))}
	if end > begin {
		g.Bins = int((end - begin + 1<<level - 1) >> level)
	}
	if g.Bins > maxGroupCells/max(len(locations), 1) {
		return nil,
			fmt.Errorf("groups: %d bins of %d locations are more than a picture can show; ask for a coarser level",
				g.Bins, len(locations))
	}
	g.Time = make([]trace.Time, len(locations)*g.Bins*trace.RoleCount)
	if err := r.Guarded(ctx, func() error { r.bringBins(locations); return nil }); err != nil {
		return nil, err
	}
	var tasks groupTasks
	for k, id := range locations {
		if int(id) >= r.Len() {
			return nil, fmt.Errorf("groups: location %d of %d", id, r.Len())
		}
		set := r.Ranges([]trace.LocationID{id})
		for _, x := range set {
			g.Rows[k] += int(r.Holders[x[1]] - r.Holders[x[0]])
		}
		if level+bits.Len(uint(g.Rows[k])) > 62 {
			return nil,
				fmt.Errorf("groups: bins of 2^%d ns of %d locations together run over; ask for a finer level", level,
					g.Rows[k])
		}
		if g.Bins == 0 || g.Rows[k] == 0 {
			continue
		}
		kept := false
		if err := disk.Guard(func() error { kept = r.keptBins(g, k, id); return nil }); err != nil {
			return nil, err
		}
		if kept {
			continue
		}
		for _, piece := range r.Split(set) {
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
	pieces rows.Ranges
}

type groupWorker struct {
	*rows.RoleBins
	merge rows.Merge
}

// groupRows adds the times that are not kept, from the rows.
func (r roleTimes) groupRows(ctx context.Context, g *store.GroupBins, tasks *groupTasks) error {
	if len(tasks.pieces) == 0 {
		return ctx.Err()
	}
	var mu sync.Mutex
	workers := make([]*groupWorker, r.Workers)
	size := g.Bins * trace.RoleCount
	return r.Parallel(ctx, tasks.pieces, func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = &groupWorker{RoleBins: rows.NewRoleBins(g.Begin, g.Level, g.Bins)}
			workers[worker] = b
		}
		for id := tasks.pieces[i][0]; id < tasks.pieces[i][1]; id++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b.merge.Location(r.Table, id, max(g.Begin, 0), min(b.End(), r.End), b)
		}
		mu.Lock()
		defer mu.Unlock()
		k := tasks.of[i]
		b.Take(g.Time[k*size : (k+1)*size])
		return nil
	})
}

// bringBins fetches the bins that are kept of locations together.
func (r roleTimes) bringBins(locations []trace.LocationID) {
	if !r.OfGroup.IsRemote() {
		return
	}
	want := disk.Rows{Of: r.OfGroup}
	for _, id := range locations {
		if int(id) < len(r.C.GroupRoles) && r.C.GroupRoles[id] != 0 {
			n := index.GroupBins(r.End, int(r.C.GroupLevel[id])) * bits.OnesCount16(r.C.GroupRoles[id])
			want.Ranges = append(want.Ranges, [2]uint64{r.C.Group[id], r.C.Group[id] + uint64(n)})
		}
	}
	disk.Bring(want)
}

// keptBins fills in the bins of a location from those that are kept, if they are
// at least as fine. O(bins kept).
func (r roleTimes) keptBins(g *store.GroupBins, k int, id trace.LocationID) bool {
	roles, level := r.C.GroupRoles[id], int(r.C.GroupLevel[id])
	if roles == 0 || level > g.Level || r.IsAside(id) {
		return false
	}
	n := index.GroupBins(r.End, level)
	first := max(g.Begin>>level, 0)
	last := min((g.Begin+trace.Time(g.Bins)<<g.Level)>>level, trace.Time(n))
	at := r.C.Group[id]
	out := g.Time[k*g.Bins*trace.RoleCount:]
	for role := range trace.RoleCount {
		if roles>>role&1 == 0 {
			continue
		}
		r.OfGroup.Touch(at, at+uint64(n))
		kept := r.C.GroupTime[at : at+uint64(n)]
		at += uint64(n)
		for x := first; x < last; x++ {
			out[int((x<<level-g.Begin)>>g.Level)*trace.RoleCount+role] += kept[x]
		}
	}
	return true
}
