package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reader answers for one run: the local reader, over blocks that lie in tables.
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
	c, err := connect(ctx, a)
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
	all, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(r Run) bool { return r.Name == c.Run })
	if at < 0 {
		return nil, c.noRun(all)
	}
	run := &all[at]
	b, err := c.locate(ctx, run)
	if err != nil {
		return nil, err
	}
	var manifest string
	if err := run.on.failed(run.on.QueryRow(ctx, fmt.Sprintf("select manifest from parallax_runs where run = %d", run.run)).Scan(&manifest)); err != nil {
		return nil, err
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

func (c *cluster) noRun(all []Run) error {
	var names []string
	for _, r := range all {
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

// Traffic is how often blocks were asked for, and how many bytes came.
func (r *Reader) Traffic() (requests, bytes int64) { return r.Fetched.Traffic() }

// Close ends the connections too.
func (r *Reader) Close() error { return errors.Join(r.Reader.Close(), r.from.close()) }

// A blocks is the blocks of a run.
type blocks struct {
	*cluster
	run    uint64
	shards []*server // in the order of the run's shares
	files  map[string]fileOf
}

type fileOf struct {
	number int
	blocks int64
}

// locate finds which server has which share of a run, whatever the order in which the address names them.
func (c *cluster) locate(ctx context.Context, r *Run) (*blocks, error) {
	b := &blocks{cluster: c, run: r.run, shards: make([]*server, r.Shards)}
	type share struct {
		n  uint16
		on *server
	}
	found := make(chan share, len(c.servers))
	err := c.each(ctx, func(ctx context.Context, s *server) error {
		rows, err := s.Query(ctx, fmt.Sprintf("select shard from parallax_shards where run = %d", r.run))
		if err != nil {
			return s.failed(err)
		}
		defer rows.Close()
		var n uint16
		for rows.Next() {
			if err := rows.Scan(&n); err != nil {
				return s.failed(err)
			}
			found <- share{n, s}
		}
		return s.failed(rows.Err())
	})
	if err != nil {
		return nil, err
	}
	close(found)
	for x := range found {
		if int(x.n) < len(b.shards) {
			b.shards[x.n] = x.on
		}
	}
	if missing := slices.Index(b.shards, nil); missing >= 0 {
		return nil, fmt.Errorf("share %d of %d of the run is on none of the servers named (%s); name all of them in the address", missing+1, r.Shards, strings.Join(c.Hosts, ", "))
	}
	return b, nil
}

// Kept gives what is kept with the run, from the server that has its first share.
func (b *blocks) Kept(name string) (data []byte, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	err := b.shards[0].QueryRow(ctx, "select data from parallax_kept where run = ? and name = ? order by created desc limit 1", b.run, name).Scan(&data)
	return data, err == nil // what cannot be had is derived again
}

// Keep adds to what is kept with the run.
func (b *blocks) Keep(name string, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout)
	defer cancel()
	return b.shards[0].insert(ctx, keepStatement, b.run, name, time.Now().UTC(), string(data))
}

// mostConditions is how many blocks one statement asks for. They are one set, which the index is searched by: conditions joined by "or" are
// tried one by one for every entry of the index, which took a hundred times as long.
const mostConditions = 2000

// Fetch implements local.Elsewhere: all servers at once, each for its share.
func (b *blocks) Fetch(ctx context.Context, pieces []local.Piece) error {
	type key struct {
		file  uint16
		block uint32
	}
	of := make([]map[key]local.Piece, len(b.shards))
	for _, p := range pieces {
		f, ok := b.files[p.File]
		if !ok {
			return fmt.Errorf("%s is not in the manifest", p.File)
		}
		n := shardOf(p.Block, f.blocks, len(b.shards))
		if of[n] == nil {
			of[n] = map[key]local.Piece{}
		}
		of[n][key{uint16(f.number), uint32(p.Block)}] = p
	}
	g, ctx := errgroup.WithContext(ctx)
	for n, want := range of {
		if len(want) == 0 {
			continue
		}
		keys := make([]key, 0, len(want))
		for k := range want {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(a, b key) int {
			if a.file != b.file {
				return int(a.file) - int(b.file)
			}
			return int(int64(a.block) - int64(b.block))
		})
		s := b.shards[n]
		for part := range slices.Chunk(keys, mostConditions) {
			g.Go(func() error {
				var where strings.Builder
				for i, k := range part {
					if i > 0 {
						where.WriteByte(',')
					}
					fmt.Fprintf(&where, "(%d,%d)", k.file, k.block)
				}
				rows, err := s.Query(ctx, fmt.Sprintf("select file, block, data from parallax_blocks where run = %d and (file, block) in (%s)", b.run, where.String()))
				if err != nil {
					return s.failed(err)
				}
				defer rows.Close()
				got := 0
				var k key
				var data []byte
				for rows.Next() {
					if err := rows.Scan(&k.file, &k.block, &data); err != nil {
						return s.failed(err)
					}
					p, ok := want[k]
					if !ok || len(p.Into) != len(data) {
						return fmt.Errorf("%s: block %d of file %d is not as it was written: %w", s.host, k.block, k.file, local.ErrDamaged)
					}
					copy(p.Into, data)
					got++
				}
				if err := rows.Err(); err != nil {
					return s.failed(err)
				}
				if got != len(part) {
					return fmt.Errorf("%s gave %d of %d blocks: %w", s.host, got, len(part), local.ErrDamaged)
				}
				return nil
			})
		}
	}
	return g.Wait()
}
