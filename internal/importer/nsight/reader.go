package nsight

import (
	"context"
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// read imports the files of a run, several at once.
func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	trace.SortRegions(w)
	rank, named := ranks(run.Files)
	return parallel.Tasks(ctx, len(run.Files), func(ctx context.Context, i int) error {
		f, err := openUnit(ctx, run, run.Files[i], w)
		if err != nil || f == nil {
			return err
		}
		defer f.close()
		c := newConverter(f, w, len(run.Files) > 1 && !isParquet(run), i)
		if n, ok := rank[run.Files[i]]; ok && named {
			c.fileRank = n
		}
		return c.convert(ctx)
	})
}

// A file is an open export: its tables, and the label for errors in them.
type file struct {
	run    importer.Run
	name   string
	label  string
	w      trace.Writer
	db     database
	close  func()
	tables []*table
}

// A database is the tables of an export, however they are kept: a database file, a directory of Parquet files, lines of
// JSON.
type database interface {
	Tables() []*sqlitefile.Table
	Scan(ctx context.Context, t *sqlitefile.Table, columns []string, fn func(*sqlitefile.Row) error) (sqlitefile.Damage,
		error)
}

// openUnit opens the export of one file of the run: the file itself or, for the first of a directory of tables, all
// of these. It is nil for the others.
func openUnit(ctx context.Context, run importer.Run, name string, w trace.Writer) (*file, error) {
	switch head := run.Source.Head(name); {
	case isLines(head):
		return openLines(ctx, run, name, w)
	case isParquet(run):
		if name != run.Files[0] {
			return nil, nil
		}
		return openParquet(run, w)
	}
	return openFile(run, name, w)
}

// take lists the tables.
func (f *file) take(db database) {
	f.db = db
	for _, t := range db.Tables() {
		f.tables = append(f.tables, &table{t, f})
	}
}

// A table is a table of the export that holds rows.
type table struct {
	*sqlitefile.Table
	file *file
}

// openFile opens a database. A packed one is unpacked to disk first, since its pages are
// not read in order.
func openFile(run importer.Run, name string, w trace.Writer) (*file, error) {
	f := &file{run: run, name: name, label: run.Label(name), w: w}
	r, size, closer, err := importer.RandomAccess(run, name)
	if err != nil {
		return nil, err
	}
	f.close = closer
	db, err := sqlitefile.Open(r, size)
	if err != nil {
		closer()
		return nil, importer.Malformed(f.label, "", "the database cannot be read: %v", err)
	}
	run.Progress.Add(size)
	if db.Cut() {
		w.Report(trace.MissingRest, "files that end before the last page of their database", 1, f.label)
	}
	f.take(db)
	if f.table("StringIds") == nil {
		closer()
		return nil, importer.Malformed(f.label, "", "the database has no table StringIds, so nothing in it has a name")
	}
	return f, nil
}

// table finds a table by name, nil if there is none.
func (f *file) table(name string) *table {
	for _, t := range f.tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

// look returns the rows of a table that is scanned once more, which reports its damage then.
func (t *table) look(ctx context.Context, fn func(*sqlitefile.Row) error, columns ...string) error {
	if t == nil {
		return nil
	}
	_, err := t.file.db.Scan(ctx, t.Table, columns, fn)
	if err != nil && ctx.Err() == nil {
		return importer.Malformed(t.file.label, t.Name, "reading fails: %v", err)
	}
	return err
}

// scan passes the rows of a table to fn and reports damaged parts. A table that is not there has no rows.
func (t *table) scan(ctx context.Context, fn func(*sqlitefile.Row) error, columns ...string) error {
	if t == nil {
		return nil
	}
	d, err := t.file.db.Scan(ctx, t.Table, columns, fn)
	place := fmt.Sprintf("%s: page %d", t.file.label, d.First)
	importer.Tell(t.file.w, trace.MissingEvents, "damaged pages of the database, with the rows on them", d.Pages, place)
	importer.Tell(t.file.w, trace.MissingEvents, "damaged rows of the database", d.Rows, place)
	if err != nil && ctx.Err() == nil {
		return importer.Malformed(t.file.label, t.Name, "reading fails: %v", err)
	}
	return err
}
