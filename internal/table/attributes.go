package table

import (
	"context"
	"math"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An attribute is a row of the table.
type attribute struct {
	*Run
	of        string
	location  trace.LocationID // trace.NoLocation: of none
	lane, row int              // -1: of no interval
	region    trace.RegionID   // trace.NoRegion: of none
	key       string
	value     trace.Value
}

var attributes = scanned("attributes",
	"Extra facts, as the source gives them: of the run, of locations, of regions, of intervals, and of instants, "+
		"these in their order.",
	func(r *Run) int64 {
		return int64(len(r.Store.Attributes()))*r.Store.Info().Intervals + int64(r.Store.Locations().Len()) +
			int64(len(r.Store.Regions()))
	},
	[]column[attribute]{
		narrow(text("of", "run, location, region, interval or instant", func(x *attribute) string { return x.of })),
		narrow(maybe("location", "", "of a location, an interval or an instant",
			func(x *attribute) (int64, bool) { return int64(x.location), x.location != trace.NoLocation })),
		narrow(maybe("lane", "", "with location and row the interval",
			func(x *attribute) (int64, bool) { return int64(x.lane), x.lane >= 0 })),
		narrow(maybe("row", "", "of an instant: which of those of its location",
			func(x *attribute) (int64, bool) { return int64(x.row), x.row >= 0 })),
		maybe("region_id", "", "of a region",
			func(x *attribute) (int64, bool) { return int64(x.region), x.region != trace.NoRegion }),
		narrow(text("key", "name of the attribute", func(x *attribute) string { return x.key })),
		text("value", "as text, exact", func(x *attribute) string { return x.value.String() }),
		text("type", "of the value: text, integer or number",
			func(x *attribute) string { return valueTypes[x.value.Kind] }),
		number("number", "", "as a number, where it is one", func(x *attribute) float64 {
			if v, ok := x.value.Number(); ok {
				return v
			}
			return math.NaN()
		}),
	}, scanAttributes)

var valueTypes = map[trace.ValueKind]string{trace.ValueText: "text", trace.ValueInteger: "integer",
	trace.ValueNumber: "number"}

func scanAttributes(ctx context.Context, r *Run, f *Filter, to *rowsOf[attribute]) error {
	of, key, at := f.Words("of"), f.Words("key"), f.locations(r, "")
	wants := func(kind string) bool { return of == nil || of(kind) }
	put := func(x attribute) error {
		if x.Run = r; key != nil && !key(x.key) {
			return nil
		}
		to.read(1)
		return to.add(&x)
	}
	if properties := r.Store.Info().Properties; wants("run") {
		keys := make([]string, 0, len(properties))
		for k := range properties {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			if err := put(attribute{of: "run", location: trace.NoLocation, lane: -1, row: -1, region: trace.NoRegion,
				key: k, value: trace.Text(properties[k])}); err != nil {
				return err
			}
		}
	}
	if wants("location") {
		for id := at.first; id <= at.last; id++ {
			for _, a := range r.Store.Locations().Attributes[id] {
				if err := put(attribute{of: "location", location: trace.LocationID(id), lane: -1, row: -1,
					region: trace.NoRegion, key: a.Key, value: a.Value}); err != nil {
					return err
				}
			}
		}
	}
	if wants("region") {
		for id := range r.Store.Regions() {
			for _, a := range r.Store.Regions()[id].Attributes {
				if err := put(attribute{of: "region", location: trace.NoLocation, lane: -1, row: -1,
					region: trace.RegionID(id), key: a.Key, value: a.Value}); err != nil {
					return err
				}
			}
		}
	}
	if wants("interval") {
		if err := intervalAttributes(ctx, r, f, at, key, put); err != nil {
			return err
		}
	}
	if !wants("instant") || r.Store.Info().Instants == 0 {
		return nil
	}
	return instantAttributes(ctx, r, at, key, put)
}

// instantAttributes puts the attributes of instants, one instant after the other.
func instantAttributes(ctx context.Context, r *Run, at where, key func(string) bool, put func(attribute) error) error {
	w := store.Window{Begin: 0, End: r.Store.Info().End + 1, Locations: r.everyone()}
	if at.first == at.last {
		w.Locations = []trace.LocationID{trace.LocationID(at.first)}
	}
	var mu sync.Mutex
	var all []attribute
	for a, name := range r.Store.Attributes() {
		if key != nil && !key(name) {
			continue
		}
		err := r.Store.InstantAttribute(ctx, w, trace.AttributeID(a), func(c *store.InstantValues) error {
			mu.Lock()
			defer mu.Unlock()
			for i, row := range c.Row {
				if at.has(c.Location) {
					all = append(all,
						attribute{of: "instant", location: c.Location, lane: -1, row: int(row), region: trace.NoRegion,
							key: name, value: c.Value[i]})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	sort.SliceStable(all, func(i, k int) bool {
		return all[i].location < all[k].location || all[i].location == all[k].location && all[i].row < all[k].row
	})
	for _, x := range all {
		if err := put(x); err != nil {
			return err
		}
	}
	return nil
}

func intervalAttributes(ctx context.Context, r *Run, f *Filter, at where, key func(string) bool,
	put func(attribute) error) error {
	laneLo, laneHi := f.Between("lane")
	rowLo, rowHi := f.Between("row")
	lanes := r.Store.Lanes()
	if at.first == at.last && laneLo == laneHi && rowLo == rowHi && rowLo >= 0 && rowLo <= math.MaxInt32 &&
		laneLo >= 0 && laneLo <= math.MaxInt32 {
		row := store.Row{Location: trace.LocationID(at.first), Lane: int(laneLo), Row: int(rowLo)}
		return factsOfRow(r, row, put)
	}
	for id := at.first; id <= at.last; id++ {
		id := trace.LocationID(id)
		if lanes[id] == lanes[id+1] || !at.has(id) {
			continue
		}
		if key == nil && len(r.Store.Attributes()) > 0 {
			if err := byRow(ctx, r, id, put); err != nil {
				return err
			}
			continue
		}
		w := store.Window{Begin: 0, End: r.Store.Info().End + 1, Locations: []trace.LocationID{id}}
		for a, name := range r.Store.Attributes() {
			if key != nil && !key(name) {
				continue
			}
			err := r.Store.AttributeColumn(ctx, w, trace.AttributeID(a), func(c *store.AttributeColumns) error {
				if c.Location != id {
					return nil
				}
				for i := range c.Row {
					if err := put(attribute{of: "interval", location: id, lane: c.Lane, row: int(c.Row[i]),
						region: trace.NoRegion, key: name, value: c.Value[i]}); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// byRow puts all attributes of a location's intervals, one interval after the other: so who
// reads intervals and attributes side by side holds none of them.
func byRow(ctx context.Context, r *Run, id trace.LocationID, put func(attribute) error) error {
	var rows []int // by lane
	w := store.Window{Begin: 0, End: r.Store.Info().End + 1, Locations: []trace.LocationID{id}}
	err := r.Store.Intervals(ctx, w, func(c *trace.Columns) error {
		if c.Location == id {
			for c.Lane >= len(rows) {
				rows = append(rows, 0)
			}
			rows[c.Lane] = c.First + c.Len()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for lane, n := range rows {
		for row := range n {
			if row%4096 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := factsOfRow(r, store.Row{Location: id, Lane: lane, Row: row}, put); err != nil {
				return err
			}
		}
	}
	return nil
}

// factsOfRow puts the attributes of one interval.
func factsOfRow(r *Run, at store.Row, put func(attribute) error) error {
	facts, err := r.Store.IntervalAttributes(at)
	for _, a := range facts {
		if err := put(attribute{of: "interval", location: at.Location, lane: at.Lane, row: at.Row,
			region: trace.NoRegion, key: a.Key, value: a.Value}); err != nil {
			return err
		}
	}
	return err
}
