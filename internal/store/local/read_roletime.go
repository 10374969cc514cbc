package local

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// RoleTime implements store.Reader. Of a location whose bins are kept only the rows
// around edges are read that are no edges of these.
func (r *Reader) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Time, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	out := make([]trace.Time, max(len(edges)-1, 0)*trace.RoleCount)
	if len(out) == 0 {
		return out, ctx.Err()
	}
	var tasks roleTasks
	whole := []stretch{{edges[0], edges[len(edges)-1], 0}}
	err := guard(func() error {
		tops := r.tops(locations)
		for _, id := range tops {
			first, end := r.subtree(id)
			left := whole
			if rest := r.keptTimes(id, edges, out); rest != nil {
				left = rest
			}
			if len(left) > 0 && left[0].from < left[0].to {
				tasks.add(r.split(r.within(id, first, end)), left)
			}
		}
		for _, id := range r.aside {
			if _, ok := slices.BinarySearch(locations, id); ok && !slices.Contains(tops, id) {
				tasks.add(ranges{{id, id + 1}}, whole) // named beside what it lies in
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, r.roleRows(ctx, edges, &tasks, out)
}

// tops lists locations without those below others; the number after the last
// location stands for all.
func (r *Reader) tops(ids []trace.LocationID) []trace.LocationID {
	n := trace.LocationID(r.tree.Len())
	if ids == nil {
		return []trace.LocationID{n}
	}
	var out []trace.LocationID
	next := trace.LocationID(0)
	for _, id := range ids {
		if id >= next && id < n {
			out = append(out, id)
			next = r.tree.Last[id] + 1
		}
	}
	return out
}

// within gives the locations [first, end) of a subtree without those aside, unless it
// is the subtree of one.
func (r *Reader) within(id, first, end trace.LocationID) ranges {
	return r.without(ranges{{first, end}}, []trace.LocationID{id})
}

// A stretch is a part of the time that must be read; bin is where it begins.
type stretch struct {
	from, to trace.Time
	bin      int
}

// startRows is about how many rows cost as much as finding a place in a lane.
const startRows = 16

// keptTimes adds what the bins kept of a location give and says what is left; nil
// where all of it must be read, or had better be. O(bins kept + edges).
func (r *Reader) keptTimes(id trace.LocationID, edges, out []trace.Time) []stretch {
	roles, level := r.c.groupRoles[id], int(r.c.groupLevel[id])
	if roles == 0 || r.isAside(id) {
		return nil
	}
	n := groupBins(r.info.End, level)
	// bins gives the kept bins wholly between two times.
	bins := func(a, b trace.Time) (first, last int) {
		first = int((max(a, 0) + 1<<level - 1) >> level)
		if last = n; b < r.info.End {
			last = int(max(b, 0) >> level)
		}
		return first, last
	}
	left := []stretch{}
	read := func(from, to trace.Time, bin int) {
		if k := len(left); k > 0 && left[k-1].to == from {
			left[k-1].to = to
		} else if from < to {
			left = append(left, stretch{from, to, bin})
		}
	}
	for i := range len(edges) - 1 {
		first, last := bins(edges[i], edges[i+1])
		if first >= last {
			read(edges[i], edges[i+1], i)
			continue
		}
		read(edges[i], trace.Time(first)<<level, i)
		if last < n {
			read(trace.Time(last)<<level, edges[i+1], i)
		}
	}
	a, b := r.subtree(id)
	lanes := uint64(r.c.locationLane[b] - r.c.locationLane[a])
	if uint64(len(left))*lanes*startRows > r.rowsBelow(id) {
		return nil
	}
	at := r.c.group[id]
	for role := range trace.RoleCount {
		if roles>>role&1 == 0 {
			continue
		}
		kept := r.c.groupTime[at : at+uint64(n)]
		at += uint64(n)
		for i := range len(edges) - 1 {
			first, last := bins(edges[i], edges[i+1])
			for x := first; x < last; x++ {
				out[i*trace.RoleCount+role] += kept[x]
			}
		}
	}
	return left
}

// roleTasks are pieces of locations and what of each must be read.
type roleTasks struct {
	pieces ranges
	of     [][]stretch
}

func (t *roleTasks) add(pieces ranges, left []stretch) {
	for _, p := range pieces {
		t.pieces, t.of = append(t.pieces, p), append(t.of, left)
	}
}

// roleRows adds times from rows.
func (r *Reader) roleRows(ctx context.Context, edges []trace.Time, tasks *roleTasks, out []trace.Time) error {
	if len(tasks.pieces) == 0 {
		return ctx.Err()
	}
	var mu sync.Mutex
	workers := make([]*edgeBins, r.workers)
	merges := make([]laneMerge, r.workers)
	err := r.parallel(ctx, tasks.pieces, func(ctx context.Context, worker, i int) error {
		b := workers[worker]
		if b == nil {
			b = newEdgeBins(edges)
			mu.Lock()
			workers[worker] = b
			mu.Unlock()
		}
		for id := tasks.pieces[i][0]; id < tasks.pieces[i][1]; id++ {
			if id&0x3f == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for _, s := range tasks.of[i] {
				b.bin = s.bin
				merges[worker].location(r, id, max(s.from, 0), min(s.to, r.info.End), b)
			}
		}
		return nil
	})
	for _, b := range workers {
		if b != nil {
			b.addTo(out)
		}
	}
	return err
}

// edgeBins adds up the time of each role in bins of any width. Whole bins are
// counted as differences, so that adding is O(1) however many bins it crosses.
type edgeBins struct {
	edges []trace.Time
	bin   int          // that of the last time added, or before it
	part  []trace.Time // parts of bins
	step  []int64      // changes of how many have whole bins
}

func newEdgeBins(edges []trace.Time) *edgeBins {
	n := len(edges) * trace.RoleCount
	return &edgeBins{edges: edges, part: make([]trace.Time, n), step: make([]int64, n)}
}

// add implements roleSink; times of a location come in order.
func (b *edgeBins) add(from, to trace.Time, role trace.Role) {
	for b.edges[b.bin+1] <= from {
		b.bin++
	}
	if to <= b.edges[b.bin+1] {
		b.part[b.bin*trace.RoleCount+int(role)] += to - from
		return
	}
	b.part[b.bin*trace.RoleCount+int(role)] += b.edges[b.bin+1] - from
	first := b.bin + 1
	b.bin += 1 + firstFrom(b.edges[b.bin+2:], to) // the bin in which to lies, or ends
	b.step[first*trace.RoleCount+int(role)]++
	b.step[b.bin*trace.RoleCount+int(role)]--
	b.part[b.bin*trace.RoleCount+int(role)] += to - b.edges[b.bin]
}

func (b *edgeBins) addTo(out []trace.Time) {
	var whole [trace.RoleCount]int64
	for i := range out {
		bin, role := i/trace.RoleCount, i%trace.RoleCount
		whole[role] += b.step[i]
		out[i] += b.part[i] + trace.Time(whole[role])*(b.edges[bin+1]-b.edges[bin])
	}
}
