package table

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A member is a row of communicators: one location of one of them.
type member struct {
	*Run
	id     int
	number int // -1: it has no members
}

func (x *member) communicator() *trace.Communicator { return &x.Store.Communicators()[x.id] }

var communicators = scanned("communicators",
	"Groups of locations that communicate: one row per member. A group without members has one row.",
	func(r *Run) int64 { return int64(len(r.Store.Communicators())) },
	[]column[member]{
		integer("id", "", "its number; `communicator_id` in links", func(x *member) int64 { return int64(x.id) }),
		maybeText("name", "", func(x *member) string { return x.communicator().Name }),
		maybe("parent", "", "the communicator it was made of", func(x *member) (int64, bool) {
			up := x.communicator().Parent
			return int64(up), up != trace.NoCommunicator
		}),
		maybe("number", "", "of the member in it: its rank there",
			func(x *member) (int64, bool) { return int64(x.number), x.number >= 0 }),
		maybe("location", "", "id of the member", func(x *member) (int64, bool) {
			if x.number < 0 {
				return 0, false
			}
			id := x.communicator().Members[x.number]
			return int64(id), id != trace.NoLocation
		}),
	}, func(_ context.Context, r *Run, _ *Filter, to *rowsOf[member]) error {
		for id, c := range r.Store.Communicators() {
			first := 0
			if len(c.Members) == 0 {
				first = -1
			}
			for n := first; n < len(c.Members); n++ {
				to.read(1)
				if err := to.add(&member{r, id, n}); err != nil {
					return err
				}
			}
		}
		return nil
	})

// A dimension is a row of topologies.
type dimension struct {
	*trace.Topology
	id, at int
}

var topologies = scanned("topologies", "Grids of locations: one row per dimension.",
	func(r *Run) int64 { return int64(3 * len(r.Store.Topologies())) },
	[]column[dimension]{
		integer("topology", "", "its number", func(x *dimension) int64 { return int64(x.id) }),
		maybeText("name", "", func(x *dimension) string { return x.Name }),
		integer("dimension", "", "from 0", func(x *dimension) int64 { return int64(x.at) }),
		maybeText("dimension_name", "", func(x *dimension) string {
			if x.at < len(x.DimNames) {
				return x.DimNames[x.at]
			}
			return ""
		}),
		integer("size", "", "places along it", func(x *dimension) int64 { return int64(x.Dims[x.at]) }),
		flag("periodic", "1 if the last place is next to the first",
			func(x *dimension) bool { return x.at < len(x.Periodic) && x.Periodic[x.at] }),
	}, func(_ context.Context, r *Run, _ *Filter, to *rowsOf[dimension]) error {
		for id := range r.Store.Topologies() {
			t := &r.Store.Topologies()[id]
			for at := range t.Dims {
				to.read(1)
				if err := to.add(&dimension{t, id, at}); err != nil {
					return err
				}
			}
		}
		return nil
	})

// A spot is a row of coordinates.
type spot struct {
	id, at int
	*trace.Coordinate
}

var coordinates = scanned("coordinates", "Coordinates of locations in topologies: one row per location and dimension.",
	func(r *Run) int64 { return int64(len(r.Store.Topologies())) * int64(r.Store.Locations().Len()) },
	[]column[spot]{
		integer("topology", "", "its number in topologies", func(x *spot) int64 { return int64(x.id) }),
		integer("location", "", "its id", func(x *spot) int64 { return int64(x.Location) }),
		integer("dimension", "", "from 0", func(x *spot) int64 { return int64(x.at) }),
		integer("place", "", "along it, from 0", func(x *spot) int64 { return int64(x.At[x.at]) }),
	}, func(ctx context.Context, r *Run, _ *Filter, to *rowsOf[spot]) error {
		for id := range r.Store.Topologies() {
			all := r.Store.Topologies()[id].Coordinates
			for i := range all {
				if i%4096 == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				for at := range all[i].At {
					to.read(1)
					if err := to.add(&spot{id, at, &all[i]}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
