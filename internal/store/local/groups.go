package local

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Groups implements store.Reader.
func (r *Reader) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time, level int) (*store.GroupBins, error) {
	if level < 0 || level > 62 {
		return nil, fmt.Errorf("groups: level %d is not within 0 to 62", level)
	}
	begin = begin >> level << level
	g := &store.GroupBins{Begin: begin, Level: level, Rows: make([]int, len(locations))}
	if end > begin {
		g.Bins = int((end - begin + 1<<level - 1) >> level)
	}
	g.Time = make([]trace.Time, len(locations)*g.Bins*trace.RoleCount)
	var tasks groupTasks
	for k, id := range locations {
		if int(id) >= r.tree.Len() {
			return nil, fmt.Errorf("groups: location %d of %d", id, r.tree.Len())
		}
		g.Rows[k] = int(r.holders[r.tree.Last[id]+1] - r.holders[id])
		if g.Bins == 0 || g.Rows[k] == 0 || r.keptBins(g, k, id) {
			continue
		}
		for _, piece := range r.split(ranges{{id, r.tree.Last[id] + 1}}) {
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

// groupRows adds the times that are not kept, from the rows.
func (r *Reader) groupRows(ctx context.Context, g *store.GroupBins, tasks *groupTasks) error {
	if len(tasks.pieces) == 0 {
		return ctx.Err()
	}
	var mu sync.Mutex
	workers := make([]*roleBins, r.workers)
	size := g.Bins * trace.RoleCount
	return r.parallel(ctx, tasks.pieces, func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = newRoleBins(g.Begin, g.Level, g.Bins)
			workers[worker] = b
		}
		for id := tasks.pieces[i][0]; id < tasks.pieces[i][1]; id++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b.location(r, id)
		}
		mu.Lock()
		defer mu.Unlock()
		k := tasks.of[i]
		b.take(g.Time[k*size : (k+1)*size])
		return nil
	})
}

// roleBins adds up the time of each role in bins.
type roleBins struct {
	begin trace.Time
	level int
	time  []trace.Time // bin by bin, RoleCount values each
	low   int          // bins in [low, high) may be other than zero
	high  int
	merge laneMerge
}

func newRoleBins(begin trace.Time, level, bins int) *roleBins {
	return &roleBins{begin: begin, level: level, time: make([]trace.Time, bins*trace.RoleCount), low: bins}
}

func (b *roleBins) bins() int { return len(b.time) / trace.RoleCount }

// end of the last bin.
func (b *roleBins) end() trace.Time { return b.begin + trace.Time(b.bins())<<b.level }

// add counts [from, to), which lies within the bins, as time of role.
func (b *roleBins) add(from, to trace.Time, role trace.Role) {
	k := int((from - b.begin) >> b.level)
	b.low = min(b.low, k)
	for from < to {
		edge := min(b.begin+trace.Time(k+1)<<b.level, to)
		b.time[k*trace.RoleCount+int(role)] += edge - from
		from = edge
		k++
	}
	b.high = max(b.high, k)
}

// take adds the times to those of a group and clears them.
func (b *roleBins) take(to []trace.Time) {
	for i := b.low * trace.RoleCount; i < b.high*trace.RoleCount; i++ {
		to[i] += b.time[i]
		b.time[i] = 0
	}
	b.low, b.high = b.bins(), 0
}

// location adds the time of one location; where lanes are in different roles at
// once, store.RoleOfInstant decides.
func (b *roleBins) location(r *Reader, id trace.LocationID) {
	first, last := r.c.locationLane[id], r.c.locationLane[id+1]
	begin, end := max(b.begin, 0), min(b.end(), r.info.End)
	if first == last || begin >= end {
		return
	}
	if last-first > 1 {
		b.merge.run(r, int(first), int(last), begin, end, b)
		return
	}
	v := r.lane(int(first))
	if v.last <= begin || v.begin[0] >= end {
		return
	}
	var w walker
	w.start(&v, r.roles, begin)
	end = min(end, v.last)
	for {
		from, to, row, ok := w.step(end)
		if !ok {
			return
		}
		if row >= 0 {
			b.add(from, to, w.role(row))
		}
	}
}
