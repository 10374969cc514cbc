package local

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// RoleTimes implements store.RoleTimer: the rows of each location, or its kept bins
// and the rows around edges. O(rows + locations × bins).
func (r *Reader) RoleTimes(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Time, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	size := max(len(edges)-1, 0) * trace.RoleCount
	out := make([]trace.Time, len(locations)*size)
	if len(out) == 0 {
		return out, ctx.Err()
	}
	type state struct {
		bins  *edgeBins
		merge laneMerge
	}
	workers := make([]state, r.workers)
	const batch = 64
	var pieces ranges // places in locations
	for from := 0; from < len(locations); from += batch {
		pieces = append(pieces, [2]trace.LocationID{trace.LocationID(from), trace.LocationID(min(from+batch, len(locations)))})
	}
	whole := []stretch{{edges[0], edges[len(edges)-1], 0}}
	err := r.parallel(ctx, pieces, func(ctx context.Context, worker, i int) error {
		w := &workers[worker]
		if w.bins == nil {
			w.bins = newEdgeBins(edges)
		}
		for k := int(pieces[i][0]); k < int(pieces[i][1]); k++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			id := locations[k]
			if int(id) >= r.tree.Len() || r.c.locationLane[id] == r.c.locationLane[id+1] {
				continue
			}
			own, left := out[k*size:(k+1)*size], whole
			if r.tree.Last[id] == id { // what is kept holds those below too
				if rest := r.keptTimes(id, edges, own); rest != nil {
					left = rest
				}
			}
			if len(left) == 0 {
				continue
			}
			for _, s := range left {
				w.bins.bin = s.bin
				w.merge.location(r, id, max(s.from, 0), min(s.to, r.info.End), w.bins)
			}
			w.bins.addTo(own)
			clear(w.bins.part)
			clear(w.bins.step)
		}
		return nil
	})
	return out, err
}
