package table

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A link is a row of the table.
type link struct {
	*Run
	*store.LinkColumns
	i int
}

// regionOf returns the region of the interval at an end, where one is known.
func (x *link) regionOf(location []trace.LocationID, lane, row []int32) (id trace.RegionID, known bool, err error) {
	if row[x.i] < 0 {
		return 0, false, nil
	}
	c, err := x.Store.Interval(store.Row{Location: location[x.i], Lane: int(lane[x.i]), Row: int(row[x.i])})
	if err != nil || c == nil {
		return 0, false, err
	}
	return c.Region[0], true, nil
}

func (x *link) from() (id trace.RegionID, known bool, err error) {
	return x.regionOf(x.FromLocation, x.FromLane, x.FromRow)
}

func (x *link) to() (id trace.RegionID, known bool, err error) {
	return x.regionOf(x.ToLocation, x.ToLane, x.ToRow)
}

// regionColumns returns the region at an end, by name and number.
func regionColumns(end string, of func(*link) (trace.RegionID, bool, error)) []column[link] {
	return []column[link]{
		stored(Column{Name: end + "_region", Kind: Text, Null: true, Help: "of that interval, its name"},
			func(x *link) (any, error) {
				id, known, err := of(x)
				if name := x.region(id).Name; known && name != "" {
					return name, err
				}
				return nil, err
			}),
		stored(Column{Name: end + "_region_id", Kind: Integer, Null: true, Help: "and its number in regions"},
			func(x *link) (any, error) {
				id, known, err := of(x)
				if known {
					return int64(id), err
				}
				return nil, err
			}),
	}
}

func (x *link) timed(t []trace.Time) (int64, bool) { return int64(t[x.i]), !x.Untimed[x.i] }

// row returns the place of an interval at an end, where one is known.
func (x *link) row(of []int32) (int64, bool) { return int64(of[x.i]), of[x.i] >= 0 }

var linkColumns = slices.Concat([]column[link]{
	text("kind", "message, spawn, steal, wake or flow", func(x *link) string { return x.Kind[x.i].String() }),
	narrow(integer("from_location", "", "where it starts", func(x *link) int64 { return int64(x.FromLocation[x.i]) })),
	narrow(text("from_path", "", func(x *link) string { return x.path(x.FromLocation[x.i]) })),
	narrow(maybe("from_rank", "", "", func(x *link) (int64, bool) { return x.rank(x.FromLocation[x.i]) })),
	narrow(maybe("from_time", "ns", "null of links without times, which stand for many",
		func(x *link) (int64, bool) { return x.timed(x.FromTime) })),
	maybe("from_lane", "", "with from_row the interval it starts in, where known",
		func(x *link) (int64, bool) { return x.row(x.FromLane) }),
	maybe("from_row", "", "", func(x *link) (int64, bool) { return x.row(x.FromRow) }),
	narrow(integer("to_location", "", "where it ends", func(x *link) int64 { return int64(x.ToLocation[x.i]) })),
	narrow(text("to_path", "", func(x *link) string { return x.path(x.ToLocation[x.i]) })),
	narrow(maybe("to_rank", "", "", func(x *link) (int64, bool) { return x.rank(x.ToLocation[x.i]) })),
	narrow(maybe("to_time", "ns", "", func(x *link) (int64, bool) { return x.timed(x.ToTime) })),
	maybe("to_lane", "", "with to_row the interval it ends in, where known",
		func(x *link) (int64, bool) { return x.row(x.ToLane) }),
	maybe("to_row", "", "", func(x *link) (int64, bool) { return x.row(x.ToRow) }),
	maybe("duration", "ns", "to_time - from_time; below 0 where clocks disagree", func(x *link) (int64, bool) {
		return int64(x.ToTime[x.i] - x.FromTime[x.i]), !x.Untimed[x.i]
	}),
	maybe("size", "bytes", "", func(x *link) (int64, bool) { return x.Size[x.i], x.Size[x.i] >= 0 }),
	integer("tag", "", "", func(x *link) int64 { return x.Tag[x.i] }),
	maybeText("communicator", "its name", func(x *link) string {
		if id, all := x.Communicator[x.i], x.Store.Communicators(); int(id) < len(all) {
			return all[id].Name
		}
		return ""
	}),
	maybe("communicator_id", "", "its number in communicators", func(x *link) (int64, bool) {
		return int64(x.Communicator[x.i]), int(x.Communicator[x.i]) < len(x.Store.Communicators())
	}),
	integer("count", "", "how many links the row summarizes", func(x *link) int64 { return max(x.Count[x.i], 1) }),
}, regionColumns("from", (*link).from), regionColumns("to", (*link).to))

var links = scanned("links",
	"From one point to another: messages, launches, spawns. In order of the time at which they start.",
	func(r *Run) int64 { return r.Store.Info().Links }, linkColumns, scanLinks)

func scanLinks(ctx context.Context, r *Run, f *Filter, to *rowsOf[link]) error {
	from, into := f.locations(r, "from_"), f.locations(r, "to_")
	if from.none() || into.none() {
		return nil
	}
	fromLo, fromHi := f.Between("from_time")
	toLo, toHi := f.Between("to_time")
	// A link is under way from its earlier end to its later one, so any window that holds
	// one end will do: the one that is bounded.
	w := store.Window{Begin: 0, End: r.Store.Info().End + 1, Locations: r.everyone()}
	if lo := max(fromLo, toLo); lo > 0 && lo < int64(w.End) {
		w.Begin = trace.Time(lo)
	}
	if hi := min(fromHi, toHi); hi >= int64(w.Begin) && hi < int64(w.End) {
		w.End = trace.Time(hi) + 1
	}
	switch {
	case from.first == from.last:
		w.Locations = []trace.LocationID{trace.LocationID(from.first)}
	case into.first == into.last:
		w.Locations = []trace.LocationID{trace.LocationID(into.first)}
	}
	x := &link{Run: r}
	return r.Store.Links(ctx, w, func(c *store.LinkColumns) error {
		to.read(len(c.Kind))
		x.LinkColumns = c
		for x.i = range c.Kind {
			if !from.has(c.FromLocation[x.i]) || !into.has(c.ToLocation[x.i]) {
				continue
			}
			if !c.Untimed[x.i] &&
				!(within(int64(c.FromTime[x.i]), [2]int64{fromLo, fromHi}) &&
					within(int64(c.ToTime[x.i]), [2]int64{toLo, toHi})) {
				continue
			}
			if err := to.add(x); err != nil {
				return err
			}
		}
		return nil
	})
}

// everyone names all locations where some are aside, which "all" would leave out.
func (r *Run) everyone() []trace.LocationID {
	tree := r.Store.Locations()
	if tree.Aside == nil {
		return nil
	}
	all := make([]trace.LocationID, tree.Len())
	for i := range all {
		all[i] = trace.LocationID(i)
	}
	return all
}
