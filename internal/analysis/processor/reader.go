package processor

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader is a run seen by its rows: these alone hold intervals, and locations folded into a row are lanes of it.
// So counting each instant of a location once gives the union of a GPU's streams.
type Reader struct {
	store.Reader
	Choice *Choice
	tree   *store.Tree
	info   *store.Info
	lanes  []uint32
	// members are the locations of each row, by its number among the rows, and shift the first lane that each
	// location has in its row. A row is plain where it is a location as it is.
	members [][]trace.LocationID
	plain   []bool
	shift   []int
}

// See returns a run as its rows by a rule show it, with a cache of its own; the run itself where they are all rows.
func See(run derived.Run, rule Rule) derived.Run {
	seen, _ := derived.Keep(run.Cache, "rows "+string(rule), func(*derived.Run) int64 { return 1 << 10 },
		func() (*derived.Run, error) {
			own := run
			if c := Choose(run.Store.Locations(), rule); c.Differs() {
				own.Store, own.Cache = newReader(run.Store, c), run.Cache.Part("rows "+string(rule))
			}
			return &own, nil
		})
	run.Store, run.Cache = seen.Store, seen.Cache
	return run
}

func newReader(r store.Reader, c *Choice) *Reader {
	tree, info, lanes := *r.Locations(), *r.Info(), r.Lanes()
	tree.Holds = make([]bool, tree.Len())
	info.Rows = len(c.Rows)
	x := &Reader{Reader: r, Choice: c, tree: &tree, info: &info, lanes: make([]uint32, len(lanes)),
		members: make([][]trace.LocationID, len(c.Rows)), plain: make([]bool, len(c.Rows)),
		shift: make([]int, tree.Len())}
	count := make([]int, len(c.Rows))
	for _, id := range held(c.tree) {
		row := c.Row[id]
		if row == trace.NoLocation {
			continue
		}
		k, _ := slices.BinarySearch(c.Rows, row)
		x.members[k] = append(x.members[k], id)
		x.shift[id] = count[k]
		count[k] += int(lanes[id+1] - lanes[id])
	}
	for k, row := range c.Rows {
		tree.Holds[row] = true
		x.plain[k] = len(x.members[k]) == 1 && x.members[k][0] == row &&
			!slices.Contains(c.tree.Holds[row+1:c.tree.Last[row]+1], true)
	}
	k := 0
	for id := range tree.Len() {
		n := 0
		switch {
		case k < len(c.Rows) && c.Rows[k] == trace.LocationID(id):
			n = count[k]
			k++
		case tree.IsAside(trace.LocationID(id)):
			n = int(lanes[id+1] - lanes[id])
		}
		x.lanes[id+1] = x.lanes[id] + uint32(n)
	}
	return x
}

// Locations, Info and Lanes tell of the rows.
func (x *Reader) Locations() *store.Tree { return x.tree }
func (x *Reader) Info() *store.Info      { return x.info }
func (x *Reader) Lanes() []uint32        { return x.lanes }

// divide returns which locations of a window are rows as they are, and which rows are made of others.
func (x *Reader) divide(locations []trace.LocationID) (plain []trace.LocationID, made []int) {
	plain = []trace.LocationID{}
	in := func(trace.LocationID) bool { return true }
	if locations != nil {
		expanded := x.tree.Expand(locations)
		in = func(id trace.LocationID) bool { _, ok := slices.BinarySearch(expanded, id); return ok }
		for _, id := range expanded {
			if x.tree.IsAside(id) {
				plain = append(plain, id)
			}
		}
	}
	for k, row := range x.Choice.Rows {
		switch {
		case !in(row):
		case x.plain[k]:
			plain = append(plain, row)
		default:
			made = append(made, k)
		}
	}
	slices.Sort(plain)
	return plain, made
}

// each asks for the plain locations of a window at once, and for the members of each other row one after the other:
// one location comes lane after lane.
func (x *Reader) each(ctx context.Context, w store.Window,
	ask func(w store.Window, only trace.LocationID) error) error {
	plain, made := x.divide(w.Locations)
	if len(plain) > 0 {
		w.Locations = plain
		if err := ask(w, trace.NoLocation); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	var failed error
	err := parallel.For(ctx, len(made), func(k int) {
		for _, id := range x.members[made[k]] {
			own := w
			own.Locations = []trace.LocationID{id}
			if err := ask(own, id); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = err
				return
			}
		}
	})
	return cmp.Or(failed, err)
}

// place returns a lane of a location as one of its row; false if it is none of the location asked for.
func (x *Reader) place(id trace.LocationID, lane int, only trace.LocationID) (trace.LocationID, int, bool) {
	if only == trace.NoLocation {
		return id, lane, true
	}
	return x.Choice.Row[id], x.shift[id] + lane, id == only
}

// Count implements store.Reader.
func (x *Reader) Count(w store.Window) (n int64, err error) {
	plain, made := x.divide(w.Locations)
	if len(plain) > 0 {
		w.Locations = plain
		if n, err = x.Reader.Count(w); err != nil {
			return 0, err
		}
	}
	for _, k := range made {
		for _, id := range x.members[k] {
			w.Locations = []trace.LocationID{id}
			own, err := x.Reader.Count(w)
			if err != nil {
				return 0, err
			}
			n += own
		}
	}
	return n, nil
}

// Intervals implements store.Reader.
func (x *Reader) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	return x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		return x.Reader.Intervals(ctx, w, x.columns(only, f))
	})
}

// columns passes on columns as those of their rows.
func (x *Reader) columns(only trace.LocationID, f func(*trace.Columns) error) func(*trace.Columns) error {
	return func(c *trace.Columns) error {
		own, ok := *c, false
		if own.Location, own.Lane, ok = x.place(c.Location, c.Lane, only); !ok {
			return nil
		}
		return f(&own)
	}
}

// source returns the place of an interval in the store.
func (x *Reader) source(location trace.LocationID, lane int) (trace.LocationID, int) {
	k, ok := slices.BinarySearch(x.Choice.Rows, location)
	if !ok || x.plain[k] {
		return location, lane
	}
	id := x.members[k][0]
	for _, m := range x.members[k] {
		if x.shift[m] <= lane {
			id = m
		}
	}
	return id, lane - x.shift[id]
}

func (x *Reader) sourceRow(at store.Row) store.Row {
	at.Location, at.Lane = x.source(at.Location, at.Lane)
	return at
}

// Interval implements store.Reader.
func (x *Reader) Interval(at store.Row) (*trace.Columns, error) {
	c, err := x.Reader.Interval(x.sourceRow(at))
	if c != nil {
		c.Location, c.Lane = at.Location, at.Lane
	}
	return c, err
}

// At implements store.Reader.
func (x *Reader) At(location trace.LocationID, lane int, t trace.Time) (at store.Row, found bool, err error) {
	id, own := x.source(location, lane)
	at, found, err = x.Reader.At(id, own, t)
	at.Location, at.Lane = location, lane
	return at, found, err
}

// Children implements store.Reader.
func (x *Reader) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	return x.Reader.Children(ctx, x.sourceRow(at), func(c *trace.Columns) error {
		own := *c
		own.Location, own.Lane = at.Location, at.Lane
		return f(&own)
	})
}

// IntervalAttributes implements store.Reader.
func (x *Reader) IntervalAttributes(at store.Row) ([]trace.Attribute, error) {
	return x.Reader.IntervalAttributes(x.sourceRow(at))
}

// Time implements store.Reader.
func (x *Reader) Time(ctx context.Context, w store.Window) (*store.TimeTable, error) {
	type sums struct {
		exclusive, inclusive trace.Time
		calls                int64
	}
	var mu sync.Mutex
	rows := map[trace.LocationID]map[trace.RegionID]*sums{}
	err := x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		t, err := x.Reader.Time(ctx, w)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for k, id := range t.Locations {
			row, _, ok := x.place(id, 0, only)
			if !ok {
				continue
			}
			if rows[row] == nil {
				rows[row] = map[trace.RegionID]*sums{}
			}
			for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
				s := rows[row][t.Region[i]]
				if s == nil {
					s = &sums{}
					rows[row][t.Region[i]] = s
				}
				s.exclusive += t.Exclusive[i]
				s.inclusive += t.Inclusive[i]
				s.calls += t.Calls[i]
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &store.TimeTable{Offsets: []int{0}}
	for id := range trace.LocationID(x.tree.Len()) {
		of, ok := rows[id]
		if !ok {
			continue
		}
		regions := make([]trace.RegionID, 0, len(of))
		for g := range of {
			regions = append(regions, g)
		}
		slices.Sort(regions)
		for _, g := range regions {
			out.Region = append(out.Region, g)
			out.Exclusive = append(out.Exclusive, of[g].exclusive)
			out.Inclusive = append(out.Inclusive, of[g].inclusive)
			out.Calls = append(out.Calls, of[g].calls)
		}
		out.Locations, out.Offsets = append(out.Locations, id), append(out.Offsets, len(out.Region))
	}
	return out, nil
}

// Summaries implements store.Reader.
func (x *Reader) Summaries(ctx context.Context, name string, w store.Window, level int, v store.Visitor) error {
	return x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		own := store.Visitor{Closed: v.Closed}
		if v.Block != nil {
			own.Block = func(id trace.LocationID, lane int, begin, end trace.Time, b trace.Block) error {
				row, lane, ok := x.place(id, lane, only)
				if !ok {
					return nil
				}
				return v.Block(row, lane, begin, end, b)
			}
		}
		if v.Rows != nil {
			own.Rows = func(s *trace.Stretch) error {
				part, ok := *s, false
				part.Rows.Location, part.Rows.Lane, ok = x.place(s.Rows.Location, s.Rows.Lane, only)
				if !ok {
					return nil
				}
				return v.Rows(&part)
			}
		}
		return x.Reader.Summaries(ctx, name, w, level, own)
	})
}

// Digests implements store.Digester.
func (x *Reader) Digests(ctx context.Context, name string, w store.Window,
	f func(*trace.DigestedLane) error) error {
	return x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		return store.Digests(ctx, x.Reader, name, w, func(l *trace.DigestedLane) error {
			own, ok := *l, false
			if own.Location, own.Lane, ok = x.place(l.Location, l.Lane, only); !ok {
				return nil
			}
			own.Lanes = int(x.lanes[own.Location+1] - x.lanes[own.Location])
			own.Read = func(lo, hi int, g func(*trace.Columns) error) error {
				return l.Read(lo, hi, x.columns(only, g))
			}
			return f(&own)
		})
	})
}

// Groups implements store.Reader.
func (x *Reader) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time,
	level int) (*store.GroupBins, error) {
	first, last := begin>>level, (end+1<<level-1)>>level
	out := &store.GroupBins{Begin: first << level, Level: level, Bins: int(last - first)}
	edges := make([]trace.Time, out.Bins+1)
	for b := range edges {
		edges[b] = (first + trace.Time(b)) << level
	}
	for _, id := range locations {
		sums, err := x.RoleTime(ctx, []trace.LocationID{id}, edges)
		if err != nil {
			return nil, err
		}
		for _, s := range sums {
			out.Time = append(out.Time, s.Time())
		}
		plain, made := x.divide([]trace.LocationID{id})
		out.Rows = append(out.Rows, len(plain)+len(made))
	}
	return out, nil
}

// RoleTime implements store.Reader.
func (x *Reader) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum, error) {
	plain, made := x.divide(locations)
	out := make([]trace.Sum, max(len(edges)-1, 0)*trace.RoleCount)
	if len(plain) > 0 {
		var err error
		if out, err = x.Reader.RoleTime(ctx, plain, edges); err != nil {
			return nil, err
		}
	}
	if len(made) == 0 || len(edges) < 2 {
		return out, nil
	}
	rows := make([]trace.LocationID, len(made))
	for i, k := range made {
		rows[i] = x.Choice.Rows[k]
	}
	var mu sync.Mutex
	collect := share.Collector{Begin: edges[0], End: edges[len(edges)-1], Regions: x.Regions(),
		Wins:  store.RoleOfInstant,
		Lanes: func(id trace.LocationID) int { return int(x.lanes[id+1] - x.lanes[id]) },
		Emit: func(_ trace.LocationID, p share.Piece) {
			mu.Lock()
			defer mu.Unlock()
			b, ok := slices.BinarySearch(edges, p.Begin)
			if !ok {
				b--
			}
			for b = max(b, 0); b+1 < len(edges) && edges[b] < p.End; b++ {
				at := b*trace.RoleCount + int(p.Role)
				out[at].Add(max(0, min(p.End, edges[b+1])-max(p.Begin, edges[b])))
			}
		}}
	w := store.Window{Begin: collect.Begin, End: collect.End, Locations: rows}
	if err := x.Intervals(ctx, w, func(c *trace.Columns) error { collect.Add(c); return nil }); err != nil {
		return nil, err
	}
	collect.Close()
	return out, nil
}

// Links implements store.Reader: ends in folded locations are at their row.
func (x *Reader) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	return x.Reader.Links(ctx, w, func(l *store.LinkColumns) error {
		own := *l
		own.FromLocation, own.FromLane = x.ends(l.FromLocation, l.FromLane)
		own.ToLocation, own.ToLane = x.ends(l.ToLocation, l.ToLane)
		return f(&own)
	})
}

func (x *Reader) ends(ids []trace.LocationID, lanes []int32) ([]trace.LocationID, []int32) {
	ids, lanes = slices.Clone(ids), slices.Clone(lanes)
	for i, id := range ids {
		if row := x.Choice.Row[id]; row != trace.NoLocation && row != id {
			ids[i] = row
			if lanes[i] >= 0 {
				lanes[i] += int32(x.shift[id])
			}
		}
	}
	return ids, lanes
}

// Instants implements store.Reader.
func (x *Reader) Instants(ctx context.Context, w store.Window, f func(*store.InstantColumns) error) error {
	return x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		return x.Reader.Instants(ctx, w, func(c *store.InstantColumns) error {
			own, ok := *c, false
			if own.Location, _, ok = x.place(c.Location, 0, only); !ok {
				return nil
			}
			return f(&own)
		})
	})
}

// AttributeColumn implements store.Reader.
func (x *Reader) AttributeColumn(ctx context.Context, w store.Window, a trace.AttributeID,
	f func(*store.AttributeColumns) error) error {
	return x.each(ctx, w, func(w store.Window, only trace.LocationID) error {
		return x.Reader.AttributeColumn(ctx, w, a, func(c *store.AttributeColumns) error {
			own, ok := *c, false
			if own.Location, own.Lane, ok = x.place(c.Location, c.Lane, only); !ok {
				return nil
			}
			return f(&own)
		})
	})
}
