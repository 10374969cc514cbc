package view

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Digests gives what hands out the calls of sets of locations in the selection's
// time, lane by lane, with the records of a digest where the store keeps them.
func (r *Request) Digests(ctx context.Context, name string) func([]trace.LocationID, func(*trace.DigestedLane) error) error {
	return func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
		w := r.Window()
		w.Locations = ids
		return store.Digests(ctx, r.Store(), name, w, f)
	}
}
