// Package tables reads runs back that `parallax export` wrote: a directory of Parquet files, a table each, with schema.json beside them.
//
// The tables are those of docs/tables.md. `schema.json` names them with their rows and columns; its version says how they are laid out, and
// only the present one is read: a run that an older version exported is exported again from its source. Files may have been written by another program,
// as long as tables, columns and their order are the same: intervals by location, lane and row, attributes of intervals in the same order, samples by counter.
//
// Our words: everything comes back as it was, also lanes, numbers of locations and regions, links with the intervals at their ends, and the import report of the
// source; so does the name of its format. Row groups that cannot be read, rows out of place and numbers that nothing has are left out and counted.
package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of exported tables.
var Format = &importer.Format{Name: "tables", Title: "Tables exported by Parallax (Parquet)", Claim: claim, Import: read}

// version of the layout that is read; package export writes it.
const version = 2

const schemaName = "schema.json"

var ours = regexp.MustCompile(`^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"program"\s*:\s*"parallax"`)

// claim takes directories with our schema. Other files of ours in it are part of the run.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		if path.Base(f.Path) != schemaName || !ours.Match(s.Head(f.Path)) {
			continue
		}
		run := importer.Run{Files: []string{f.Path}}
		dir := path.Dir(f.Path)
		if dir != "." {
			run.Name = path.Base(dir)
		}
		for _, x := range s.Files {
			if path.Dir(x.Path) == dir && path.Ext(x.Path) == ".parquet" {
				run.Files = append(run.Files, x.Path)
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// A schema is what schema.json says, as far as it is needed.
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
		return nil, &importer.Error{File: run.Label(name), Cause: fmt.Sprintf("the tables are laid out in version %d, and %d is read", s.Version, version),
			Hint: "export the run again with this program", Kind: importer.ErrUnsupported}
	}
	return &s, nil
}

// A reader is one import.
type reader struct {
	ctx    context.Context
	run    importer.Run
	w      trace.Writer
	schema *schema
	files  map[string]*parquetfile.File // by table
	sizes  map[string]int64
	labels map[string]string

	origin    trace.Time
	end       trace.Time
	spans     bool // parents are told by ids, see trace.StreamOptions
	places    map[int64]*location
	regions   map[int64]trace.RegionID
	attribute map[string]trace.AttributeID
	counters  map[int64]counter
	paths     map[int64]trace.CallPathID
	metrics   map[string]trace.MetricID
	groups    map[int64]trace.CommunicatorID
	links     []trace.Link // on their way
}

// A location with how many rows its lanes have.
type location struct {
	id    trace.LocationID
	lanes []uint32
	// torn: rows are missing or out of place, so that numbers do not name intervals.
	torn bool
}

// number is the how manyth interval of the location's stream a row is, from 1 on; 0: not known.
func (l *location) number(lane, row int64) uint32 {
	if l.torn || lane < 0 || lane >= int64(len(l.lanes)) || row < 0 || row >= int64(l.lanes[lane]) {
		return 0
	}
	n := uint32(row) + 1
	for _, rows := range l.lanes[:lane] {
		n += rows
	}
	return n
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	s, err := readSchema(run)
	if err != nil {
		return err
	}
	r := &reader{ctx: ctx, run: run, w: w, schema: s, files: map[string]*parquetfile.File{}, sizes: map[string]int64{}, labels: map[string]string{},
		places: map[int64]*location{}, regions: map[int64]trace.RegionID{}, attribute: map[string]trace.AttributeID{}, counters: map[int64]counter{},
		paths: map[int64]trace.CallPathID{}, metrics: map[string]trace.MetricID{}, groups: map[int64]trace.CommunicatorID{}}
	done, err := r.open()
	defer done()
	if err != nil {
		return err
	}
	for _, step := range []func() error{r.theRun, r.definitions, r.intervals, r.theLinks, r.instants, r.samples, r.profile} {
		if err := step(); err != nil {
			return err
		}
	}
	trace.Cover(w, r.origin, r.origin+r.end)
	return nil
}

// open opens the tables that the schema names.
func (r *reader) open() (done func(), err error) {
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
		name := path.Join(dir, path.Base(t.File))
		if !there[name] || r.files[t.Name] != nil {
			r.skip("tables whose file is not there", 1, t.File)
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
			r.skip("tables whose file cannot be read", 1, fmt.Sprintf("%s: %v", r.run.Label(name), err))
			continue
		}
		if of, named := f.Lookup("parallax.table"); named && of != t.Name {
			r.skip("tables whose file holds another one", 1, r.run.Label(name)+": "+of)
			continue
		}
		r.files[t.Name], r.sizes[t.Name], r.labels[t.Name] = f, size, r.run.Label(name)
		if missing := f.Rows() - t.Rows; missing != 0 {
			r.skip("rows more or fewer than the schema says", max(missing, -missing), r.run.Label(name))
		}
	}
	if r.files["locations"] == nil || r.files["regions"] == nil {
		return done, importer.Malformed(r.run.Label(r.run.Files[0]), "", "the tables locations and regions are missing or cannot be read, so nothing has a name")
	}
	return done, nil
}

func (r *reader) skip(what string, n int64, example string) {
	r.w.Report(trace.Skipped, what, n, example)
}

// A row is one of a table.
type row struct {
	in *parquetfile.Reader
	i  int
}

// integer gives a value of a column by its number in what was asked for.
func (x *row) integer(column int) (int64, bool) {
	if v := x.in.Values[column]; v != nil {
		return parquetfile.Integer(&v[x.i])
	}
	return 0, false
}

// or is the value, or another where there is none.
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
func (r *reader) each(table, columns string, f func(*row) error) error {
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

// damaged counts what of a table could not be read, and that it is done.
func (r *reader) damaged(table string, in *parquetfile.Reader) {
	r.run.Progress.Add(r.sizes[table])
	r.sizes[table] = 0
	if d := in.Damage; d.Groups > 0 {
		r.skip("row groups of tables that cannot be read", d.Groups, fmt.Sprintf("%s: row group %d: %v", r.labels[table], d.First, d.Why))
	}
}

// mostTime keeps sums of times and origins away from the end of 64 bits.
const mostTime = 1 << 61

func (r *reader) time(t int64) (trace.Time, bool) {
	return r.origin + trace.Time(t), t >= -mostTime && t <= mostTime
}
