package steps

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// source is the selection as package step asks it: one query of links, one of intervals, one an attribute.
func source(ctx context.Context, q *view.Request, d *view.Devices) *step.Source {
	r, w := q.Store(), q.Window()
	w.Locations = d.Rows
	return &step.Source{
		Regions: r.Regions(), Begin: w.Begin, End: w.End, Lanes: r.Lanes(),
		Unit: d.Unit, GPU: d.GPU, Units: len(d.Units), GPUs: len(d.GPUs), Owner: d.Owner,
		Scan: func(add func(*trace.Columns) error) error { return r.Intervals(ctx, w, add) },
		Launches: func(add func(from, to step.Place, at trace.Time)) error {
			return view.LaunchLinks(ctx, r, w, func(from, to store.Row, at trace.Time) { add(step.Place(from), step.Place(to), at) })
		},
		Attribute: func(name string, add func(trace.LocationID, int, []int32, []trace.Value)) error {
			return view.AttributeNamed(ctx, r, w, name, func(c *store.AttributeColumns) error {
				add(c.Location, c.Lane, c.Row, c.Value)
				return nil
			})
		},
	}
}
