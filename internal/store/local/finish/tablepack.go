package finish

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
)

// A tablePacker packs a table whose rows come once, in their order: no column of it is ever a plain file. Rows hold no pointers.
type tablePacker[T any] struct {
	f       *finisher
	columns []*packedFile
	rows    []T // that are packed next
	count   uint64
	// other gives a value that rows do not have, of a row of those that are packed next; nil: it is 0.
	other func(row, value int) float64
}

// A packedFile is a column on its way.
type packedFile struct {
	name   string
	frame  func(dst []byte, words []uint32, values []uint64) ([]byte, []uint32)
	values []place // of a row
	file   *os.File
	buf    []byte
	words  []uint32 // of the frames in buf
	starts []uint32
	at     uint64 // in words

	written int64 // bytes
}

// A place is where a value lies in a row, and how many bytes it has; 0: it is not there.
type place struct{ offset, width int }

// newTablePacker is of a table of the schema, whose columns are these fields of a row; one with several values has several, of which
// some may be missing.
func newTablePacker[T any](f *finisher, table string, columns ...[]string) *tablePacker[T] {
	p := &tablePacker[T]{f: f, rows: make([]T, 0, packedRows)}
	row := reflect.TypeFor[T]()
	at := disk.TableAt(table)
	for k, fields := range columns {
		c := &disk.Schema[at].Columns[k]
		to := &packedFile{name: c.File(), frame: c.AppendFrame, starts: []uint32{0}}
		for _, name := range fields {
			field, _ := row.FieldByName(name)
			if field.Type == nil {
				to.values = append(to.values, place{})
				continue
			}
			to.values = append(to.values, place{int(field.Offset), int(field.Type.Size())})
		}
		p.columns = append(p.columns, to)
	}
	return p
}

// fieldsOf names a field for each column.
func fieldsOf(names ...string) (columns [][]string) {
	for _, n := range names {
		columns = append(columns, []string{n})
	}
	return columns
}

// packedRows is how many rows are packed at a time: few enough to stay near the core while column after column is made.
const packedRows = 16 * pack.Frame

// add takes rows that follow each other.
func (p *tablePacker[T]) add(ctx context.Context, rows []T) error {
	for len(rows) > 0 {
		if err := p.room(ctx); err != nil {
			return err
		}
		n := min(len(rows), packedRows-len(p.rows))
		p.rows = append(p.rows, rows[:n]...)
		rows = rows[n:]
	}
	return nil
}

// room makes room for a row.
func (p *tablePacker[T]) room(ctx context.Context) error {
	if len(p.rows) < packedRows {
		return nil
	}
	return p.flush(ctx)
}

// flush packs the rows at hand, column by column on all cores.
func (p *tablePacker[T]) flush(ctx context.Context) error {
	p.count += uint64(len(p.rows))
	errs := make([]error, len(p.columns))
	err := parallel.For(ctx, len(p.columns), func(i int) { errs[i] = p.pack(p.columns[i]) })
	p.rows = p.rows[:0]
	return cmp.Or(append(errs, err)...)
}

// pack packs a column of the rows at hand.
func (p *tablePacker[T]) pack(c *packedFile) error {
	var buf [pack.Frame]uint64
	raw, size := spool.BytesOf(p.rows), int(spool.SizeOf[T]())
	for at := 0; at < len(p.rows); at += pack.Frame {
		values := buf[:min(len(p.rows)-at, pack.Frame)]
		for k, v := range c.values {
			if v.width > 0 {
				v.gather(values, raw[at*size:], size)
			} else {
				clear(values)
				for i := 0; i < len(values) && p.other != nil; i++ {
					values[i] = math.Float64bits(p.other(at+i, k))
				}
			}
			c.buf, c.words = c.frame(c.buf, c.words, values)
		}
	}
	for _, n := range c.words {
		if c.at += uint64(n); c.at > math.MaxUint32 {
			return fmt.Errorf("column %s takes more than 32 GB", c.name)
		}
		c.starts = append(c.starts, uint32(c.at))
	}
	c.words = c.words[:0]
	if len(c.buf) < packedBuffer {
		return nil
	}
	return c.write(p.f.Dir)
}

// gather takes a value of each row; of 32 bits they are signed, as they are in any packed column.
func (v place) gather(values []uint64, rows []byte, size int) {
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

// packedBuffer is how many bytes of a column are written at a time.
const packedBuffer = 256 << 10

func (c *packedFile) write(dir string) (err error) {
	if c.file == nil {
		if c.file, err = os.Create(filepath.Join(dir, c.name)); err != nil {
			return fmt.Errorf("write %s: %w", c.name, err)
		}
	}
	if _, err = c.file.Write(c.buf); err != nil {
		return fmt.Errorf("write %s: %w", c.name, err)
	}
	spool.StartWriting(c.file, c.written, int64(len(c.buf)))
	c.written += int64(len(c.buf))
	c.buf = c.buf[:0]
	return nil
}

// finish writes what is left, and describes the files. It is called whatever happened before, and passes an error on.
func (p *tablePacker[T]) finish(ctx context.Context, err error) error {
	if err == nil && len(p.rows) > 0 {
		err = p.flush(ctx)
	}
	var g errgroup.Group // all at once: most of it is waiting for the disk
	for _, c := range p.columns {
		if err != nil {
			if c.file != nil {
				err = errors.Join(err, c.file.Close())
			}
			continue
		}
		g.Go(func() error { return c.finish(p.f, p.count) })
	}
	return cmp.Or(g.Wait(), err)
}

func (c *packedFile) finish(f *finisher, rows uint64) error {
	if rows > 0 {
		if len(c.starts)%2 == 1 {
			c.starts = append(c.starts, 0)
		}
		c.buf = append(c.buf, spool.BytesOf(c.starts)...)
		if err := c.write(f.Dir); err != nil {
			return err
		}
		if err := c.file.Close(); err != nil {
			return fmt.Errorf("write %s: %w", c.name, err)
		}
	}
	e, err := disk.DescribeFile(f.Dir, c.name)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.name, err)
	}
	e.Values = int64(rows) * int64(len(c.values))
	f.described.set(e)
	return nil
}
