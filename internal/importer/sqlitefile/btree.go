package sqlitefile

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// The kinds of pages of a table.
const (
	interiorPage = 0x05
	leafPage     = 0x0d
)

// Damage counts the pages and rows that a scan could not read.
type Damage struct {
	Pages int64 // of the tree, that are missing or of the wrong kind
	Rows  int64 // in sound pages
	First int64 // the first page concerned
}

func (d *Damage) page(n int64) {
	if d.Pages+d.Rows == 0 {
		d.First = n
	}
	d.Pages++
}

func (d *Damage) row(page int64) {
	if d.Pages+d.Rows == 0 {
		d.First = page
	}
	d.Rows++
}

// Scan passes the named columns of every row of a table to fn, in order of row ids.
// Columns that the table has not are null. The row is valid until fn returns.
func (f *File) Scan(ctx context.Context, t *Table, columns []string, fn func(*Row) error) (Damage, error) {
	s := &scan{File: f, ctx: ctx, fn: fn, seen: newPageSet(f.pages)}
	s.row.encoding = f.encoding
	s.row.values = make([]Value, len(columns))
	s.row.wanted = make([]int, len(t.Columns))
	for i := range s.row.wanted {
		s.row.wanted[i] = -1
	}
	for i, name := range columns {
		if k := t.Column(name); k >= 0 {
			s.row.wanted[k] = i
		}
	}
	s.row.rowid = -1
	if t.rowid >= 0 {
		s.row.rowid = s.row.wanted[t.rowid]
	}
	for n := len(s.row.wanted); n > 0 && s.row.wanted[n-1] < 0; n-- {
		s.row.wanted = s.row.wanted[:n-1] // nothing after the last is decoded
	}
	err := s.tree(t.root, 0)
	return s.damage, err
}

type scan struct {
	*File
	ctx    context.Context
	fn     func(*Row) error
	row    Row
	seen   pageSet
	damage Damage
	window window
	stack  [maxDepth][]byte // a page for each level of the tree
	whole  []byte           // a payload that is on several pages
}

// tree walks the pages under page n. A page that was met before is damage: so
// cycles end, and the whole scan reads each page once.
func (s *scan) tree(n int64, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if n < 1 || n > s.pages || depth == maxDepth || !s.seen.add(n) {
		s.damage.page(n)
		return nil
	}
	page, err := s.load(n, depth)
	if err != nil {
		return err
	}
	at := int64(0)
	if n == 1 {
		at = headerSize
	}
	kind := page[at]
	cells := int64(binary.BigEndian.Uint16(page[at+3:]))
	header := at + 8
	if kind == interiorPage {
		header = at + 12
	}
	if kind != interiorPage && kind != leafPage || header+2*cells > s.usable {
		s.damage.page(n)
		return nil
	}
	for i := range cells {
		cell := int64(binary.BigEndian.Uint16(page[header+2*i:]))
		if kind == leafPage {
			if err := s.leaf(page[:s.usable], cell, n); err != nil {
				return err
			}
			continue
		}
		if cell+4 > s.usable {
			s.damage.page(n)
			continue
		}
		if err := s.tree(int64(binary.BigEndian.Uint32(page[cell:])), depth+1); err != nil {
			return err
		}
	}
	if kind == interiorPage {
		return s.tree(int64(binary.BigEndian.Uint32(page[at+8:])), depth+1)
	}
	return nil
}

// leaf decodes one cell of a leaf.
func (s *scan) leaf(page []byte, cell, n int64) error {
	if cell >= int64(len(page)) {
		s.damage.row(n)
		return nil
	}
	b := page[cell:]
	size, k := varint(b)
	id, m := varint(b[k:])
	if k == 0 || m == 0 || size < 0 || size > maxPayload {
		s.damage.row(n)
		return nil
	}
	b = b[k+m:]
	payload, ok, err := s.payload(b, size)
	if err != nil {
		return err
	}
	if !ok || !s.row.decode(payload, id) {
		s.damage.row(n)
		return nil
	}
	return s.fn(&s.row)
}

// payload gathers a record, of which the page holds the beginning b.
func (s *scan) payload(b []byte, size int64) (_ []byte, ok bool, err error) {
	most := s.usable - 35
	if size <= most {
		return b[:min(size, int64(len(b)))], size <= int64(len(b)), nil
	}
	least := (s.usable-12)*32/255 - 23
	local := least + (size-least)%(s.usable-4)
	if local > most {
		local = least
	}
	if local+4 > int64(len(b)) || size > s.pages*s.usable {
		return nil, false, nil
	}
	s.whole = append(s.whole[:0], b[:local]...)
	next := int64(binary.BigEndian.Uint32(b[local:]))
	for int64(len(s.whole)) < size {
		if next < 1 || next > s.pages || !s.seen.add(next) {
			return nil, false, nil
		}
		page, err := s.window.page(s.File, next)
		if err != nil {
			return nil, false, err
		}
		rest := min(size-int64(len(s.whole)), s.usable-4)
		s.whole = append(s.whole, page[4:4+rest]...)
		next = int64(binary.BigEndian.Uint32(page))
	}
	return s.whole, true, nil
}

// load reads a page of the tree; it stays valid while pages below it are read.
func (s *scan) load(n int64, depth int) ([]byte, error) {
	page, err := s.window.page(s.File, n)
	if err != nil {
		return nil, err
	}
	s.stack[depth] = append(s.stack[depth][:0], page...)
	return s.stack[depth], nil
}

// A window is a piece of the file that holds the page wanted last: pages of a table
// mostly follow each other.
type window struct {
	begin int64
	data  []byte
}

const windowSize = 256 << 10

func (w *window) page(f *File, n int64) ([]byte, error) {
	at := (n - 1) * f.pageSize
	if at < w.begin || at+f.pageSize > w.begin+int64(len(w.data)) {
		w.begin = at
		size := min(max(windowSize, f.pageSize), f.pages*f.pageSize-at)
		if int64(cap(w.data)) < size {
			w.data = make([]byte, size)
		}
		w.data = w.data[:size]
		if k, err := f.r.ReadAt(w.data, at); int64(k) < size {
			w.data = w.data[:0]
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	at -= w.begin
	return w.data[at : at+f.pageSize], nil
}

// A pageSet is a set of page numbers, a bit each.
type pageSet []uint64

func newPageSet(pages int64) pageSet { return make(pageSet, pages/64+1) }

// add reports whether n was new.
func (p pageSet) add(n int64) bool {
	bit := uint64(1) << (n & 63)
	if p[n>>6]&bit != 0 {
		return false
	}
	p[n>>6] |= bit
	return true
}
