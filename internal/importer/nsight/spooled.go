package nsight

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
)

// spooledTables keep rows until they are scanned: those of a small table in memory, others in files of the temporary
// directory. A cell is a byte for its type, then the number, or the length and bytes of the string.
type spooledTables struct {
	tables []*sqlitefile.Table
	byName map[string]*spooledTable
}

type spooledTable struct {
	*sqlitefile.Table
	begin   []byte   // the first rows, or all of them
	file    *os.File // the rest; nil: there is none
	writer  *bufio.Writer
	size    int64 // of the file
	scratch []byte
}

// inMemory is how many bytes of a table are kept without a file.
const inMemory = 256 << 10

const (
	cellNull = iota
	cellInt
	cellText
)

func newSpooledTables() *spooledTables { return &spooledTables{byName: map[string]*spooledTable{}} }

// add adds a row of a table of lineTables: a number or a text for each column.
func (d *spooledTables) add(name string, cells ...any) error {
	t := d.byName[name]
	if t == nil {
		t = &spooledTable{Table: &sqlitefile.Table{Name: name, Columns: lineTables[name]}}
		d.byName[name] = t
		d.tables = append(d.tables, t.Table)
	}
	b := t.scratch[:0]
	for _, c := range cells {
		switch v := c.(type) {
		case number:
			if !v.ok {
				b = append(b, cellNull)
				continue
			}
			b = binary.AppendVarint(append(b, cellInt), v.n)
		case string:
			b = binary.AppendUvarint(append(b, cellText), uint64(len(v)))
			b = append(b, v...)
		}
	}
	t.scratch = b
	return t.write(b)
}

func (t *spooledTable) write(b []byte) error {
	if t.file == nil {
		if len(t.begin)+len(b) <= inMemory {
			t.begin = append(t.begin, b...)
			return nil
		}
		file, err := os.CreateTemp("", "parallax-table-")
		if err != nil {
			return err
		}
		t.file, t.writer = file, bufio.NewWriterSize(file, 1<<16)
	}
	n, err := t.writer.Write(b)
	t.size += int64(n)
	return err
}

// rows reads all that was written.
func (t *spooledTable) rows() *bufio.Reader {
	begin := bytes.NewReader(t.begin)
	if t.file == nil {
		return bufio.NewReader(begin)
	}
	return bufio.NewReaderSize(io.MultiReader(begin, io.NewSectionReader(t.file, 0, t.size)), 1<<16)
}

func (d *spooledTables) has(name string) bool { return d.byName[name] != nil }

func (d *spooledTables) flush() error {
	for _, t := range d.byName {
		if t.file == nil {
			continue
		}
		if err := t.writer.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (d *spooledTables) close() {
	for _, t := range d.byName {
		if t.file != nil {
			t.file.Close()
			os.Remove(t.file.Name())
		}
	}
}

// Tables lists the tables.
func (d *spooledTables) Tables() []*sqlitefile.Table { return d.tables }

// Scan passes the named columns of every row to fn.
func (d *spooledTables) Scan(ctx context.Context, t *sqlitefile.Table, columns []string,
	fn func(*sqlitefile.Row) error) (damage sqlitefile.Damage, err error) {
	s := d.byName[t.Name]
	wanted := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		wanted[i] = slices.Index(columns, c)
	}
	row := sqlitefile.NewRow(len(columns))
	texts := make([][]byte, len(t.Columns))
	r := s.rows()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return damage, ctx.Err()
		}
		if _, err := r.Peek(1); err == io.EOF {
			return damage, nil
		}
		row.Clear()
		for i, to := range wanted {
			if err := readCell(r, row, to, &texts[i]); err != nil {
				return damage, fmt.Errorf("rows kept of %s: %w", t.Name, err)
			}
		}
		if err := fn(row); err != nil {
			return damage, err
		}
	}
}

// readCell reads one cell into column to of a row, or past it where to is negative.
func readCell(r *bufio.Reader, row *sqlitefile.Row, to int, text *[]byte) error {
	kind, err := r.ReadByte()
	if err != nil {
		return err
	}
	switch kind {
	case cellInt:
		n, err := binary.ReadVarint(r)
		if err != nil {
			return err
		}
		if to >= 0 {
			row.SetInt(to, n)
		}
	case cellText:
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		*text = slices.Grow((*text)[:0], int(n))[:n]
		if _, err := io.ReadFull(r, *text); err != nil {
			return err
		}
		if to >= 0 {
			row.SetText(to, *text)
		}
	}
	return nil
}
