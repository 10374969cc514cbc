package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A schema is the needed part of schema.json.
type schema struct {
	Version int
	Tables  []struct {
		Name, File string
		Rows       int64
	}
	Attributes []string
}

const mostSchema = 16 << 20

func readSchema(run importer.Run) (*schema, error) {
	name := run.Files[0]
	in, err := run.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, mostSchema+1))
	if err != nil {
		return nil, err
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil || len(text) > mostSchema {
		return nil, importer.Malformed(run.Label(name), "", "it is not the description of an export: %v", err)
	}
	if s.Version != version {
		return nil,
			&importer.Error{File: run.Label(name),
				Cause: fmt.Sprintf("the tables are laid out in version %d, and %d is read", s.Version, version),
				Hint:  "export the run again with this program", Kind: importer.ErrUnsupported}
	}
	return &s, nil
}

// An export is the tables of a run as they are in files.
type export struct {
	ctx    context.Context
	run    importer.Run
	w      trace.Writer
	schema *schema
	files  map[string]*parquetfile.File // by table
	sizes  map[string]int64
	labels map[string]string
}

// open opens the tables that the schema names.
func (r *export) open() (done func(), err error) {
	var closers []func()
	done = func() {
		for _, c := range closers {
			c()
		}
	}
	dir := path.Dir(r.run.Files[0])
	there := map[string]bool{}
	for _, f := range r.run.Files {
		there[f] = true
	}
	for _, t := range r.schema.Tables {
		if t.File == "" && t.Rows == 0 {
			continue
		}
		name := path.Join(dir, t.File)
		if !there[name] || r.files[t.Name] != nil {
			r.skip(trace.MissingFiles, "tables whose file is not there", 1, t.File)
			continue
		}
		in, size, closer, err := importer.RandomAccess(r.run, name)
		if err != nil {
			return done, err
		}
		closers = append(closers, closer)
		f, err := parquetfile.Open(in, size)
		if err != nil {
			r.run.Progress.Add(size)
			r.skip(trace.MissingFiles,
				"tables whose file cannot be read", 1, fmt.Sprintf("%s: %v", r.run.Label(name), err))
			continue
		}
		if of, named := f.Lookup("parallax.table"); named && of != t.Name {
			r.skip(trace.MissingFiles, "tables whose file holds another one", 1, r.run.Label(name)+": "+of)
			continue
		}
		r.files[t.Name], r.sizes[t.Name], r.labels[t.Name] = f, size, r.run.Label(name)
		if missing := f.Rows() - t.Rows; missing != 0 {
			r.skip(trace.MissingEvents,
				"rows more or fewer than the schema says", max(missing, -missing), r.run.Label(name))
		}
	}
	if r.files["locations"] == nil || r.files["regions"] == nil {
		return done,
			importer.Malformed(r.run.Label(r.run.Files[0]), "",
				"the tables locations and regions are missing or cannot be read, so nothing has a name")
	}
	return done, nil
}

func (r *export) skip(consequence trace.ReportKind, what string, n int64, example string) {
	r.w.Report(consequence, what, n, example)
}

// A row is one of a table.
type row struct {
	in *parquetfile.Reader
	i  int
}

// integer returns a value by the column's number in the request.
func (x *row) integer(column int) (int64, bool) {
	if v := x.in.Values[column]; v != nil {
		return parquetfile.Integer(&v[x.i])
	}
	return 0, false
}

// or is the value, or another if there is none.
func (x *row) or(column int, otherwise int64) int64 {
	if n, ok := x.integer(column); ok {
		return n
	}
	return otherwise
}

func (x *row) text(column int) string {
	if v := x.in.Values[column]; v != nil {
		return string(parquetfile.Text(&v[x.i]))
	}
	return ""
}

func (x *row) number(column int) (float64, bool) {
	if v := x.in.Values[column]; v != nil {
		return parquetfile.Number(&v[x.i])
	}
	return 0, false
}

// errEnough ends a table early.
var errEnough = errors.New("enough")

// each goes through a table; one that is not there has no rows.
func (r *export) each(table, columns string, f func(*row) error) error {
	file := r.files[table]
	if file == nil {
		return nil
	}
	in := file.NewReader(strings.Fields(columns)...)
	defer in.Close()
	for {
		more, err := in.Next(r.ctx)
		if err != nil {
			return err
		}
		if !more {
			r.damaged(table, in)
			return nil
		}
		x := row{in: in}
		for x.i = range in.Rows {
			if err := f(&x); errors.Is(err, errEnough) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}

// damaged counts the parts of a table that could not be read, and marks it as done.
func (r *export) damaged(table string, in *parquetfile.Reader) {
	r.run.Progress.Add(r.sizes[table])
	r.sizes[table] = 0
	if d := in.Damage; d.Groups > 0 {
		r.skip(trace.MissingEvents, "row groups of tables that cannot be read", d.Groups,
			fmt.Sprintf("%s: row group %d: %v", r.labels[table], d.First, d.Why))
	}
}
