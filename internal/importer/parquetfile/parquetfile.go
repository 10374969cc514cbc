// Package parquetfile reads flat tables of Parquet files, for the formats that keep a trace
// in them. It handles rows, not traces.
//
// The library allocates memory by the sizes in a file, and may panic if they are wrong. So
// every page is held to the bytes that are there before any is unpacked, and panics become
// errors of the file.
package parquetfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Magic is how a Parquet file begins and ends.
const Magic = "PAR1"

// A File is one table.
type File struct {
	Columns []string
	file    *parquet.File
}

// Open reads the footer and looks at all pages.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	defer recovered(&err)
	var end [8]byte
	if size < 12 {
		return nil, errors.New("the file is too short")
	} else if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, err
	} else if n := binary.LittleEndian.Uint32(end[:]); string(end[4:]) != Magic || int64(n) > size-12 {
		return nil, errors.New("the file has no end: it was cut, or is damaged there")
	}
	p, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	f = &File{file: p}
	for _, column := range p.Root().Columns() {
		if !column.Leaf() || column.Repeated() {
			return nil, fmt.Errorf("column %s is no plain column", column.Name())
		}
		f.Columns = append(f.Columns, column.Name())
	}
	if err := checkPages(r, size, p); err != nil {
		return nil, err
	}
	return f, nil
}

// mostPage bounds a page that is unpacked: writers make pages of some megabytes.
const mostPage = 256 << 20

// checkPages holds every page to the bytes that are there.
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
				return fmt.Errorf("column %s is outside the file", strings.Join(m.PathInSchema, "."))
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
				if n := int64(h.CompressedPageSize); n < 0 || n > end-at || h.UncompressedPageSize < 0 ||
					h.UncompressedPageSize > mostPage {
					return fmt.Errorf("the page before byte %d states %d bytes, %d unpacked", at, n,
						h.UncompressedPageSize)
				}
				at += int64(h.CompressedPageSize)
			}
		}
	}
	return nil
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("the file contradicts itself (%v)", v)
	}
}

// Column finds a column by its name; -1: none.
func (f *File) Column(name string) int {
	for i, c := range f.Columns {
		if c == name {
			return i
		}
	}
	return -1
}

// Lookup finds a value of the file's own metadata.
func (f *File) Lookup(key string) (string, bool) { return f.file.Lookup(key) }

// Bounds returns the least and the most value of a column in a row group; false where the file does not say.
func (f *File) Bounds(group, column int) (least, most parquet.Value, ok bool) {
	chunk, isFile := f.file.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
	if !isFile {
		return least, most, false
	}
	return chunk.Bounds()
}

// Rows is how many rows the file says that it has.
func (f *File) Rows() int64 { return f.file.NumRows() }

// Damage counts row groups that cannot be read: First is the number of the first of them,
// Why its error.
type Damage struct {
	Groups int64
	First  int
	Why    error
}

// batchRows is the number of rows that are held at a time.
const batchRows = 512

// A Reader goes through the named columns of a file, some rows at a time. A row group that
// cannot be read is left where it fails, and counted.
type Reader struct {
	Damage Damage
	// Skip, where it is set, says that a row group is not read.
	Skip func(group int) bool
	// Values of each column, Rows of them; empty where the file has no such column.
	Values [][]parquet.Value
	Rows   int

	file    *File
	places  []int // in the file, of each column; -1: not there
	groups  []parquet.RowGroup
	group   int // that is read; len(groups) at the end
	left    int64
	columns []*column
	buffers [][]parquet.Value // of each column, as long as the longest batch so far
}

// NewReader makes a reader. Close it when done.
func (f *File) NewReader(names ...string) *Reader {
	r := &Reader{file: f, groups: f.file.RowGroups(), group: -1, Values: make([][]parquet.Value, len(names)),
		buffers: make([][]parquet.Value, len(names))}
	for _, n := range names {
		r.places = append(r.places, f.Column(n))
	}
	return r
}

// Next reads some rows; false at the end.
func (r *Reader) Next(ctx context.Context) (bool, error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if r.left == 0 {
			r.Close()
			if r.group++; r.group >= len(r.groups) {
				r.group = len(r.groups)
				return false, nil
			}
			if r.Skip != nil && r.Skip(r.group) {
				continue
			}
			if err := r.open(); err != nil {
				r.spoil(err)
				continue
			}
			continue
		}
		n := int(min(r.left, batchRows))
		if err := r.fill(n); err != nil {
			r.spoil(err)
			continue
		}
		r.left -= int64(n)
		r.Rows = n
		return true, nil
	}
}

// spoil counts the row group that is read as damaged, and leaves it.
func (r *Reader) spoil(err error) {
	if r.Damage.Groups == 0 {
		r.Damage.First, r.Damage.Why = r.group, err
	}
	r.Damage.Groups++
	r.left = 0
}

// open begins a row group.
func (r *Reader) open() (err error) {
	defer recovered(&err)
	g := r.groups[r.group]
	chunks := g.ColumnChunks()
	for i, k := range r.places {
		r.Values[i] = nil
		if k >= 0 {
			r.columns = append(r.columns, &column{place: i, pages: chunks[k].Pages()})
		}
	}
	r.left = g.NumRows()
	return nil
}

func (r *Reader) fill(n int) (err error) {
	defer recovered(&err)
	for _, c := range r.columns {
		if len(r.buffers[c.place]) < n { // most files are short, and have many columns
			r.buffers[c.place] = make([]parquet.Value, n)
		}
		if err := c.fill(r.buffers[c.place][:n]); err != nil {
			return err
		}
		r.Values[c.place] = r.buffers[c.place][:n]
	}
	return nil
}

// Close frees the row group's data.
func (r *Reader) Close() {
	for _, c := range r.columns {
		c.close()
	}
	r.columns, r.left = r.columns[:0], 0
}

// A column of a row group.
type column struct {
	place  int
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
}

// fill reads values over the ends of pages.
func (c *column) fill(to []parquet.Value) error {
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

func (c *column) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.pages.Close()
}

// Integer returns a value that is a whole number, or a flag.
func Integer(v *parquet.Value) (int64, bool) {
	if v.IsNull() {
		return 0, false
	}
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1, true
		}
		return 0, true
	case parquet.Int32:
		return int64(v.Int32()), true
	case parquet.Int64:
		return v.Int64(), true
	}
	return 0, false
}

// Number returns a value that is a number with a fraction.
func Number(v *parquet.Value) (float64, bool) {
	if v.IsNull() {
		return 0, false
	}
	switch v.Kind() {
	case parquet.Float:
		return float64(v.Float()), true
	case parquet.Double:
		return v.Double(), true
	}
	return 0, false
}

// Text returns the bytes of a text; nil for none. They are valid until the reader goes on.
func Text(v *parquet.Value) []byte {
	if v.IsNull() || v.Kind() != parquet.ByteArray && v.Kind() != parquet.FixedLenByteArray {
		return nil
	}
	if b := v.ByteArray(); b != nil {
		return b
	}
	return []byte{}
}
