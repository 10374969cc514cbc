package read

import (
	"context"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// runPieces pieces of locations are read before their runs are given away.
const runPieces = 16

// RoleRuns implements store.RoleRunner: the rows of each location, or its kept bins and
// the rows around edges. O(rows) of a location without kept bins, however many edges
// there are; O(bins × roles) and a few rows of one with.
func (r roleTimes) RoleRuns(ctx context.Context, locations []trace.LocationID, edges []trace.Time,
	f func(k int, runs []store.RoleRun) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	if len(edges) < 2 {
		return ctx.Err()
	}
	type piece struct {
		runs []store.RoleRun
		ends []int // of the runs of each location
	}
	pieces := make([]piece, runPieces)
	workers := make([]*roleReader, r.Workers)
	size := max(1, min(1024, (1<<16)/len(edges))) // locations a piece, so that memory is bounded
	for at := 0; at < len(locations); at += runPieces * size {
		var places rows.Ranges
		for from := at; from < min(at+runPieces*size, len(locations)); from += size {
			places = append(places,
				[2]trace.LocationID{trace.LocationID(from), trace.LocationID(min(from+size, len(locations)))})
		}
		err := r.Guarded(ctx,
			func() error { r.bringBins(locations[at:min(at+runPieces*size, len(locations))]); return nil })
		if err != nil {
			return err
		}
		err = r.Parallel(ctx, places, func(ctx context.Context, worker, i int) error {
			w := workers[worker]
			if w == nil {
				w = newRoleReader(r, edges)
				workers[worker] = w
			}
			p := &pieces[i]
			w.sink.runs, p.ends = p.runs[:0], p.ends[:0]
			for k := int(places[i][0]); k < int(places[i][1]); k++ {
				if k&0x3f == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				w.location(locations[k])
				p.ends = append(p.ends, len(w.sink.runs))
			}
			p.runs = w.sink.runs
			return nil
		})
		if err != nil {
			return err
		}
		for i, x := range places {
			from := 0
			for k, end := range pieces[i].ends {
				if err := f(int(x[0])+k, pieces[i].runs[from:end]); err != nil {
					return err
				}
				from = end
			}
		}
	}
	return ctx.Err()
}

// A roleReader reads locations one by one.
type roleReader struct {
	r     roleTimes
	merge rows.Merge
	sink  runSink
	whole [1]stretch
	bins  *edgeBins   // for the time that stored bins leave
	times []trace.Sum // likewise
	own   []trace.Time
}

func newRoleReader(r roleTimes, edges []trace.Time) *roleReader {
	w := &roleReader{r: r, whole: [1]stretch{{edges[0], edges[len(edges)-1], 0}}}
	w.sink.edges = edges
	return w
}

// location appends the runs of a location.
func (w *roleReader) location(id trace.LocationID) {
	r := w.r
	if int(id) >= r.Len() || r.C.LocationLane[id] == r.C.LocationLane[id+1] {
		return
	}
	if r.C.LocationLast[id] == id && r.C.GroupRoles[id] != 0 { // stored bins include those below too
		if w.bins == nil {
			w.bins = newEdgeBins(w.sink.edges)
			w.times = make([]trace.Sum, (len(w.sink.edges)-1)*trace.RoleCount)
		}
		if left := r.keptTimes(id, w.sink.edges, w.times); left != nil {
			for _, s := range left {
				w.bins.bin = s.bin
				w.merge.Location(r.Table, id, max(s.from, 0), min(s.to, r.End), w.bins)
			}
			if len(left) > 0 {
				w.bins.addTo(w.times)
				clear(w.bins.part)
				clear(w.bins.step)
			}
			w.own = w.own[:0]
			for _, t := range w.times {
				w.own = append(w.own, t.Time()) // of one location
			}
			w.sink.runs = store.AppendRoleRuns(w.sink.runs, w.own)
			clear(w.times)
			return
		}
	}
	w.sink.bin = 0
	w.merge.Location(r.Table, id, max(w.whole[0].from, 0), min(w.whole[0].to, r.End), &w.sink)
	w.sink.flush()
}

// A runSink makes runs of times that come in order and do not overlap: O(1) a time and
// O(log bins) where it crosses an edge.
type runSink struct {
	edges []trace.Time
	bin   int
	part  [trace.RoleCount]trace.Time // of this bin
	seen  uint16                      // which of these are not zero
	runs  []store.RoleRun
}

// Add implements roleSink.
func (b *runSink) Add(from, to trace.Time, role trace.Role) {
	if b.edges[b.bin+1] <= from {
		b.flush()
		for b.edges[b.bin+1] <= from {
			b.bin++
		}
	}
	b.seen |= 1 << role
	if to <= b.edges[b.bin+1] {
		b.part[role] += to - from
		return
	}
	b.part[role] += b.edges[b.bin+1] - from
	b.flush()
	first := b.bin + 1
	b.bin += 1 + rows.FirstFrom(b.edges[b.bin+2:], to) // the bin in which to lies, or ends
	switch last := b.bin - 1; {
	case first == last:
		b.runs = append(b.runs,
			store.RoleRun{First: int32(first), Last: int32(last), Role: role, Time: b.edges[first+1] - b.edges[first]})
	case first < last:
		b.runs = append(b.runs, store.RoleRun{First: int32(first), Last: int32(last), Role: role})
	}
	b.part[role] += to - b.edges[b.bin]
	b.seen |= 1 << role
}

// flush appends the times of the present bin.
func (b *runSink) flush() {
	for s := b.seen; s != 0; s &= s - 1 {
		role := bits.TrailingZeros16(s)
		b.runs = append(b.runs,
			store.RoleRun{First: int32(b.bin), Last: int32(b.bin), Role: trace.Role(role), Time: b.part[role]})
		b.part[role] = 0
	}
	b.seen = 0
}
