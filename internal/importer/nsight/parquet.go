package nsight

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// parquetTables are the tables of an export as a directory: one file each, named after its table.
type parquetTables struct {
	tables []*sqlitefile.Table
	files  map[*sqlitefile.Table]*parquetfile.File
}

// openParquet opens the files of one directory. One that cannot be read is counted and left out.
func openParquet(run importer.Run, w trace.Writer) (*file, error) {
	f := &file{run: run, name: run.Files[0], label: run.Label(path.Dir(run.Files[0])), w: w}
	db := &parquetTables{files: map[*sqlitefile.Table]*parquetfile.File{}}
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
		p, err := parquetfile.Open(r, size)
		run.Progress.Add(size)
		if err != nil {
			w.Report(trace.MissingFiles, "tables whose Parquet file cannot be read", 1,
				fmt.Sprintf("%s: %v", run.Label(name), err))
			continue
		}
		t := &sqlitefile.Table{Name: strings.TrimSuffix(path.Base(name), path.Ext(name)), Columns: p.Columns}
		db.tables = append(db.tables, t)
		db.files[t] = p
	}
	f.take(db)
	if f.table("StringIds") == nil {
		f.close()
		return nil,
			importer.Malformed(f.label, "StringIds.parquet",
				"the table of names cannot be read, so nothing in the export has a name")
	}
	return f, nil
}

// Tables lists the tables.
func (d *parquetTables) Tables() []*sqlitefile.Table { return d.tables }

// Scan passes the named columns of every row to fn. Row groups that cannot be read are damage, like pages of a
// database.
func (d *parquetTables) Scan(ctx context.Context, t *sqlitefile.Table, columns []string,
	fn func(*sqlitefile.Row) error) (damage sqlitefile.Damage, err error) {
	r := d.files[t].NewReader(columns...)
	defer r.Close()
	row := sqlitefile.NewRow(len(columns))
	for {
		more, err := r.Next(ctx)
		damage = sqlitefile.Damage{Pages: r.Damage.Groups, First: int64(r.Damage.First)}
		if err != nil || !more {
			return damage, err
		}
		for i := range r.Rows {
			row.Clear()
			for k, values := range r.Values {
				if values == nil {
					continue
				}
				if n, ok := parquetfile.Integer(&values[i]); ok {
					row.SetInt(k, n)
				} else if x, ok := parquetfile.Number(&values[i]); ok {
					row.SetNumber(k, x)
				} else if b := parquetfile.Text(&values[i]); b != nil {
					row.SetText(k, b)
				}
			}
			if err := fn(row); err != nil {
				return damage, err
			}
		}
	}
}
