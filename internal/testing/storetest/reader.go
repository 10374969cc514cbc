package storetest

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A definitions holds the definitions of a trace.
type definitions struct {
	generation uint64
	info       store.Info
	tree       *store.Tree
	regions    []trace.Region
	attributes []string
	counters   []trace.Counter

	laneStart []uint32

	metrics       []trace.Metric
	callPaths     []trace.CallPath
	communicators []trace.Communicator
	topologies    []trace.Topology
}

// batchRows is small, so that callers meet several batches and chains of open
// intervals in traces of a few rows.
const batchRows = 16

// A reader answers from slices. It takes no short cuts and keeps no index.
type reader struct {
	definitions

	withoutEnd map[trace.RegionID]trace.RegionID // of intervals that were never left
	summaries  []trace.Summary

	lanes    [][]lane // by location
	instants [][]instant
	samples  [][]sample // by counter
	links    []link

	profile []trace.ProfileRow
	lines   []trace.LineRow
	files   []string
	atomics []trace.AtomicRow
	moments []trace.MomentRow
}

var _ store.Reader = (*reader)(nil)

func (r *definitions) Generation() uint64                  { return r.generation }
func (r *definitions) Info() *store.Info                   { return &r.info }
func (r *definitions) Locations() *store.Tree              { return r.tree }
func (r *definitions) Regions() []trace.Region             { return r.regions }
func (r *definitions) Counters() []trace.Counter           { return r.counters }
func (r *definitions) Attributes() []string                { return r.attributes }
func (r *definitions) Metrics() []trace.Metric             { return r.metrics }
func (r *definitions) CallPaths() []trace.CallPath         { return r.callPaths }
func (r *definitions) Communicators() []trace.Communicator { return r.communicators }
func (r *definitions) Topologies() []trace.Topology        { return r.topologies }
func (r *definitions) Lanes() []uint32                     { return r.laneStart }
func (r *definitions) Close() error                        { return nil }

// A window is a store.Window with every location it includes. Rows that begin in [begin, end) count as beginning in
// it; time is clipped to [begin, last).
type window struct {
	begin, end, last trace.Time
	locations        []trace.LocationID
}

// window applies the rule of the trace's end: a window that reaches the end also holds records at the very end, or
// a whole trace would lose its last records.
func (r *reader) window(w store.Window) window {
	out := window{begin: max(w.Begin, 0), end: w.End, last: min(w.End, r.info.End), locations: r.expand(w.Locations)}
	if w.End >= r.info.End {
		out.end = r.info.End + 1
	}
	return out
}

func (w *window) holds(t trace.Time) bool { return w.begin <= t && t < w.end }

// open reports whether x began before the window and reaches into it.
func (w *window) open(x *row) bool { return x.begin < w.begin && x.end > w.begin && w.begin < w.end }

func (r *reader) expand(ids []trace.LocationID) []trace.LocationID {
	if ids != nil {
		return r.tree.Expand(ids)
	}
	all := make([]trace.LocationID, 0, r.tree.Len())
	for i := range r.tree.Len() {
		if id := trace.LocationID(i); !r.tree.IsAside(id) {
			all = append(all, id)
		}
	}
	return all
}

// each calls f for every location, several at once, as the contract allows: a
// caller that shares state between locations without a lock shows it here.
func each(ctx context.Context, ids []trace.LocationID, f func(trace.LocationID) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(max(4, runtime.GOMAXPROCS(0)))
	for _, id := range ids {
		if inner.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := inner.Err(); err != nil {
				return err
			}
			return f(id)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func (r *reader) Count(w store.Window) (int64, error) {
	in := r.window(w)
	n := int64(0)
	for _, id := range in.locations {
		for _, l := range r.lanes[id] {
			for _, x := range l.rows {
				if in.holds(x.begin) {
					n++
				}
			}
		}
	}
	return n, nil
}

func (r *reader) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	in := r.window(w)
	return each(ctx, in.locations, func(id trace.LocationID) error {
		for l := range r.lanes[id] {
			lo, hi, open := r.rowsIn(id, l, &in)
			for first := true; lo < hi || first && len(open) > 0; first = false {
				if err := ctx.Err(); err != nil {
					return err
				}
				c := r.columns(id, l, lo, min(lo+batchRows, hi))
				if first {
					c.Open = mergeOpen(c.Open, open)
				}
				lo += c.Len()
				if err := f(&c); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// rowsIn returns the rows that begin in the window, and those open at its begin.
func (r *reader) rowsIn(id trace.LocationID, laneNumber int, in *window) (lo, hi int, open []trace.OpenInterval) {
	rows := r.lanes[id][laneNumber].rows
	for i := range rows {
		if rows[i].begin < in.begin {
			lo = i + 1
		}
		if rows[i].begin < in.end {
			hi = i + 1
		}
		if in.open(&rows[i]) {
			open = append(open, openInterval(rows, i))
		}
	}
	return lo, max(lo, hi), open
}

// mergeOpen joins the parents of a first row with the intervals open at a time. They differ by intervals that end
// before the first row, and by a parent that ends just where an empty child begins.
func mergeOpen(a, b []trace.OpenInterval) []trace.OpenInterval {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y trace.OpenInterval) int { return x.Row - y.Row })
	return slices.Compact(all)
}

func openInterval(rows []row, i int) trace.OpenInterval {
	return trace.OpenInterval{Row: i, Begin: rows[i].begin, End: rows[i].end, Region: rows[i].region}
}

// columns copies rows lo … hi-1 of a lane; Open is the chain of parents of the first.
func (r *reader) columns(id trace.LocationID, laneNumber, lo, hi int) trace.Columns {
	rows := r.lanes[id][laneNumber].rows
	c := trace.Columns{Location: id, Lane: laneNumber, First: lo, Callers: r.callersOf(id, laneNumber)}
	for _, x := range rows[lo:hi] {
		c.Begin = append(c.Begin, x.begin)
		c.Duration = append(c.Duration, x.end-x.begin)
		c.Exclusive = append(c.Exclusive, x.exclusive)
		c.Region = append(c.Region, x.region)
		c.Parent = append(c.Parent, int32(x.parent))
		c.Depth = append(c.Depth, uint16(x.depth))
	}
	if lo < hi {
		for p := rows[lo].parent; p >= 0; p = rows[p].parent {
			c.Open = append(c.Open, openInterval(rows, p))
		}
		slices.Reverse(c.Open)
	}
	return c
}

func (r *reader) exists(at store.Row) bool {
	return int(at.Location) < len(r.lanes) && at.Lane >= 0 && at.Lane < len(r.lanes[at.Location]) &&
		at.Row >= 0 && at.Row < len(r.lanes[at.Location][at.Lane].rows)
}

func (r *reader) Interval(at store.Row) (*trace.Columns, error) {
	if !r.exists(at) {
		return nil, nil
	}
	c := r.columns(at.Location, at.Lane, at.Row, at.Row+1)
	return &c, nil
}

func (r *reader) At(location trace.LocationID, laneNumber int, t trace.Time) (at store.Row, found bool, err error) {
	if int(location) >= len(r.lanes) || laneNumber < 0 || laneNumber >= len(r.lanes[location]) {
		return store.Row{}, false, nil
	}
	rows := r.lanes[location][laneNumber].rows
	for i := len(rows) - 1; i >= 0; i-- {
		if rows[i].begin <= t && t < rows[i].end {
			return store.Row{Location: location, Lane: laneNumber, Row: i}, true, nil
		}
	}
	return store.Row{}, false, nil
}

func (r *reader) Children(ctx context.Context, at store.Row, f func(*trace.Columns) error) error {
	if !r.exists(at) {
		return nil
	}
	rows := r.lanes[at.Location][at.Lane].rows
	for i := range rows {
		if rows[i].parent != at.Row {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := r.columns(at.Location, at.Lane, i, i+1)
		if err := f(&c); err != nil {
			return err
		}
	}
	return ctx.Err()
}
