package nsight

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
)

// spooledTables keep rows in files of the temporary directory until they are scanned. A cell is a byte that says what it
// is, then the number or the text with its length.
type spooledTables struct {
	tables []*sqlitefile.Table
	byName map[string]*spooledTable
}

type spooledTable struct {
	*sqlitefile.Table
	file    *os.File
	writer  *bufio.Writer
	size    int64
	scratch []byte
}

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
		file, err := os.CreateTemp("", "parallax-table-")
		if err != nil {
			return err
		}
		t = &spooledTable{Table: &sqlitefile.Table{Name: name, Columns: lineTables[name]}, file: file, writer: bufio.NewWriterSize(file, 1<<16)}
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
	n, err := t.writer.Write(b)
	t.size += int64(n)
	return err
}

func (d *spooledTables) has(name string) bool { return d.byName[name] != nil }

func (d *spooledTables) flush() error {
	for _, t := range d.byName {
		if err := t.writer.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (d *spooledTables) close() {
	for _, t := range d.byName {
		t.file.Close()
		os.Remove(t.file.Name())
	}
}

// Tables lists the tables.
func (d *spooledTables) Tables() []*sqlitefile.Table { return d.tables }

// Scan gives the named columns of every row to fn.
func (d *spooledTables) Scan(ctx context.Context, t *sqlitefile.Table, columns []string, fn func(*sqlitefile.Row) error) (damage sqlitefile.Damage, err error) {
	s := d.byName[t.Name]
	wanted := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		wanted[i] = slices.Index(columns, c)
	}
	row := sqlitefile.NewRow(len(columns))
	texts := make([][]byte, len(t.Columns))
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 1<<16)
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
				return damage, fmt.Errorf("rows kept in %s: %w", s.file.Name(), err)
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
