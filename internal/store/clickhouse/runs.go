package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Run is one that the tables hold.
type Run struct {
	Name, Source, Format        string
	Created                     time.Time
	Shards                      int
	Locations, Intervals, Bytes int64

	ids []uint64 // of its parts
	on  *server  // that has the row of the first
}

// List returns all runs of an address, the latest first.
func List(ctx context.Context, a *Address) ([]Run, error) {
	c, err := connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer c.close()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	all, err := c.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the runs of %s: %w", a, err)
	}
	return all, nil
}

// A share is the output of one importer: a row of parallax_runs.
type share struct {
	Run
	id          uint64
	part, parts uint16
	stamp       uint64 // of the manifest: the same for all parts of a run
}

// A shareKey is the same for all parts of a run. The output of a single importer is a run by itself.
type shareKey struct {
	name  string
	parts uint16
	stamp uint64
}

func (x *share) key() shareKey {
	if x.parts <= 1 {
		return shareKey{x.Name, 1, x.id}
	}
	return shareKey{x.Name, x.parts, x.stamp}
}

// wholeOf puts the parts of a run together; of a part that came twice the later one counts.
func wholeOf(all []share, of shareKey) (r Run) {
	var latest []time.Time
	for _, x := range all {
		if x.key() != of || x.part >= of.parts {
			continue
		}
		if r.ids == nil {
			r = x.Run
			r.ids, latest = make([]uint64, of.parts), make([]time.Time, of.parts)
		}
		if at := x.part; r.ids[at] == 0 || x.Created.After(latest[at]) ||
			x.Created.Equal(latest[at]) && x.id > r.ids[at] {
			r.ids[at], latest[at] = x.id, x.Created
			if at == 0 {
				r.on = x.on
			}
		}
		if x.Created.After(r.Created) {
			r.Created = x.Created
		}
	}
	return r
}

// missing lists the parts that are still to come, from 1.
func (r *Run) missing() (out []int) {
	for i, id := range r.ids {
		if id == 0 {
			out = append(out, i+1)
		}
	}
	return out
}

// list returns the runs that are whole.
func (c *cluster) list(ctx context.Context) ([]Run, error) {
	all, err := c.shares(ctx)
	if err != nil {
		return nil, err
	}
	return wholeRuns(all), nil
}

func wholeRuns(all []share) (out []Run) {
	seen := map[shareKey]bool{}
	for i := range all {
		k := all[i].key()
		if seen[k] {
			continue
		}
		seen[k] = true
		if r := wholeOf(all, k); len(r.missing()) == 0 {
			out = append(out, r)
		}
	}
	return out
}

// shares returns the shares of all importers, the latest first.
func (c *cluster) shares(ctx context.Context) ([]share, error) {
	var mu sync.Mutex
	var all []share
	err := c.each(ctx, func(ctx context.Context, s *server) error {
		return atOnce(func() error { return s.check(ctx) }, func() error {
			rows,
				err := s.Query(ctx,
				"select run, name, source, format, created, shards, locations, intervals, bytes, part, parts, "+
					"cityHash64(manifest) from parallax_runs")
			if err != nil {
				return s.failed(err)
			}
			defer rows.Close()
			for rows.Next() {
				r := share{Run: Run{on: s}}
				var shards uint16
				var locations, intervals, bytes uint64
				if err := rows.Scan(&r.id, &r.Name, &r.Source, &r.Format, &r.Created, &shards, &locations, &intervals,
					&bytes, &r.part, &r.parts, &r.stamp); err != nil {
					return s.failed(err)
				}
				r.Shards, r.Locations, r.Intervals, r.Bytes = int(shards), int64(locations), int64(intervals),
					int64(bytes)
				mu.Lock()
				all = append(all, r)
				mu.Unlock()
			}
			return s.failed(rows.Err())
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b share) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Name, b.Name), cmp.Compare(a.id, b.id))
	})
	return all, nil
}

// Remove takes the run of an address away.
func Remove(ctx context.Context, a *Address) error {
	c, err := connect(ctx, a)
	if err != nil {
		return err
	}
	defer c.close()
	all, err := c.shares(ctx)
	if err != nil {
		return err
	}
	removed := false
	for _, x := range all {
		if x.Name == a.Run {
			if err := c.remove(ctx, x.id); err != nil {
				return fmt.Errorf("remove %s: %w", a, err)
			}
			removed = true
		}
	}
	if !removed {
		return c.noRun(all)
	}
	return nil
}

// remove deletes a run: first the row that makes it visible.
func (c *cluster) remove(ctx context.Context, run uint64) error {
	err := c.each(ctx, func(ctx context.Context, s *server) error {
		return s.exec(ctx, "alter table parallax_runs drop partition %d", run)
	})
	if err != nil {
		return err
	}
	return c.each(ctx, func(ctx context.Context, s *server) error { return s.drop(ctx, run) })
}

// drop takes all rows of a run away from a server.
func (s *server) drop(ctx context.Context, run uint64) error {
	for _, t := range tables {
		if t.name == "parallax_shards" {
			continue
		}
		if err := s.exec(ctx, "alter table %s drop partition %d", t.name, run); err != nil {
			return err
		}
	}
	// last: as long as it is there, something may be
	return s.exec(ctx, "alter table parallax_shards drop partition %d", run)
}

// leftAfter is when an import that never ended is given up.
const leftAfter = 24 * time.Hour

// sweep drops the leftovers of killed imports. Its failure does no harm.
func sweep(ctx context.Context, c *cluster) {
	whole := map[uint64]bool{}
	all, err := c.shares(ctx)
	if err != nil {
		return
	}
	for _, r := range wholeRuns(all) {
		for _, id := range r.ids {
			whole[id] = true
		}
	}
	_ = c.each(ctx, func(ctx context.Context, s *server) error {
		rows,
			err := s.Query(ctx,
			fmt.Sprintf("select run from parallax_shards where created < %d", time.Now().Add(-leftAfter).Unix()))
		if err != nil {
			return err
		}
		var left []uint64
		for rows.Next() {
			var run uint64
			if err := rows.Scan(&run); err == nil && !whole[run] {
				left = append(left, run)
			}
		}
		rows.Close()
		for _, run := range left {
			_ = s.drop(ctx, run) // also its row, where it is a part whose others never came
		}
		return nil
	})
}
