package disk

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// A TablePacker packs a table whose rows come once, in their order: no column of it is ever a plain file. Rows hold no
// pointers.
type TablePacker[T any] struct {
	dir     string
	columns []*packedColumn
	Rows    []T // that are packed next
	count   uint64
	// Other returns a value that rows do not have, of a row of those that are packed next; nil: it is 0.
	Other func(row, value int) float64
}

// A packedColumn is a column on its way.
type packedColumn struct {
	column *column
	values []valuePlace // of a row
	to     *ColumnWriter
	buf    []byte // frames of the rows that are packed now
	words  []uint32
}

// A valuePlace is where a value is in a row, and how many bytes it has; 0: it is not there.
type valuePlace struct{ offset, width int }

// NewTablePacker packs a table of the schema, whose columns are these fields of a row; one with several values has
// several, of which some may be missing.
func NewTablePacker[T any](dir, table string, columns ...[]string) *TablePacker[T] {
	p := &TablePacker[T]{dir: dir}
	row := reflect.TypeFor[T]()
	at := tableAt(table)
	for k, fields := range columns {
		c := &Schema[at].Columns[k]
		to := &packedColumn{column: c, to: NewColumnWriter(dir, c.File(), "")}
		for _, name := range fields {
			field, _ := row.FieldByName(name)
			if field.Type == nil {
				to.values = append(to.values, valuePlace{})
				continue
			}
			to.values = append(to.values, valuePlace{int(field.Offset), int(field.Type.Size())})
		}
		p.columns = append(p.columns, to)
	}
	return p
}

// Passes says that the files are soon used and removed, see ColumnWriter.
func (p *TablePacker[T]) Passes(passing bool) {
	for _, c := range p.columns {
		c.to.Passing = passing
	}
}

// FieldsOf names a field for each column.
func FieldsOf(names ...string) (columns [][]string) {
	for _, n := range names {
		columns = append(columns, []string{n})
	}
	return columns
}

// packedRows is the number of rows that are packed at a time: few enough to stay near the core while column after
// column is made.
const packedRows = 16 * pack.Frame

// Count returns the number of rows there are.
func (p *TablePacker[T]) Count() uint64 { return p.count + uint64(len(p.Rows)) }

// Add takes rows that follow each other.
func (p *TablePacker[T]) Add(ctx context.Context, rows []T) error {
	for len(rows) > 0 {
		if err := p.Room(ctx); err != nil {
			return err
		}
		n := min(len(rows), packedRows-len(p.Rows))
		p.Rows = append(p.Rows, rows[:n]...)
		rows = rows[n:]
	}
	return nil
}

// Room makes room for a row among those that are packed next.
func (p *TablePacker[T]) Room(ctx context.Context) error {
	if len(p.Rows) < packedRows {
		return nil
	}
	return p.flush(ctx)
}

// flush packs the rows at hand, column by column on all cores.
func (p *TablePacker[T]) flush(ctx context.Context) error {
	p.count += uint64(len(p.Rows))
	errs := make([]error, len(p.columns))
	err := parallel.For(ctx, len(p.columns), func(i int) { errs[i] = p.pack(p.columns[i]) })
	p.Rows = p.Rows[:0]
	return cmp.Or(append(errs, err)...)
}

// pack packs a column of the rows at hand.
func (p *TablePacker[T]) pack(c *packedColumn) error {
	c.buf, c.words = p.frames(c, c.buf[:0], c.words[:0], p.Rows)
	return c.to.Append(c.buf, c.words)
}

// frames packs a column of rows, from a whole frame on.
func (p *TablePacker[T]) frames(c *packedColumn, dst []byte, words []uint32, rows []T) ([]byte, []uint32) {
	var buf [pack.Frame]uint64
	raw, size := spool.BytesOf(rows), int(spool.SizeOf[T]())
	for at := 0; at < len(rows); at += pack.Frame {
		values := buf[:min(len(rows)-at, pack.Frame)]
		for k, v := range c.values {
			if v.width > 0 {
				v.gather(values, raw[at*size:], size)
			} else {
				clear(values)
				for i := 0; i < len(values) && p.Other != nil; i++ {
					values[i] = math.Float64bits(p.Other(at+i, k))
				}
			}
			dst, words = c.column.appendFrame(dst, words, values)
		}
	}
	return dst, words
}

// Frames are rows that were packed by themselves, column by column.
type Frames struct {
	rows  int
	bytes [][]byte
	words [][]uint32
}

// Pack packs rows that begin a frame and, but for the last of all, end one. It changes nothing of the packer: several
// may be made at a time.
func (p *TablePacker[T]) Pack(f *Frames, rows []T) {
	if f.rows = len(rows); f.bytes == nil {
		f.bytes, f.words = make([][]byte, len(p.columns)), make([][]uint32, len(p.columns))
	}
	for k, c := range p.columns {
		f.bytes[k], f.words[k] = p.frames(c, f.bytes[k][:0], f.words[k][:0], rows)
	}
}

// Append adds the packed rows that follow.
func (p *TablePacker[T]) Append(f *Frames) error {
	p.count += uint64(f.rows)
	for k, c := range p.columns {
		if err := c.to.Append(f.bytes[k], f.words[k]); err != nil {
			return err
		}
	}
	return nil
}

// gather takes a value of each row; of 32 bits they are signed, as they are in any packed column.
func (v valuePlace) gather(values []uint64, rows []byte, size int) {
	at := v.offset
	switch v.width {
	case 8:
		for i := range values {
			values[i] = binary.LittleEndian.Uint64(rows[at:])
			at += size
		}
	case 4:
		for i := range values {
			values[i] = uint64(int64(int32(binary.LittleEndian.Uint32(rows[at:]))))
			at += size
		}
	default:
		for i := range values {
			values[i] = uint64(rows[at])
			at += size
		}
	}
}

// scatter is the inverse.
func (v valuePlace) scatter(values []uint64, rows []byte, size int) {
	at := v.offset
	for _, x := range values {
		switch v.width {
		case 8:
			binary.LittleEndian.PutUint64(rows[at:], x)
		case 4:
			binary.LittleEndian.PutUint32(rows[at:], uint32(x))
		case 1:
			rows[at] = byte(x)
		}
		at += size
	}
}

// Finish writes the rest; it passes an error on.
func (p *TablePacker[T]) Finish(ctx context.Context, err error) error {
	if err == nil && len(p.Rows) > 0 {
		err = p.flush(ctx)
	}
	for _, c := range p.columns {
		err = c.to.Close(err)
	}
	return err
}

// Describe returns the entries of the files.
func (p *TablePacker[T]) Describe() ([]FileEntry, error) { return p.DescribeBy(DescribeFile) }

// DescribeBy does with DescribeFile or DescribePassingFile.
func (p *TablePacker[T]) DescribeBy(one func(dir, name string) (FileEntry, error)) ([]FileEntry, error) {
	entries := make([]FileEntry, len(p.columns))
	var g errgroup.Group // all at once: most of it is waiting for the disk
	for i, c := range p.columns {
		g.Go(func() (err error) {
			if entries[i], err = one(p.dir, c.column.File()); err != nil {
				return fmt.Errorf("check %s: %w", c.column.File(), err)
			}
			entries[i].Values = int64(p.count) * int64(len(c.values))
			return nil
		})
	}
	return entries, g.Wait()
}

// MoveTo moves the files of a packer that has finished to another directory.
func (p *TablePacker[T]) MoveTo(dir string) error {
	for _, c := range p.columns {
		if p.count == 0 {
			break
		}
		if err := os.Rename(filepath.Join(p.dir, c.column.File()), filepath.Join(dir, c.column.File())); err != nil {
			return err
		}
	}
	p.dir = dir
	return nil
}

// Each reads the rows of a packer that has finished.
func (p *TablePacker[T]) Each(ctx context.Context, f func([]T) error) error {
	if p.count == 0 {
		return nil
	}
	files := make([]*FrameFile, len(p.columns))
	for i, c := range p.columns {
		file,
			err := OpenFrames(filepath.Join(p.dir, c.column.File()), int64(p.count)*int64(len(c.values)), len(c.values))
		if err != nil {
			return err
		}
		defer file.Close()
		files[i] = file
	}
	var buf [pack.Frame]uint64
	rows, size := make([]T, pack.Frame), int(spool.SizeOf[T]())
	return Guard(func() error {
		for g := uint64(0); g*pack.Frame < p.count; g++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rows = rows[:min(p.count-g*pack.Frame, pack.Frame)]
			for i, c := range p.columns {
				for k, v := range c.values {
					if v.width > 0 {
						values := files[i].Decode(g*uint64(len(c.values))+uint64(k), buf[:])
						v.scatter(values, spool.BytesOf(rows), size)
					}
				}
			}
			if err := f(rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// Change writes a column with one value per row again, with other values; of a packer that has finished.
func (p *TablePacker[T]) Change(column int, change func(values []uint64)) error {
	return p.columns[column].column.Rewrite(p.dir, p.dir, int64(p.count), nil,
		func(_ uint64, values []uint64) { change(values) })
}
