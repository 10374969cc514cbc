package finish

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Columns of large tables are written plain, since rows are changed after they are written and everything else is derived
// from them; when nobody needs them any more they are packed, column by column, and the plain file goes.

// A packer packs columns.
type packer struct{ *finisher }

// packJob is how many rows are packed at a time.
const packJob = 256 * pack.Frame

// columnsAtOnce are packed side by side: while one waits for the disk, another is made.
const columnsAtOnce = 3

// packTables packs the columns of tables that are to be, and describes all their files.
func (f packer) packTables(ctx context.Context, tables ...string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(columnsAtOnce)
	for i := range disk.Schema {
		t := &disk.Schema[i]
		if !slices.Contains(tables, t.Name) {
			continue
		}
		for k := range t.Columns {
			g.Go(func() error { return f.packWhole(ctx, i, k) })
		}
	}
	return g.Wait()
}

// packColumns packs columns by their files.
func (f packer) packColumns(ctx context.Context, files ...string) error {
	for i := range disk.Schema {
		t := &disk.Schema[i]
		for k := range t.Columns {
			if slices.Contains(files, t.Columns[k].File()) {
				if err := f.packWhole(ctx, i, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// packWhole packs a column of a table from its file; one that stays plain is described.
func (f packer) packWhole(ctx context.Context, table, column int) error {
	c := &disk.Schema[table].Columns[column]
	if !c.Packed {
		return f.described.add(f.Dir, []string{c.File()})
	}
	return f.packFile(ctx, c.File(), c)
}

// packFile packs a file of values as a column says.
func (f packer) packFile(ctx context.Context, name string, c *disk.Column) error {
	m, err := spool.MapWhole(filepath.Join(f.Dir, name))
	if err != nil {
		return err
	}
	rows := uint64(int64(len(m.Bytes)) / c.Width())
	if rows > 0 && rows <= packJob {
		var b []byte
		err := disk.Guard(func() error {
			b = packSmall(func(dst []byte, words []uint32) ([]byte, []uint32) { return c.PackFrames(dst, words, m.Bytes, 0, rows) })
			return nil
		})
		if err := errors.Join(err, m.Close()); err != nil {
			return err
		}
		return f.overwrite(name, b, rows*uint64(max(c.Per, 1)))
	}
	err = f.packColumn(ctx, name, rows, uint64(max(c.Per, 1)), func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32) {
		dst, words = c.PackFrames(dst, words, m.Bytes, from, to)
		m.Release(int64(from)*c.Width(), int64(to)*c.Width())
		return dst, words
	})
	return errors.Join(err, m.Close())
}

// packRows packs rows [first, end) of table interval, from a whole frame on. Of parents and exclusive times what the other columns tell is
// taken off first.
func (f packer) packRows(ctx context.Context, first, end uint64) error {
	columns := disk.Schema[intervalTable].Columns
	if end > first && end-first <= packJob {
		return f.packFewRows(ctx, first, end)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(columnsAtOnce)
	for k := range columns {
		col, raw := &columns[k], f.rows.RowMaps[k]
		read := []int{k} // columns
		if k == exclusiveColumn || k == parentColumn {
			read = []int{durationColumn, exclusiveColumn, parentColumn, depthColumn}
		}
		frames := func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32) {
			from, to = from+first, to+first
			if k != exclusiveColumn && k != parentColumn {
				dst, words = col.PackFrames(dst, words, raw.Bytes, from, to)
			} else {
				dst, words = f.packFolded(dst, words, k, from, to)
			}
			// Giving pages back stops all cores for a moment: only those that were read.
			for _, k := range read {
				width := columns[k].Width()
				f.rows.RowMaps[k].Release(int64(from)*width, int64(to)*width)
			}
			return dst, words
		}
		g.Go(func() error { return f.packColumn(ctx, col.File(), end-first, 1, frames) })
	}
	return g.Wait()
}

// packFewRows packs all columns before it writes any: they are read for each other.
func (f packer) packFewRows(ctx context.Context, first, end uint64) error {
	columns := disk.Schema[intervalTable].Columns
	packed := make([][]byte, len(columns))
	err := disk.Guard(func() error {
		return parallel.For(ctx, len(columns), func(k int) {
			packed[k] = packSmall(func(dst []byte, words []uint32) ([]byte, []uint32) {
				if k == exclusiveColumn || k == parentColumn {
					return f.packFolded(dst, words, k, first, end)
				}
				return columns[k].PackFrames(dst, words, f.rows.RowMaps[k].Bytes, first, end)
			})
		})
	})
	for _, m := range f.rows.RowMaps { // nobody reads them any more, and some systems change no file that is mapped
		err = errors.Join(err, m.Close())
	}
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(columnsAtOnce)
	for k, b := range packed {
		g.Go(func() error { return f.overwrite(columns[k].File(), b, end-first) })
	}
	return g.Wait()
}

// Places of columns in the schema of table interval.
const (
	durationColumn  = 1
	exclusiveColumn = 2
	regionColumn    = 3
	parentColumn    = 4
	depthColumn     = 5
)

func (f packer) packFolded(dst []byte, words []uint32, column int, from, to uint64) ([]byte, []uint32) {
	c := &f.rows.C
	var exclusive [pack.Frame]trace.Time
	var parent [pack.Frame]int32
	var values [pack.Frame]uint64
	for ; from < to; from += pack.Frame {
		n := int(min(to-from, pack.Frame))
		r := pack.Rows{
			First: from, Duration: c.Duration[from : from+uint64(n)], Depth: c.Depth[from : from+uint64(n)],
			Exclusive: exclusive[:copy(exclusive[:], c.Exclusive[from:from+uint64(n)])], Parent: parent[:copy(parent[:], c.Parent[from:from+uint64(n)])],
		}
		r.Fold(c.LaneRow)
		for i := range n {
			if column == parentColumn {
				values[i] = uint64(int64(parent[i]))
			} else {
				values[i] = uint64(exclusive[i])
			}
		}
		before := len(dst)
		dst = pack.Append(dst, values[:n])
		words = append(words, uint32((len(dst)-before)/8))
	}
	return dst, words
}

// packSmall gives the bytes of a packed column of few rows.
func packSmall(frames func(dst []byte, words []uint32) ([]byte, []uint32)) []byte {
	b, words := frames(nil, nil)
	at := uint32(0) // in words; few rows are far from 32 bits
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, n := range words {
		at += n
		b = binary.LittleEndian.AppendUint32(b, at)
	}
	if len(words)%2 == 0 {
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	return b
}

// overwrite puts packed bytes in place of plain ones that nobody reads any more.
func (f packer) overwrite(name string, b []byte, values uint64) error {
	e, err := disk.Overwrite(f.Dir, name, b)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	e.Values = int64(values)
	f.described.set(e)
	return nil
}

// A packedPart is some frames of a column, and how many words each has.
type packedPart struct {
	bytes []byte
	words []uint32
}

// packColumn puts a packed file in place of a plain one and describes it. Frames are made on all cores and written in order.
func (f packer) packColumn(ctx context.Context, name string, rows, per uint64, frames func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32)) error {
	path := filepath.Join(f.Dir, name)
	if rows == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		f.described.set(disk.FileEntry{Name: name, CRC32C: disk.Checksum(nil)})
		return nil
	}
	out, err := os.CreateTemp(f.Temp, "packed-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	w := bufio.NewWriterSize(out, 1<<18)
	starts := []uint32{0}
	at := uint64(0)
	err = disk.Guard(func() error {
		return parallel.Ordered(ctx, int((rows+packJob-1)/packJob), f.workers, func() *packedPart { return &packedPart{} }, func(_ context.Context, w *packedPart, i int) (packedPart, error) {
			from := uint64(i) * packJob
			var p packedPart
			p.bytes, p.words = frames(w.bytes[:0], make([]uint32, 0, packJob/pack.Frame*per), from, min(from+packJob, rows))
			p.bytes, w.bytes = slices.Clone(p.bytes), p.bytes
			return p, nil
		}, func(p packedPart) error {
			for _, n := range p.words {
				if at += uint64(n); at > math.MaxUint32 {
					return fmt.Errorf("column %s takes more than 32 GB", name)
				}
				starts = append(starts, uint32(at))
			}
			_, err := w.Write(p.bytes)
			return err
		})
	})
	if err == nil {
		if len(starts)%2 == 1 {
			starts = append(starts, 0)
		}
		_, err = w.Write(spool.BytesOf(starts))
	}
	if err = errors.Join(err, w.Flush(), out.Chmod(0o644), out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(out.Name(), path); err != nil {
		return err
	}
	e, err := disk.DescribeFile(f.Dir, name)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	e.Values = int64(rows * per)
	f.described.set(e)
	return nil
}
