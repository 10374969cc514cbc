package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader answers for one run: the local reader, over blocks that are in tables.
type Reader struct {
	*local.Reader
	from *blocks
}

var (
	_ store.Reader   = (*Reader)(nil)
	_ store.Digester = (*Reader)(nil)
)

// Open opens the run of an address.
func Open(ctx context.Context, a *Address, summaries []trace.Summary, digests ...trace.Digest) (*Reader, error) {
	if a.Run == "" {
		return nil, fmt.Errorf("%s names no run; `parallax runs %s` lists them", a, a)
	}
	c, err := dial(a, reading)
	if err != nil {
		return nil, err
	}
	r, err := c.open(ctx, summaries, digests)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", a, errors.Join(err, c.close()))
	}
	return r, nil
}

func (c *cluster) open(ctx context.Context, summaries []trace.Summary, digests []trace.Digest) (*Reader, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	b := &blocks{cluster: c}
	var all []share
	var places []placed
	manifests := map[uint64]string{}
	// All in one round trip: far away, each would take longer than all they bring.
	err := atOnce(func() error { return c.greet(ctx) }, func() (err error) {
		all, err = c.shares(ctx)
		return err
	}, func() (err error) {
		places, err = c.places(ctx)
		return err
	}, func() error {
		return c.manifests(ctx, manifests)
	})
	if err != nil {
		return nil, err
	}
	whole := wholeRuns(all)
	at := slices.IndexFunc(whole, func(r Run) bool { return r.Name == c.Run })
	if at < 0 {
		return nil, c.noRun(all)
	}
	run := &whole[at]
	if err := b.locate(run, places); err != nil {
		return nil, err
	}
	manifest, ok := manifests[run.ids[0]]
	if !ok {
		return nil, fmt.Errorf("%s: the run was written again just now; open it again", run.on.host)
	}
	files, err := local.FilesOf([]byte(manifest))
	if err != nil {
		return nil, err
	}
	b.files = map[string]fileOf{}
	for i, f := range files {
		b.files[f.Name] = fileOf{number: i, blocks: f.Blocks}
	}
	r, err := local.OpenFrom(b, []byte(manifest), c.timeout, summaries, digests...)
	if err != nil {
		return nil, err
	}
	return &Reader{r, b}, nil
}

// noRun returns the error for a run that is missing or not whole.
func (c *cluster) noRun(all []share) error {
	var waiting []Run
	for i := range all {
		if k := all[i].key(); all[i].Name == c.Run &&
			!slices.ContainsFunc(all[:i], func(x share) bool { return x.key() == k }) {
			waiting = append(waiting, wholeOf(all, k))
		}
	}
	if len(waiting) > 1 {
		return fmt.Errorf("run %q is not whole: parts of it come from different sources or versions of parallax; "+
			"`parallax rm` it and import them again", c.Run)
	}
	if len(waiting) == 1 {
		return fmt.Errorf("run %q is not whole: of %d parts these are still to come: %s", c.Run, len(waiting[0].ids),
			strings.Trim(fmt.Sprint(waiting[0].missing()), "[]"))
	}
	var names []string
	for _, r := range wholeRuns(all) {
		if len(names) == 8 {
			names = append(names, "...")
			break
		}
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("no run %q; there is none at all", c.Run)
	}
	return fmt.Errorf("no run %q; there are %s", c.Run, strings.Join(names, ", "))
}

// Place returns the address that the run was opened by, with its password.
func (r *Reader) Place() string { return r.from.given }

// Traffic returns how often blocks were asked for, and how many bytes came.
func (r *Reader) Traffic() (requests, bytes int64) { return r.Fetched.Traffic() }

// Close ends the connections too.
func (r *Reader) Close() error { return errors.Join(r.Reader.Close(), r.from.close()) }

// A blocks is the blocks of a run.
type blocks struct {
	*cluster
	parts []partOn
	files map[string]fileOf
}

// A partOn is one part of a run, and which servers have it, in the order of shares.
type partOn struct {
	id     uint64
	shards []*server
}

type fileOf struct {
	number int
	blocks int64
}

// A placed says that a server has a share of a part.
type placed struct {
	id    uint64
	shard uint16
	on    *server
}

// places finds the server of each share that has the run's name.
func (c *cluster) places(ctx context.Context) (out []placed, err error) {
	var mu sync.Mutex
	err = c.each(ctx, func(ctx context.Context, s *server) error {
		rows, err := s.Query(ctx, "select run, shard from parallax_shards where name = ?", c.Run)
		if err != nil {
			return s.failed(err)
		}
		defer rows.Close()
		x := placed{on: s}
		for rows.Next() {
			if err := rows.Scan(&x.id, &x.shard); err != nil {
				return s.failed(err)
			}
			mu.Lock()
			out = append(out, x)
			mu.Unlock()
		}
		return s.failed(rows.Err())
	})
	return out, err
}

// manifests finds the manifests of the run's name; of parts the first has it.
func (c *cluster) manifests(ctx context.Context, out map[uint64]string) error {
	var mu sync.Mutex
	return c.each(ctx, func(ctx context.Context, s *server) error {
		rows, err := s.Query(ctx, "select run, manifest from parallax_runs where part = 0 and name = ?", c.Run)
		if err != nil {
			return s.failed(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id uint64
			var manifest string
			if err := rows.Scan(&id, &manifest); err != nil {
				return s.failed(err)
			}
			mu.Lock()
			out[id] = manifest
			mu.Unlock()
		}
		return s.failed(rows.Err())
	})
}

// locate returns the server of each share of a run, whatever the order in which addresses named them.
func (b *blocks) locate(r *Run, places []placed) error {
	for _, id := range r.ids {
		p := partOn{id, make([]*server, r.Shards)}
		for _, x := range places {
			if x.id == id && int(x.shard) < len(p.shards) {
				p.shards[x.shard] = x.on
			}
		}
		if missing := slices.Index(p.shards, nil); missing >= 0 {
			return fmt.Errorf("share %d of %d of the run is on none of the servers named (%s); name all of them in "+
				"the address", missing+1, r.Shards, strings.Join(b.Hosts, ", "))
		}
		b.parts = append(b.parts, p)
	}
	return nil
}

// Kept returns bytes stored with the run, from the server that has its first share.
func (b *blocks) Kept(name string) (data []byte, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	err := b.parts[0].shards[0].QueryRow(ctx,
		"select data from parallax_kept where run = ? and name = ? order by created desc limit 1", b.parts[0].id,
		name).Scan(&data)
	return data, err == nil // missing results are derived again
}

// Keep stores bytes with the run.
func (b *blocks) Keep(name string, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	return b.parts[0].shards[0].insert(ctx, keepStatement, b.parts[0].id, name, time.Now().UTC(), string(data))
}
