package clickhouse

import (
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

	run uint64
	on  *server // that has its row
}

// List gives all runs of an address, the latest first.
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

func (c *cluster) list(ctx context.Context) ([]Run, error) {
	var mu sync.Mutex
	var all []Run
	err := c.each(ctx, func(ctx context.Context, s *server) error {
		if err := s.check(ctx); err != nil {
			return err
		}
		rows, err := s.Query(ctx, "select run, name, source, format, created, shards, locations, intervals, bytes from parallax_runs")
		if err != nil {
			return s.failed(err)
		}
		defer rows.Close()
		for rows.Next() {
			r := Run{on: s}
			var shards uint16
			var locations, intervals, bytes uint64
			if err := rows.Scan(&r.run, &r.Name, &r.Source, &r.Format, &r.Created, &shards, &locations, &intervals, &bytes); err != nil {
				return s.failed(err)
			}
			r.Shards, r.Locations, r.Intervals, r.Bytes = int(shards), int64(locations), int64(intervals), int64(bytes)
			mu.Lock()
			all = append(all, r)
			mu.Unlock()
		}
		return s.failed(rows.Err())
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Run) int {
		if c := b.Created.Compare(a.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
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
	all, err := c.list(ctx)
	if err != nil {
		return err
	}
	removed := false
	for _, r := range all {
		if r.Name == a.Run {
			if err := c.remove(ctx, r.run); err != nil {
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

// remove takes a run away: first what makes it visible.
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
	return s.exec(ctx, "alter table parallax_shards drop partition %d", run) // last: as long as it is there, something may be
}

// leftAfter is when an import that never ended is given up.
const leftAfter = 24 * time.Hour

// sweep drops what imports that were killed have left. Where it cannot, nobody is hurt.
func sweep(ctx context.Context, c *cluster) {
	whole := map[uint64]bool{}
	all, err := c.list(ctx)
	if err != nil {
		return
	}
	for _, r := range all {
		whole[r.run] = true
	}
	_ = c.each(ctx, func(ctx context.Context, s *server) error {
		rows, err := s.Query(ctx, fmt.Sprintf("select run from parallax_shards where created < %d", time.Now().Add(-leftAfter).Unix()))
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
			_ = s.drop(ctx, run)
		}
		return nil
	})
}
