package store

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A RoleTimer is a Reader that can give role times of many locations one by one,
// without a query for each.
type RoleTimer interface {
	RoleTimes(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Time, error)
}

// RoleTimes gives the time of each of the locations by itself, without those below it,
// per role, from each edge to the next: that of the k-th location in bin b is at
// [(k*bins+b)*trace.RoleCount + role]. Nothing outside the edges counts.
func RoleTimes(ctx context.Context, r Reader, locations []trace.LocationID, edges []trace.Time) ([]trace.Time, error) {
	if t, ok := r.(RoleTimer); ok {
		return t.RoleTimes(ctx, locations, edges)
	}
	size := max(len(edges)-1, 0) * trace.RoleCount
	out := make([]trace.Time, len(locations)*size)
	tree := r.Locations()
	for k, id := range locations {
		own, err := r.RoleTime(ctx, []trace.LocationID{id}, edges)
		if err != nil {
			return nil, err
		}
		copy(out[k*size:], own)
		if tree.Last[id] == id {
			continue
		}
		var below []trace.LocationID
		for c := id + 1; c <= tree.Last[id]; c = tree.Last[c] + 1 {
			below = append(below, c)
		}
		others, err := r.RoleTime(ctx, below, edges)
		if err != nil {
			return nil, err
		}
		for i, t := range others {
			out[k*size+i] -= t
		}
	}
	return out, ctx.Err()
}
