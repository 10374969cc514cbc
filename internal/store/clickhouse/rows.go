package clickhouse

import (
	"context"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// batchRows is how many rows go to a server in one insert.
const batchRows = 1 << 20

// rows writes the tables for SQL: definitions to all servers, rows to the server that has their location.
func (w *writer) rows(ctx context.Context, r *local.Reader) error {
	part, parts := w.part.of()
	if part == 0 {
		if err := w.each(ctx,
			func(ctx context.Context, s *server) error { return w.definitions(ctx, s, r) }); err != nil {
			return err
		}
	}
	cuts := cutLocations(r, len(w.servers)*parts)
	place := map[*server]int{}
	for i, s := range w.servers {
		place[s] = i
	}
	return w.each(ctx, func(ctx context.Context, s *server) error {
		k := place[s]*parts + part
		of := locationsIn(r, cuts[k], cuts[k+1])
		if len(of) == 0 {
			return nil
		}
		if err := w.intervals(ctx, s, r, of); err != nil {
			return err
		}
		return w.links(ctx, s, r, cuts[k], cuts[k+1])
	})
}

// cutLocations gives each of n servers a range of locations with about as many intervals: n+1 places.
func cutLocations(r *local.Reader, n int) []trace.LocationID {
	all := r.Locations().Len()
	cuts := make([]trace.LocationID, n+1)
	cuts[n] = trace.LocationID(all)
	for k := 1; k < n; k++ {
		lo, hi := int(cuts[k-1]), all
		for lo < hi {
			mid := (lo + hi) / 2
			if r.RowsBefore(trace.LocationID(mid))*int64(n) < r.Info().Intervals*int64(k) {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		cuts[k] = trace.LocationID(lo)
	}
	return cuts
}

// locationsIn lists the locations with intervals of a range: an inner one would stand for all below it.
func locationsIn(r *local.Reader, from, to trace.LocationID) []trace.LocationID {
	lanes := r.Lanes()
	var out []trace.LocationID
	for id := from; id < to; id++ {
		if lanes[id] < lanes[id+1] {
			out = append(out, id)
		}
	}
	return out
}

func (w *writer) definitions(ctx context.Context, s *server, r *local.Reader) error {
	tree := r.Locations()
	b, err := s.begin(ctx, "insert into parallax_locations (run, location, parent, name, kind, path, rank)")
	if err != nil {
		return err
	}
	defer func() { b.abort() }()
	for id := range tree.Len() {
		parent := int64(-1)
		if p := tree.Parent[id]; p != trace.NoLocation {
			parent = int64(p)
		}
		if err := b.Append(w.run, uint32(id), parent, tree.Name[id], string(tree.Kind[id]),
			tree.Path(trace.LocationID(id)), tree.Rank[id]); err != nil {
			return s.failed(err)
		}
	}
	err, b = b.send(), nil
	if err != nil {
		return err
	}
	if b,
		err = s.begin(ctx, "insert into parallax_regions (run, region, name, category, role, file, line)"); err != nil {
		return err
	}
	for id, x := range r.Regions() {
		if err := b.Append(w.run, uint32(id), x.Name, x.Category, x.Role.String(), x.File, int32(x.Line)); err != nil {
			return s.failed(err)
		}
	}
	err, b = b.send(), nil
	return err
}

// A sink fills columns of a table and sends them now and then.
type sink struct {
	mu      sync.Mutex
	ctx     context.Context
	s       *server
	insert  string
	batch   *batch
	waiting int
}

// add takes a number of rows as columns.
func (k *sink) add(rows int, columns ...any) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.batch == nil {
		if k.batch, err = k.s.begin(k.ctx, k.insert); err != nil {
			return err
		}
	}
	for i, c := range columns {
		if err := k.batch.Column(i).Append(c); err != nil {
			return k.s.failed(err)
		}
	}
	if k.waiting += rows; k.waiting < batchRows {
		return nil
	}
	return k.send()
}

func (k *sink) send() error {
	if k.batch == nil {
		return nil
	}
	b := k.batch
	k.batch, k.waiting = nil, 0
	return b.send()
}

// repeated returns a column of one value.
func repeated[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// converted returns a column as another type.
func converted[To, From ~uint8 | ~uint16 | ~uint32 | ~int32 | ~int64](in []From) []To {
	out := make([]To, len(in))
	for i, v := range in {
		out[i] = To(v)
	}
	return out
}

func (w *writer) intervals(ctx context.Context, s *server, r *local.Reader, of []trace.LocationID) error {
	k := &sink{ctx: ctx, s: s,
		insert: "insert into parallax_intervals (run, location, lane, row, begin, duration, exclusive, region, " +
			"parent, depth)"}
	defer func() { k.batch.abort() }()
	// One location after the other: an inner one that is asked for brings all below it.
	for _, id := range of {
		only := store.Window{End: r.Info().End, Locations: []trace.LocationID{id}}
		err := r.Intervals(ctx, only, func(c *trace.Columns) error {
			if c.Location != id {
				return nil
			}
			n := c.Len()
			if n == 0 {
				return nil
			}
			row := make([]uint32, n)
			for i := range row {
				row[i] = uint32(c.First + i)
			}
			return k.add(n, repeated(w.run, n), repeated(uint32(id), n), repeated(uint16(c.Lane), n), row,
				converted[int64](c.Begin), converted[int64](c.Duration),
				converted[int64](c.Exclusive), converted[uint32](c.Region), converted[int32](c.Parent),
				converted[uint16](c.Depth))
		})
		if err != nil {
			return err
		}
	}
	return k.send()
}

// links writes the links that start at locations [from, to).
func (w *writer) links(ctx context.Context, s *server, r *local.Reader, from, to trace.LocationID) error {
	k := &sink{ctx: ctx, s: s,
		insert: "insert into parallax_links (run, kind, from_location, from_time, to_location, to_time, size, tag, " +
			"count, untimed)"}
	defer func() { k.batch.abort() }()
	err := r.Links(ctx, store.Window{End: r.Info().End}, func(l *store.LinkColumns) error {
		for i, at := range l.FromLocation {
			if at < from || at >= to {
				continue
			}
			untimed := uint8(0)
			if l.Untimed[i] {
				untimed = 1
			}
			err := k.add(1, []uint64{w.run}, []uint8{uint8(l.Kind[i])}, []uint32{uint32(at)},
				[]int64{int64(l.FromTime[i])}, []uint32{uint32(l.ToLocation[i])}, []int64{int64(l.ToTime[i])},
				[]int64{l.Size[i]}, []int64{l.Tag[i]}, []int64{l.Count[i]}, []uint8{untimed})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.send()
}
