package sqlitefile

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestColumnsComeFromTheStatement(t *testing.T) {
	for _, c := range []struct {
		sql     string
		columns []string
		rowid   int
		ok      bool
	}{
		{"CREATE TABLE a (id INTEGER NOT NULL PRIMARY KEY, value TEXT)", []string{"id", "value"}, 0, true},
		{"CREATE TABLE a (\n -- a comment, with a comma\n x REAL, -- more\n y DECIMAL(10, 2) NOT NULL, z)", []string{"x", "y", "z"}, -1, true},
		{"CREATE TABLE [a b] (\"start\" INT PRIMARY KEY, `end` INTEGER /* (, */, PRIMARY KEY (\"end\"))", []string{"start", "end"}, 1, true},
		{"CREATE TABLE a (x INTEGER, y INTEGER, PRIMARY KEY (x, y))", []string{"x", "y"}, -1, true},
		{"CREATE TABLE a (x INTEGER, CONSTRAINT k PRIMARY KEY (x), UNIQUE (x), FOREIGN KEY (x) REFERENCES b(x))", []string{"x"}, 0, true},
		{"CREATE TABLE a (x PRIMARY KEY, y) WITHOUT ROWID", []string{"x", "y"}, -1, false},
		{"CREATE TABLE a (x", nil, -1, false},
		{"", nil, -1, false},
	} {
		columns, rowid, ok := parseTable(c.sql)
		if ok != c.ok || ok && (!reflect.DeepEqual(columns, c.columns) || rowid != c.rowid) {
			t.Errorf("%s: %q, row id %d, %v; want %q, %d, %v", c.sql, columns, rowid, ok, c.columns, c.rowid, c.ok)
		}
	}
}

// The samples were written by SQLite itself (testdata/README.md), with what a plain page
// does not show: overflow pages, every width of integer, several levels of a tree.
func TestRowsAreThoseThatSQLiteReads(t *testing.T) {
	for _, name := range []string{"types", "types-utf16", "overflow", "deep"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, name)
			if f.Cut() {
				t.Error("the file is said to be cut")
			}
			if got := dump(t, f); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", head(got), head(string(want)))
			}
		})
	}
}

func TestMissingColumnsAreNull(t *testing.T) {
	f := open(t, "types")
	_, err := f.Scan(context.Background(), f.Tables()[0], []string{"no such column", "id"}, func(r *Row) error {
		if !r.Null(0) || r.Null(1) {
			t.Errorf("null: %v, %v", r.Null(0), r.Null(1))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDamageIsCountedAndCostsOnlyItsPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "deep.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	whole := rows(t, data)
	clear(data[5*512 : 6*512])
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	d, err := f.Scan(context.Background(), f.Tables()[0], []string{"id"}, func(*Row) error { n++; return nil })
	if err != nil || d.Pages != 1 || n >= whole || n < whole/2 {
		t.Errorf("%d of %d rows, damage %+v, %v", n, whole, d, err)
	}
}

func rows(t *testing.T, data []byte) (n int) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Scan(context.Background(), f.Tables()[0], nil, func(*Row) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"types", "types-utf16", "overflow", "deep"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".sqlite"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		db, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, table := range db.Tables() {
			_, _ = db.Scan(context.Background(), table, table.Columns, func(r *Row) error {
				for i := range table.Columns {
					r.Text(i)
					r.Int(i)
				}
				return nil
			})
		}
	})
}

func open(t *testing.T, name string) *File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// dump writes all tables as testdata/make.py does.
func dump(t *testing.T, f *File) string {
	t.Helper()
	var b strings.Builder
	for _, table := range f.Tables() {
		fmt.Fprintf(&b, "%s: %s\n", table.Name, strings.Join(table.Columns, ", "))
		d, err := f.Scan(context.Background(), table, table.Columns, func(r *Row) error {
			for i := range table.Columns {
				if i > 0 {
					b.WriteString(" | ")
				}
				switch v := &r.values[i]; v.kind {
				case null:
					b.WriteString("null")
				case integer:
					fmt.Fprint(&b, v.num)
				case float:
					x, _ := r.Number(i)
					if x == math.Trunc(x) { // SQLite itself keeps most of these as integers
						fmt.Fprintf(&b, "%.0f", x)
					} else {
						fmt.Fprintf(&b, "%.6f", x)
					}
				case text:
					b.Write(r.Text(i))
				case blob:
					b.WriteString(hex.EncodeToString(r.Text(i)))
				}
			}
			b.WriteByte('\n')
			return nil
		})
		if err != nil || d != (Damage{}) {
			t.Errorf("%s: damage %+v, %v", table.Name, d, err)
		}
	}
	return b.String()
}

func head(s string) string { return s[:min(len(s), 600)] }
