package nsight

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// parquetMagic is how a Parquet file begins and ends.
const parquetMagic = "PAR1"

// parquetTables are the tables of an export as a directory: one file each, named after its table.
type parquetTables struct {
	tables []*sqlitefile.Table
	files  map[*sqlitefile.Table]*parquet.File
}

// openParquet opens the files of one directory. One that cannot be read is counted and left out.
func openParquet(run importer.Run, w trace.Writer) (*file, error) {
	f := &file{run: run, name: run.Files[0], label: run.Label(path.Dir(run.Files[0])), w: w}
	db := &parquetTables{files: map[*sqlitefile.Table]*parquet.File{}}
	var closers []func()
	f.close = func() {
		for _, c := range closers {
			c()
		}
	}
	for _, name := range run.Files {
		r, size, closer, err := importer.RandomAccess(run, name)
		if err != nil {
			f.close()
			return nil, err
		}
		closers = append(closers, closer)
		p, err := parquetFile(r, size)
		run.Progress.Add(size)
		if err != nil {
			w.Report(trace.Skipped, "tables whose Parquet file cannot be read", 1, fmt.Sprintf("%s: %v", run.Label(name), err))
			continue
		}
		t := &sqlitefile.Table{Name: strings.TrimSuffix(path.Base(name), path.Ext(name))}
		for _, column := range p.Root().Columns() {
			t.Columns = append(t.Columns, column.Name())
		}
		db.tables = append(db.tables, t)
		db.files[t] = p
	}
	f.take(db)
	if f.table("StringIds") == nil {
		f.close()
		return nil, importer.Malformed(f.label, "StringIds.parquet", "the table of names cannot be read, so nothing in the export has a name")
	}
	return f, nil
}

// parquetFile reads the footer. The library may panic at one that lies.
func parquetFile(r io.ReaderAt, size int64) (p *parquet.File, err error) {
	defer recoverParquet(&err)
	var end [8]byte
	if size < 12 {
		return nil, errors.New("the file is too short")
	} else if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, err
	} else if n := binary.LittleEndian.Uint32(end[:]); string(end[4:]) != parquetMagic || int64(n) > size-12 {
		return nil, errors.New("the file has no end: it was cut, or is damaged there")
	}
	p, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	for _, column := range p.Root().Columns() {
		if !column.Leaf() || column.Repeated() {
			return nil, fmt.Errorf("column %s is no plain column", column.Name())
		}
	}
	if err := checkPages(r, size, p); err != nil {
		return nil, err
	}
	return p, nil
}

// mostPage bounds a page that is unpacked: writers make pages of some megabytes.
const mostPage = 256 << 20

// checkPages holds every page to the bytes that are there, since the library takes memory for what a page says of itself.
func checkPages(r io.ReaderAt, size int64, p *parquet.File) error {
	protocol := thrift.CompactProtocol{}
	for _, group := range p.Metadata().RowGroups {
		for i := range group.Columns {
			m := &group.Columns[i].MetaData
			at := m.DataPageOffset
			if d := m.DictionaryPageOffset; d > 0 && d < at {
				at = d
			}
			end := at + m.TotalCompressedSize
			if at < 0 || end < at || end > size {
				return fmt.Errorf("column %s lies outside the file", strings.Join(m.PathInSchema, "."))
			}
			for at < end {
				in := io.NewSectionReader(r, at, end-at)
				buffered := bufio.NewReaderSize(in, 512)
				var h format.PageHeader
				if err := thrift.NewDecoder(protocol.NewReader(buffered)).Decode(&h); err != nil {
					return fmt.Errorf("the page at byte %d: %w", at, err)
				}
				read, _ := in.Seek(0, io.SeekCurrent)
				at += read - int64(buffered.Buffered())
				if n := int64(h.CompressedPageSize); n < 0 || n > end-at || h.UncompressedPageSize < 0 || h.UncompressedPageSize > mostPage {
					return fmt.Errorf("the page before byte %d is said to have %d bytes, %d unpacked", at, n, h.UncompressedPageSize)
				}
				at += int64(h.CompressedPageSize)
			}
		}
	}
	return nil
}

func recoverParquet(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the file contradicts itself (%v)", v)
	}
}

// Tables lists the tables.
func (d *parquetTables) Tables() []*sqlitefile.Table { return d.tables }

// Scan gives the named columns of every row to fn: a batch of values of each column at a time. Row groups that cannot be
// read are damage, like pages of a database.
func (d *parquetTables) Scan(ctx context.Context, t *sqlitefile.Table, columns []string, fn func(*sqlitefile.Row) error) (damage sqlitefile.Damage, err error) {
	for i, g := range d.files[t].RowGroups() {
		bad, err := scanGroup(ctx, g, t, columns, fn)
		if err != nil {
			return damage, err
		}
		if bad != nil {
			if damage.Pages == 0 {
				damage.First = int64(i)
			}
			damage.Pages++
		}
	}
	return damage, nil
}

// parquetBatch is how many rows are held at a time.
const parquetBatch = 512

// A parquetColumn is a column being read.
type parquetColumn struct {
	place  int // in the row
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buffer [parquetBatch]parquet.Value
}

// scanGroup gives the rows of one row group. bad is what is wrong with the file, err what fn says.
func scanGroup(ctx context.Context, g parquet.RowGroup, t *sqlitefile.Table, names []string, fn func(*sqlitefile.Row) error) (bad, err error) {
	var failed error // of fn, kept apart from what the library does
	defer func() {
		if v := recover(); v != nil {
			bad = fmt.Errorf("%v", v)
		}
		err = failed
	}()
	var columns []*parquetColumn
	chunks := g.ColumnChunks()
	for i, name := range names {
		if k := t.Column(name); k >= 0 {
			c := &parquetColumn{place: i, pages: chunks[k].Pages()}
			defer c.close()
			columns = append(columns, c)
		}
	}
	row := sqlitefile.NewRow(len(names))
	for at, rows := int64(0), g.NumRows(); at < rows; at += parquetBatch {
		if failed = ctx.Err(); failed != nil {
			return nil, nil
		}
		n := min(rows-at, parquetBatch)
		for _, c := range columns {
			if bad = c.fill(c.buffer[:n]); bad != nil {
				return bad, nil
			}
		}
		for i := range n {
			row.Clear()
			for _, c := range columns {
				setParquet(row, c.place, &c.buffer[i])
			}
			if failed = fn(row); failed != nil {
				return nil, nil
			}
		}
		for _, c := range columns {
			c.release()
		}
	}
	return nil, nil
}

// fill reads values over the ends of pages.
func (c *parquetColumn) fill(to []parquet.Value) error {
	for len(to) > 0 {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(to)
		for i := range to[:n] {
			to[i] = to[i].Clone() // its page may be gone when it is used
		}
		to = to[n:]
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			parquet.Release(c.page)
			c.page, c.values = nil, nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (c *parquetColumn) release() { clear(c.buffer[:]) }

func (c *parquetColumn) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.pages.Close()
}

// setParquet puts a value into a row.
func setParquet(row *sqlitefile.Row, i int, v *parquet.Value) {
	if v.IsNull() {
		return
	}
	switch v.Kind() {
	case parquet.Boolean:
		row.SetInt(i, 0)
		if v.Boolean() {
			row.SetInt(i, 1)
		}
	case parquet.Int32:
		row.SetInt(i, int64(v.Int32()))
	case parquet.Int64:
		row.SetInt(i, v.Int64())
	case parquet.Float:
		row.SetNumber(i, float64(v.Float()))
	case parquet.Double:
		row.SetNumber(i, v.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		row.SetText(i, v.ByteArray())
	}
}
