package read

import (
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store/local/index"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// RoleTime implements store.Reader. If the bins of a location are stored, only rows around those edges are read that
// are not edges of bins.
func (r roleTimes) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum,
	error) {
	if err := r.Enter(); err != nil {
		return nil, err
	}
	defer r.Leave()
	out := make([]trace.Sum, max(len(edges)-1, 0)*trace.RoleCount)
	if len(out) == 0 {
		return out, ctx.Err()
	}
	var tasks roleTasks
	whole := []stretch{{edges[0], edges[len(edges)-1], 0}}
	err := r.Guarded(ctx, func() error {
		tops := r.tops(locations)
		r.bringBins(tops)
		for _, id := range tops {
			first, end := r.Subtree(id)
			left := whole
			if rest := r.keptTimes(id, edges, out); rest != nil {
				left = rest
			}
			if len(left) > 0 && left[0].from < left[0].to {
				tasks.add(r.Split(r.within(id, first, end)), left)
			}
		}
		for _, id := range r.Aside {
			if _, ok := slices.BinarySearch(locations, id); ok && !slices.Contains(tops, id) {
				tasks.add(rows.Ranges{{id, id + 1}}, whole) // named beside one that contains it
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
func (r roleTimes) tops(ids []trace.LocationID) []trace.LocationID {
	n := trace.LocationID(r.Len())
	if ids == nil {
		return []trace.LocationID{n}
	}
	var out []trace.LocationID
	next := trace.LocationID(0)
	for _, id := range ids {
		if id >= next && id < n {
			out = append(out, id)
			next = r.C.LocationLast[id] + 1
		}
	}
	return out
}

// within returns the locations [first, end) of a subtree without those aside, unless it
// is the subtree of one.
func (r roleTimes) within(id, first, end trace.LocationID) rows.Ranges {
	return r.Without(rows.Ranges{{first, end}}, []trace.LocationID{id})
}

// A stretch is a part of the time that must be read; bin is where it begins.
type stretch struct {
	from, to trace.Time
	bin      int
}

// startRows is about how many rows cost as much as finding a place in a lane.
const startRows = 16

// keptTimes adds the stored bins of a location and returns the time ranges that remain to be read; nil if all of it
// must be read, or should be. O(stored bins + edges).
func (r roleTimes) keptTimes(id trace.LocationID, edges []trace.Time, out []trace.Sum) []stretch {
	roles, level := r.C.GroupRoles[id], int(r.C.GroupLevel[id])
	if roles == 0 || r.IsAside(id) {
		return nil
	}
	n := index.GroupBins(r.End, level)
	// bins returns the kept bins wholly between two times.
	bins := func(a, b trace.Time) (first, last int) {
		first = int((max(a, 0) + 1<<level - 1) >> level)
		if last = n; b < r.End {
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
	a, b := r.Subtree(id)
	lanes := uint64(r.C.LocationLane[b] - r.C.LocationLane[a])
	if uint64(len(left))*lanes*startRows > r.RowsBelow(id) {
		return nil
	}
	at := r.C.Group[id]
	for role := range trace.RoleCount {
		if roles>>role&1 == 0 {
			continue
		}
		r.OfGroup.Touch(at, at+uint64(n))
		kept := r.C.GroupTime[at : at+uint64(n)]
		at += uint64(n)
		for i := range len(edges) - 1 {
			first, last := bins(edges[i], edges[i+1])
			for x := first; x < last; x++ {
				out[i*trace.RoleCount+role].Add(kept[x])
			}
		}
	}
	return left
}

// roleTasks are pieces of locations and the time ranges of each that must be read.
type roleTasks struct {
	pieces rows.Ranges
	of     [][]stretch
}

func (t *roleTasks) add(pieces rows.Ranges, left []stretch) {
	for _, p := range pieces {
		t.pieces, t.of = append(t.pieces, p), append(t.of, left)
	}
}

// roleRows adds times from rows.
func (r roleTimes) roleRows(ctx context.Context, edges []trace.Time, tasks *roleTasks, out []trace.Sum) error {
	if len(tasks.pieces) == 0 {
		return ctx.Err()
	}
	var mu sync.Mutex
	workers := make([]*edgeBins, r.Workers)
	merges := make([]rows.Merge, r.Workers)
	most := trace.AtMost(r.End)
	err := r.Parallel(ctx, tasks.pieces, func(ctx context.Context, worker, i int) error {
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
				merges[worker].Location(r.Table, id, max(s.from, 0), min(s.to, r.End), b)
			}
			if b.locations++; b.locations >= most {
				b.move()
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
	sums  []trace.Sum  // of those; nil while times do
	// locations added to part: a time holds only so many
	locations int64
	step      []int64 // changes of how many have whole bins
}

func newEdgeBins(edges []trace.Time) *edgeBins {
	n := len(edges) * trace.RoleCount
	return &edgeBins{edges: edges, part: make([]trace.Time, n), step: make([]int64, n)}
}

// Add implements roleSink; times of a location come in order.
func (b *edgeBins) Add(from, to trace.Time, role trace.Role) {
	for b.edges[b.bin+1] <= from {
		b.bin++
	}
	if to <= b.edges[b.bin+1] {
		b.part[b.bin*trace.RoleCount+int(role)] += to - from
		return
	}
	b.part[b.bin*trace.RoleCount+int(role)] += b.edges[b.bin+1] - from
	first := b.bin + 1
	b.bin += 1 + rows.FirstFrom(b.edges[b.bin+2:], to) // the bin in which to lies, or ends
	b.step[first*trace.RoleCount+int(role)]++
	b.step[b.bin*trace.RoleCount+int(role)]--
	b.part[b.bin*trace.RoleCount+int(role)] += to - b.edges[b.bin]
}

// move takes the parts to sums, before they run over.
func (b *edgeBins) move() {
	if b.sums == nil {
		b.sums = make([]trace.Sum, len(b.part))
	}
	for i, t := range b.part {
		b.sums[i].Add(t)
	}
	clear(b.part)
	b.locations = 0
}

func (b *edgeBins) addTo(out []trace.Sum) {
	var whole [trace.RoleCount]int64
	for i := range out {
		bin, role := i/trace.RoleCount, i%trace.RoleCount
		whole[role] += b.step[i]
		out[i].Add(b.part[i])
		out[i].AddSum(trace.SumProduct(whole[role], b.edges[bin+1]-b.edges[bin]))
		if b.sums != nil {
			out[i].AddSum(b.sums[i])
		}
	}
}
