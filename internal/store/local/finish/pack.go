package finish

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Columns of large tables are written plain, since rows are changed after they are written and everything else is
// derived from them; when they are not needed any more they are packed, column by column, and the plain file is
// removed.

// A packer packs plain columns of a store that is being made.
type packer struct {
	dir, temp string
	workers   int
	described *described
}

func (f *finisher) packer() packer { return packer{f.Dir, f.Temp, f.workers, &f.described} }

// packJob is the number of rows that are packed at a time.
const packJob = 256 * pack.Frame

// columnsAtOnce are packed side by side: while one waits for the disk, another is made.
const columnsAtOnce = 3

// packTables packs the columns of tables that are to be, and describes all their files.
func (p packer) packTables(ctx context.Context, tables ...string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(columnsAtOnce)
	for i := range disk.Schema {
		t := &disk.Schema[i]
		if !slices.Contains(tables, t.Name) {
			continue
		}
		for k := range t.Columns {
			g.Go(func() error { return p.packWhole(ctx, i, k) })
		}
	}
	return g.Wait()
}

// packColumns packs columns by their files.
func (p packer) packColumns(ctx context.Context, files ...string) error {
	for i := range disk.Schema {
		t := &disk.Schema[i]
		for k := range t.Columns {
			if slices.Contains(files, t.Columns[k].File()) {
				if err := p.packWhole(ctx, i, k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// packWhole packs a column of a table from its file; one that stays plain is described.
func (p packer) packWhole(ctx context.Context, table, column int) error {
	c := &disk.Schema[table].Columns[column]
	if !c.Packed {
		return p.described.add(p.dir, []string{c.File()})
	}
	return p.packFile(ctx, c.File(), c)
}

// packFile packs a file of values as a column says.
func (p packer) packFile(ctx context.Context, name string, c *disk.Column) error {
	m, err := spool.MapWhole(filepath.Join(p.dir, name))
	if err != nil {
		return err
	}
	rows, per := uint64(int64(len(m.Bytes))/c.Width()), uint64(max(c.Per, 1))
	w := disk.NewColumnWriter(p.dir, name, p.temp)
	w.Passing = p.described.passing
	err = p.appendRows(ctx, w, rows, per, func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32) {
		dst, words = c.PackFrames(dst, words, m.Bytes, from, to)
		m.Release(int64(from)*c.Width(), int64(to)*c.Width())
		return dst, words
	})
	return p.finishColumn(w, name, rows*per, errors.Join(err, m.Close()))
}

// packRows packs rows [first, end) of table interval, from a whole frame on. Values of parents and exclusive times that
// follow from the other columns are taken off first. No column is replaced before all are packed: they are read for
// each other, and some systems change no file that is mapped.
func (p packer) packRows(ctx context.Context, t *rows.Table, first, end uint64) error {
	columns := disk.Schema[intervalTable].Columns
	writers := make([]*disk.ColumnWriter, len(columns))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(columnsAtOnce)
	for k := range columns {
		writers[k] = disk.NewColumnWriter(p.dir, columns[k].File(), p.temp)
		writers[k].Passing = p.described.passing
		g.Go(func() error { return p.appendRows(within, writers[k], end-first, 1, rowFrames(t, k, first)) })
	}
	err := g.Wait()
	for _, m := range t.RowMaps {
		err = errors.Join(err, m.Close())
	}
	g = new(errgroup.Group)
	g.SetLimit(columnsAtOnce)
	for k, w := range writers {
		g.Go(func() error { return p.finishColumn(w, columns[k].File(), end-first, err) })
	}
	return g.Wait()
}

// rowFrames returns a function that packs a column of rows, counted from the first one.
func rowFrames(t *rows.Table, k int, first uint64) func(dst []byte, words []uint32, from, to uint64) ([]byte,
	[]uint32) {
	columns := disk.Schema[intervalTable].Columns
	folded := k == exclusiveColumn || k == parentColumn
	read := []int{k} // columns
	if folded {
		read = []int{durationColumn, exclusiveColumn, parentColumn, depthColumn}
	}
	return func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32) {
		from, to = from+first, to+first
		if folded {
			dst, words = packFolded(&t.C, dst, words, k, from, to)
		} else {
			dst, words = columns[k].PackFrames(dst, words, t.RowMaps[k].Bytes, from, to)
		}
		// Giving pages back stops all cores for a moment: only those that were read.
		for _, k := range read {
			width := columns[k].Width()
			t.RowMaps[k].Release(int64(from)*width, int64(to)*width)
		}
		return dst, words
	}
}

// Places of columns in the schema of table interval.
const (
	durationColumn  = 1
	exclusiveColumn = 2
	regionColumn    = 3
	parentColumn    = 4
	depthColumn     = 5
)

// packFolded packs parents or exclusive times as differences from the values that follow from the other columns.
func packFolded(c *disk.Columns, dst []byte, words []uint32, column int, from, to uint64) ([]byte, []uint32) {
	var exclusive [pack.Frame]trace.Time
	var parent [pack.Frame]int32
	var values [pack.Frame]uint64
	for ; from < to; from += pack.Frame {
		n := int(min(to-from, pack.Frame))
		r := pack.Rows{
			First: from, Duration: c.Duration[from : from+uint64(n)], Depth: c.Depth[from : from+uint64(n)],
			Exclusive: exclusive[:copy(exclusive[:], c.Exclusive[from:from+uint64(n)])],
			Parent:    parent[:copy(parent[:], c.Parent[from:from+uint64(n)])],
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

// A packedPart is some frames of a column, and how many words each has.
type packedPart struct {
	bytes []byte
	words []uint32
}

// appendRows packs rows on all cores, and appends their frames in order.
func (p packer) appendRows(
	ctx context.Context, w *disk.ColumnWriter, rows, per uint64,
	frames func(dst []byte, words []uint32, from, to uint64) ([]byte, []uint32),
) error {
	pieces := int((rows + packJob - 1) / packJob)
	packPiece := func(_ context.Context, own *packedPart, i int) (packedPart, error) {
		from := uint64(i) * packJob
		var made packedPart
		made.bytes,
			made.words = frames(own.bytes[:0], make([]uint32, 0, packJob/pack.Frame*per), from, min(from+packJob, rows))
		made.bytes, own.bytes = slices.Clone(made.bytes), made.bytes
		return made, nil
	}
	return disk.Guard(func() error {
		return parallel.Ordered(ctx, pieces, p.workers, func() *packedPart { return &packedPart{} }, packPiece,
			func(made packedPart) error { return w.Append(made.bytes, made.words) })
	})
}

// finishColumn puts a packed column in place of the plain one and describes it, or passes an error on.
func (p packer) finishColumn(w *disk.ColumnWriter, name string, values uint64, err error) error {
	if err := w.Close(err); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	e, err := p.described.file(p.dir, name)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	e.Values = int64(values)
	p.described.set(e)
	return nil
}
