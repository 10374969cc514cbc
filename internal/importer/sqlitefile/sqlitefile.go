// Package sqlitefile reads the tables of an SQLite database file: rows in the order of
// the file, a page at a time, without a database engine. Formats that keep a
// trace in SQLite (Nsight Systems, nvprof, rocpd) scan their tables once from
// end to end and join them by themselves; that needs neither SQL nor an index.
//
// A scan decodes only the columns that are asked for and yields bytes of the page.
// It costs O(pages of the table) reads and O(1) memory: a window of the file per
// scan and a stack of at most maxDepth pages.
//
// The file format is SQLite's own description of it (fileformat2.html): a header of
// 100 bytes, pages of equal size, tables as B-trees whose leaves hold records.
// Damage costs only the part it covers: a page that makes no sense is counted and
// left out. A write-ahead log next to the file is not read.
package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Magic is how every database begins.
const Magic = "SQLite format 3\x00"

const (
	headerSize = 100
	// maxDepth bounds the B-tree's height; 2^31 pages need fewer than 20.
	maxDepth = 24
	// maxPayload bounds one row; SQLite's own limit is 10^9.
	maxPayload = 1 << 30
)

// ErrNotADatabase: the file does not begin like one.
var ErrNotADatabase = errors.New("not an SQLite database")

// A File is an open database. It may be scanned from many goroutines.
type File struct {
	r        io.ReaderAt
	pages    int64 // that the file holds
	pageSize int64
	usable   int64 // bytes of a page that hold data
	encoding int   // of text: 1 UTF-8, 2 UTF-16 little-endian, 3 big-endian
	tables   []*Table
	cut      bool
}

// A Table is a table's name and its columns.
type Table struct {
	Name    string
	Columns []string
	root    int64
	rowid   int // the column that is the row's id, -1 if none
}

// Column finds a column by its name, -1 if the table has none.
func (t *Table) Column(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c, name) {
			return i
		}
	}
	return -1
}

// Has reports whether the table has all these columns.
func (t *Table) Has(names ...string) bool {
	for _, n := range names {
		if t.Column(n) < 0 {
			return false
		}
	}
	return true
}

// Open reads the header and the schema of a database of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var head [headerSize]byte
	if _, err := r.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if err != nil || string(head[:16]) != Magic {
		return nil, ErrNotADatabase
	}
	f := &File{r: r, pageSize: int64(binary.BigEndian.Uint16(head[16:]))}
	if f.pageSize == 1 {
		f.pageSize = 65536
	}
	if f.pageSize < 512 || f.pageSize&(f.pageSize-1) != 0 {
		return nil, fmt.Errorf("a page of %d bytes", f.pageSize)
	}
	f.usable = f.pageSize - int64(head[20])
	if f.usable < 480 {
		return nil, fmt.Errorf("pages reserve %d of %d bytes", head[20], f.pageSize)
	}
	if f.encoding = int(binary.BigEndian.Uint32(head[56:])); f.encoding < 1 || f.encoding > 3 {
		f.encoding = 1
	}
	f.pages = size / f.pageSize
	stated := int64(binary.BigEndian.Uint32(head[28:]))
	// The stated size holds if it was written with the last change.
	valid := string(head[24:28]) == string(head[92:96])
	f.cut = size%f.pageSize != 0 || valid && stated > f.pages
	return f, f.schema()
}

// Cut reports whether the file is shorter than it says.
func (f *File) Cut() bool { return f.cut }

// Tables are the tables in the order of their definition.
func (f *File) Tables() []*Table { return f.tables }

// Table finds a table by its name, nil if there is none.
func (f *File) Table(name string) *Table {
	for _, t := range f.tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}
