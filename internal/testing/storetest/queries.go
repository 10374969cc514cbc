package storetest

import (
	"context"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func (r *reader) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	in := r.window(w)
	t := &store.TimeTable{Offsets: []int{0}}
	for _, id := range in.locations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		type cell struct {
			exclusive, inclusive trace.Time
			calls                int64
		}
		cells := map[trace.RegionID]*cell{}
		at := func(region trace.RegionID) *cell {
			if cells[region] == nil {
				cells[region] = &cell{}
			}
			return cells[region]
		}
		for _, l := range r.lanes[id] {
			for _, s := range l.segments {
				if d := overlap(s.Begin, s.End, in.begin, in.last); d > 0 && s.Row >= 0 {
					at(s.Region).exclusive += d
				}
			}
			for i, x := range l.rows {
				for _, s := range x.covered {
					if d := overlap(s.begin, s.end, in.begin, in.last); d > 0 {
						at(x.region).exclusive -= d
					}
				}
				if in.holds(x.begin) {
					at(x.region).calls++
				}
				if d := overlap(x.begin, x.end, in.begin, in.last); d > 0 && !recursive(l.rows, i) {
					at(x.region).inclusive += d
				}
			}
		}
		for _, region := range slices.Sorted(maps.Keys(cells)) {
			t.Region = append(t.Region, region)
			t.Exclusive = append(t.Exclusive, cells[region].exclusive)
			t.Inclusive = append(t.Inclusive, cells[region].inclusive)
			t.Calls = append(t.Calls, cells[region].calls)
		}
		t.Locations = append(t.Locations, id)
		t.Offsets = append(t.Offsets, len(t.Region))
	}
	return t, ctx.Err()
}

// overlap returns how much of [a, b) is in [begin, end).
func overlap(a, b, begin, end trace.Time) trace.Time { return max(0, min(b, end)-max(a, begin)) }

// recursive reports whether the region of row i is on the stack above it.
func recursive(rows []row, i int) bool {
	for p := rows[i].parent; p >= 0; p = rows[p].parent {
		if rows[p].region == rows[i].region {
			return true
		}
	}
	return false
}

// linksIn returns the links of which one end is at a location of the window and whose time meets the window. Links
// without time meet every window.
func (r *reader) linksIn(w store.Window) []link {
	in := r.window(w)
	asked := make([]bool, r.tree.Len())
	for _, id := range in.locations {
		asked[id] = true
	}
	var out []link
	for _, l := range r.links {
		meets := l.Untimed || min(l.fromTime, l.toTime) < in.end && max(l.fromTime, l.toTime) >= in.begin &&
			in.begin < in.end
		if meets && (asked[l.From.Location] || asked[l.To.Location]) {
			out = append(out, l)
		}
	}
	return out
}

func (r *reader) LinkCount(w store.Window) (int64, error) { return int64(len(r.linksIn(w))), nil }

func (r *reader) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	for batch := range slices.Chunk(r.linksIn(w), batchRows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := store.LinkColumns{}
		for _, l := range batch {
			c.Kind = append(c.Kind, l.Kind)
			c.FromLocation = append(c.FromLocation, l.From.Location)
			c.FromTime = append(c.FromTime, l.fromTime)
			c.FromLane = append(c.FromLane, l.fromLane)
			c.FromRow = append(c.FromRow, l.fromRow)
			c.ToLocation = append(c.ToLocation, l.To.Location)
			c.ToTime = append(c.ToTime, l.toTime)
			c.ToLane = append(c.ToLane, l.toLane)
			c.ToRow = append(c.ToRow, l.toRow)
			c.Size = append(c.Size, l.Size)
			c.Tag = append(c.Tag, l.Tag)
			c.Communicator = append(c.Communicator, l.Communicator)
			c.Count = append(c.Count, max(1, l.Count))
			c.Untimed = append(c.Untimed, l.Untimed)
		}
		if err := f(&c); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *reader) Instants(ctx context.Context, w store.Window, f func(*store.InstantColumns) error) error {
	in := r.window(w)
	return each(ctx, in.locations, func(id trace.LocationID) error {
		c := store.InstantColumns{Location: id}
		for _, x := range r.instants[id] {
			if in.holds(x.time) {
				c.Time = append(c.Time, x.time)
				c.Region = append(c.Region, x.region)
			}
		}
		for i := 0; i < len(c.Time); i += batchRows {
			e := min(i+batchRows, len(c.Time))
			if err := f(&store.InstantColumns{Location: id, Time: c.Time[i:e:e], Region: c.Region[i:e:e]}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reader) Samples(ctx context.Context, counters []trace.CounterID, begin, end trace.Time,
	f func(*store.SampleColumns) error) error {
	in := r.window(store.Window{Begin: begin, End: end})
	for id := range r.counters {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := store.SampleColumns{Counter: trace.CounterID(id)}
		if counters != nil && !slices.Contains(counters, c.Counter) {
			continue
		}
		for _, x := range r.samples[id] {
			if in.holds(x.time) {
				c.Time = append(c.Time, x.time)
				c.Value = append(c.Value, x.value)
			}
		}
		for i := 0; i < len(c.Time); i += batchRows {
			e := min(i+batchRows, len(c.Time))
			if err := f(&store.SampleColumns{Counter: c.Counter, Time: c.Time[i:e:e],
				Value: c.Value[i:e:e]}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (r *reader) IntervalAttributes(at store.Row) ([]trace.Attribute, error) {
	if !r.exists(at) {
		return nil, nil
	}
	var out []trace.Attribute
	for _, a := range r.lanes[at.Location][at.Lane].rows[at.Row].facts {
		out = append(out, trace.Attribute{Key: r.attributes[a.attribute], Value: a.value})
	}
	return out, nil
}

func (r *reader) AttributeColumn(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.AttributeColumns) error) error {
	in := r.window(w)
	return each(ctx, in.locations, func(id trace.LocationID) error {
		for l := range r.lanes[id] {
			c := store.AttributeColumns{Location: id, Lane: l}
			for i := range r.lanes[id][l].rows {
				x := &r.lanes[id][l].rows[i]
				for _, fact := range x.facts {
					if fact.attribute == a && (in.holds(x.begin) || in.open(x)) {
						c.Row = append(c.Row, int32(i))
						c.Value = append(c.Value, fact.value)
					}
				}
			}
			for i := 0; i < len(c.Row); i += batchRows {
				e := min(i+batchRows, len(c.Row))
				if err := f(&store.AttributeColumns{Location: id, Lane: l, Row: c.Row[i:e:e],
					Value: c.Value[i:e:e]}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (r *reader) InstantAttribute(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.InstantValues) error) error {
	in := r.window(w)
	return each(ctx, in.locations, func(id trace.LocationID) error {
		c := store.InstantValues{Location: id}
		for i, x := range r.instants[id] {
			for _, fact := range x.facts {
				if fact.attribute == a && in.holds(x.time) {
					c.Row, c.Time, c.Region, c.Value = append(c.Row, int32(i)), append(c.Time, x.time),
						append(c.Region, x.region), append(c.Value, fact.value)
				}
			}
		}
		if len(c.Row) == 0 {
			return nil
		}
		return f(&c)
	})
}

func (r *reader) Profile(ctx context.Context, locations []trace.LocationID, f func([]trace.ProfileRow) error) error {
	return handOut(ctx, r, locations, r.profile, func(p trace.ProfileRow) trace.LocationID { return p.Location }, f)
}

func (r *reader) SourceFiles() []string { return r.files }

func (r *reader) Lines(ctx context.Context, locations []trace.LocationID, f func([]trace.LineRow) error) error {
	return handOut(ctx, r, locations, r.lines, func(p trace.LineRow) trace.LocationID { return p.Location }, f)
}

func (r *reader) Atomics(ctx context.Context, locations []trace.LocationID, f func([]trace.AtomicRow) error) error {
	return handOut(ctx, r, locations, r.atomics, func(p trace.AtomicRow) trace.LocationID { return p.Location }, f)
}

func (r *reader) Moments(ctx context.Context, locations []trace.LocationID, f func([]trace.MomentRow) error) error {
	return handOut(ctx, r, locations, r.moments, func(p trace.MomentRow) trace.LocationID { return p.Location }, f)
}

// handOut yields the rows of the locations asked for and all below them, in order, in small batches.
func handOut[T any](ctx context.Context, r *reader, locations []trace.LocationID, rows []T, of func(T) trace.LocationID,
	f func([]T) error) error {
	asked := make([]bool, r.tree.Len())
	for _, id := range r.expand(locations) {
		asked[id] = true
	}
	for id := range asked {
		asked[id] = asked[id] || locations == nil // a profile is not recorded twice, so none is aside
	}
	var out []T
	for _, x := range rows {
		if asked[of(x)] {
			out = append(out, x)
		}
	}
	for batch := range slices.Chunk(out, batchRows) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(batch); err != nil {
			return err
		}
	}
	return ctx.Err()
}
