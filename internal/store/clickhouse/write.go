package clickhouse

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/parallax-hpc/parallax/internal/store/local"
)

// batchBytes is how much goes to a server in one insert: a part of a table each, which it merges later.
const batchBytes = 32 << 20

// shardOf returns the server, of n, that has a block of a file of so many.
func shardOf(block, blocks int64, n int) int { return int(block * int64(n) / max(blocks, 1)) }

// A Part is one of several imports that write a run together: each makes the same store and writes its part of the
// blocks, to all servers. It counts from 1; the zero Part is all of a run.
type Part struct{ Part, Of int }

// of returns the number of parts there are, and which of them this is from 0 on.
func (p Part) of() (part, parts int) { return max(p.Part, 1) - 1, max(p.Of, 1) }

// has reports whether a block on one of n servers belongs to the part.
func (p Part) has(block, blocks int64, n int) bool {
	part, parts := p.of()
	return partOf(block, blocks, n, parts) == part
}

// partOf returns the part that writes a block: each server's range is cut again.
func partOf(block, blocks int64, n, parts int) int { return shardOf(block, blocks, n*parts) % parts }

// Write puts the store in a directory into the tables of an address, as its run. The run is visible when the last
// insert is done; an earlier run of its name is removed then. After an error nothing of it is visible, and the
// inserted rows are removed from servers that answer.
func Write(ctx context.Context, a *Address, dir string, progress func(done, total int64)) error {
	_, err := WritePart(ctx, a, dir, Part{}, progress)
	return err
}

// WritePart does for one part. The run is there when the last part is; missing are those still to come.
func WritePart(ctx context.Context, a *Address, dir string, part Part, progress func(done, total int64)) (missing []int,
	err error) {
	if a.Run == "" {
		return nil, errors.New("the address names no run: clickhouse://HOST:PORT/DATABASE/RUN")
	}
	c, err := connect(ctx, a)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.each(ctx, func(ctx context.Context, s *server) error { return s.make(ctx) }); err != nil {
		return nil, err
	}
	sweep(ctx, c)
	w := &writer{cluster: c, dir: dir, part: part, progress: progress}
	if w.run, err = newRun(); err == nil {
		err = w.write(ctx)
	}
	if err != nil {
		w.undo()
		return nil, fmt.Errorf("write to %s: %w", a, err)
	}
	return w.settle(ctx)
}

// newRun returns a number that no other run has.
func newRun() (uint64, error) {
	var b [8]byte
	if _, err := io.ReadFull(rand.Reader, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[:])>>1 | 1, nil
}

// A writer writes one run.
type writer struct {
	*cluster
	dir      string
	part     Part
	run      uint64
	progress func(done, total int64)
	counter
}

func (w *writer) write(ctx context.Context) error {
	manifest, err := os.ReadFile(filepath.Join(w.dir, "manifest.json"))
	if err != nil {
		return err
	}
	files, err := local.FilesOf(manifest)
	if err != nil {
		return err
	}
	r, err := local.Open(w.dir, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, f := range files {
		w.total += f.Size
	}
	part, parts := w.part.of()
	w.total /= int64(parts)
	shards := make(map[*server]int)
	for i, s := range w.servers {
		shards[s] = i
	}
	created := time.Now().UTC()
	err = w.each(ctx, func(ctx context.Context, s *server) error {
		n := shards[s]
		err := s.insert(ctx, "insert into parallax_shards (run, shard, shards, part, name, created)", w.run, uint16(n),
			uint16(len(w.servers)), uint16(part), w.Run, created)
		if err != nil {
			return err
		}
		return w.blocks(ctx, s, n, files)
	})
	if err == nil && part == 0 {
		err = w.kept(ctx, created)
	}
	if err == nil && w.Options.Get("rows") != "no" {
		err = w.rows(ctx, r)
	}
	if err != nil {
		return err
	}
	i := r.Info()
	source := ""
	if len(i.Sources) > 0 {
		source = i.Sources[0]
	}
	return w.servers[0].insert(ctx,
		"insert into parallax_runs (run, name, part, parts, created, shards, source, format, locations, intervals, "+
			"bytes, manifest)",
		w.run, w.Run, uint16(part), uint16(parts), created, uint16(len(w.servers)), source, i.Format,
		uint64(r.Locations().Len()), uint64(i.Intervals), uint64(i.SizeBytes), string(manifest))
}

// kept writes the bytes stored with the store to the server that has the run's row.
func (w *writer) kept(ctx context.Context, created time.Time) error {
	files, err := filepath.Glob(filepath.Join(w.dir, "kept.*"))
	if err != nil {
		return err
	}
	for _, f := range files {
		name := strings.TrimPrefix(filepath.Base(f), "kept.")
		if strings.Contains(name, ".") {
			continue // is being written
		}
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := w.servers[0].insert(ctx, keepStatement, w.run, name, created, string(data)); err != nil {
			return err
		}
	}
	return nil
}

const keepStatement = "insert into parallax_kept (run, name, created, data)"

// blocks writes the share of one server.
func (w *writer) blocks(ctx context.Context, s *server, shard int, files []local.File) error {
	var batch *batch
	defer func() { batch.abort() }()
	for number, f := range files {
		if f.Size == 0 {
			continue
		}
		in, err := os.Open(filepath.Join(w.dir, f.Name))
		if err != nil {
			return err
		}
		err = func() error {
			defer in.Close()
			buf := make([]byte, f.BlockSize)
			for b := int64(0); b < f.Blocks; b++ {
				if shardOf(b, f.Blocks, len(w.servers)) != shard || !w.part.has(b, f.Blocks, len(w.servers)) {
					continue
				}
				n := min(f.BlockSize, f.Size-b*f.BlockSize)
				if _, err := in.ReadAt(buf[:n], b*f.BlockSize); err != nil {
					return fmt.Errorf("read %s: %w", f.Name, err)
				}
				if batch == nil {
					if batch, err = s.begin(ctx, "insert into parallax_blocks (run, file, block, data)"); err != nil {
						return err
					}
				}
				if err := batch.Append(w.run, uint16(number), uint32(b), string(buf[:n])); err != nil {
					return s.failed(err)
				}
				w.count(n, w.progress)
				if batch.bytes += n; batch.bytes >= batchBytes {
					if err := batch.send(); err != nil {
						return err
					}
					batch = nil
				}
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	if batch == nil {
		return nil
	}
	last := batch
	batch = nil
	return last.send()
}

// undo removes the inserted rows, if servers still answer.
func (w *writer) undo() {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	for _, s := range w.servers {
		_ = s.drop(ctx, w.run) // a later import drops the rest, see sweep
	}
}

// settle returns the parts of the run that are still missing. If none is, it removes earlier runs of its name.
func (w *writer) settle(ctx context.Context) (missing []int, err error) {
	all, err := w.shares(ctx)
	if err != nil {
		return nil, err
	}
	mine := slices.IndexFunc(all, func(x share) bool { return x.id == w.run })
	if mine < 0 {
		return nil, fmt.Errorf("the run %q was removed while it was written", w.Run)
	}
	whole := wholeOf(all, all[mine].key())
	missing = whole.missing()
	for _, x := range all {
		other := x.key() != all[mine].key()
		if x.Name != w.Run || slices.Contains(whole.ids, x.id) || other && len(missing) > 0 {
			continue
		}
		if err := w.remove(ctx, x.id); err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// A batch is rows for one insert.
type batch struct {
	driver.Batch
	s     *server
	bytes int64
}

func (s *server) begin(ctx context.Context, statement string) (*batch, error) {
	b, err := s.PrepareBatch(ctx, statement)
	if err != nil {
		return nil, s.failed(err)
	}
	return &batch{Batch: b, s: s}, nil
}

func (b *batch) send() error { return b.s.failed(b.Send()) }

func (b *batch) abort() {
	if b != nil {
		_ = b.Abort()
	}
}

// A counter tells how far a write is, from several goroutines.
type counter struct {
	mu          sync.Mutex
	done, total int64
}

func (c *counter) count(n int64, tell func(done, total int64)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done += n; tell != nil {
		tell(c.done, c.total)
	}
}
