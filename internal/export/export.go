// Package export writes the tables of a run as Parquet files: one file per table, packed with zstd, in row groups
// along location and time with statistics, so that readers can skip row groups. It streams: memory holds a few row
// groups.
package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/table"
)

// Version of the layout of a directory. Tables and columns may be added without a new one.
const Version = 2

// A Schema is schema.json, the description of the directory.
type Schema struct {
	Version int     `json:"version"`
	Program string  `json:"program"`
	Source  string  `json:"source"`
	Tables  []Table `json:"tables"`
	// Attributes are the names of those of intervals, in the order of their numbers.
	Attributes []string `json:"attributes"`
	// Lake describes the run in its lake, if it is in one.
	Lake any `json:"lake,omitempty"`
}

// A Table of the schema.
type Table struct {
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Help    string   `json:"help"`
	Rows    int64    `json:"rows"`
	Columns []Column `json:"columns"`
}

// A Column of the schema.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // integer, number, text or flag
	Unit string `json:"unit"`
	Null bool   `json:"null"`
	Help string `json:"help"`
}

// Run writes the tables into a directory that must not exist; it appears when it is whole.
func Run(ctx context.Context, dir string, r *table.Run, tables []*table.Table,
	done func(table string, rows int64)) (*Schema, error) {
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("export: %s exists; name a new directory", dir)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o777); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	temporary, lock, err := begin(filepath.Clean(dir))
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	defer os.RemoveAll(temporary)
	defer lock.Close()
	s := &Schema{Version: Version, Program: "parallax", Source: r.Source, Tables: []Table{},
		Attributes: append([]string{}, r.Store.Attributes()...)}
	for _, t := range tables {
		name := t.Name + ".parquet"
		rows, err := writeTable(ctx, filepath.Join(temporary, name), r, t)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", t.Name, err)
		}
		s.Tables = append(s.Tables, Describe(t, name, rows))
		if done != nil {
			done(t.Name, rows)
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(temporary, "schema.json"), append(text, '\n'), 0o666); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	lock.Close()
	if err = os.RemoveAll(filepath.Join(temporary, partial.TempName)); err == nil {
		err = os.Rename(temporary, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return s, nil
}

// begin makes the directory that an export is written in until it is whole, and removes those of killed programs. The
// lock tells others that its writer lives.
func begin(dir string) (temporary string, lock *partial.Lock, err error) {
	parent := filepath.Dir(dir)
	partial.RemoveStale(parent)
	// Not os.MkdirTemp: its directories are the user's alone, and this one is renamed.
	temporary = filepath.Join(parent, fmt.Sprintf(".%s%s%d", filepath.Base(dir), partial.PartMark, os.Getpid()))
	if err := os.Mkdir(temporary, 0o777); err != nil {
		return "", nil, err
	}
	within := filepath.Join(temporary, partial.TempName)
	if err = os.Mkdir(within, 0o700); err == nil {
		lock, err = partial.LockDir(within)
	}
	if err != nil {
		os.RemoveAll(temporary)
	}
	return temporary, lock, err
}

// Describe returns a table's entry in the schema.
func Describe(t *table.Table, file string, rows int64) Table {
	out := Table{Name: t.Name, File: file, Help: t.Help, Rows: rows, Columns: []Column{}}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, Column{c.Name, c.Kind.String(), c.Unit, c.Null, c.Help})
	}
	return out
}

func writeTable(ctx context.Context, path string, r *table.Run, t *table.Table) (rows int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	rows, err = Write(ctx, f, t.Name, t.Columns, func(emit func(*table.Batch) error) error {
		return t.Each(ctx, r, &table.Filter{}, &table.Output{Emit: emit})
	})
	if e := f.Close(); err == nil {
		err = e
	}
	return rows, err
}

// Write writes one Parquet file of the batches that a function yields.
func Write(ctx context.Context, w io.Writer, name string, columns []table.Column,
	each func(emit func(*table.Batch) error) error) (rows int64, err error) {
	f := newFile(ctx, w, name, columns)
	err = each(f.add)
	if e := f.close(err); err == nil {
		err = e
	}
	return f.rows, err
}
