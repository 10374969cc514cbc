// Package lake keeps the tables of many runs as Parquet files in one directory, which every engine that knows Hive
// partitions reads as it lies.
//
//	TABLE/project=P/month=2026-11/RUN.parquet   the rows of one run in one table; no file where it has none
//	_runs/RUN/outline                           the run without rows, for comparisons of many runs
//	_runs/RUN/schema.json                       the tables of the run; written last, so the run is whole
//
// A run is appended and never rewritten. Its files are written under _new and then renamed; it counts from the moment
// when its directory in _runs is there. Engines leave out names that begin with an underscore.
//
//	append.go   a run into the lake     read.go   the lake as tables for SQL
package lake

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/table"
)

const (
	runsDir     = "_runs"
	newDir      = "_new"
	schemaName  = "schema.json"
	outlineName = "outline"
	monthForm   = "2006-01"
)

// About describes a run of the lake next to its tables.
type About struct {
	Run     string            `json:"run"` // its name in the lake, and that of its files
	Project string            `json:"project"`
	Start   int64             `json:"start"` // microseconds since 1970
	Clock   string            `json:"clock"` // where Start is from, in words
	Keys    map[string]string `json:"keys,omitempty"`
	// Outline is the run without rows (store.OutlineOf), by which it is compared with others; nil: it has none.
	Outline []byte `json:"-"`
}

// Dated returns the name of a run with the time of its start, for one whose name is taken.
func (a *About) Dated() string {
	return a.Run + "@" + time.UnixMicro(a.Start).UTC().Format("2006-01-02T15:04:05")
}

func (a *About) month() string { return time.UnixMicro(a.Start).UTC().Format(monthForm) }

// file returns the path of the rows of a table, below the lake.
func (a *About) file(of string) string {
	return filepath.Join(of, "project="+escape(a.Project), "month="+a.month(), escape(a.Run)+".parquet")
}

// escape writes a name so that it is one element of a path on every system, as Hive does. Engines leave out names that
// begin with a dot or an underscore.
func escape(name string) string {
	s := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	switch {
	case strings.HasPrefix(s, "."):
		return "%2E" + s[1:]
	case strings.HasPrefix(s, "_"):
		return "%5F" + s[1:]
	}
	return s
}

// Is reports whether a directory is a lake.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, runsDir))
	return err == nil && info.IsDir()
}

// A Run is a whole run of a lake.
type Run struct {
	About
	rows map[string]int64 // of each table that has some
}

// Runs lists the whole runs of a lake by their start.
func Runs(dir string) ([]Run, error) {
	entries, err := os.ReadDir(filepath.Join(dir, runsDir))
	if err != nil {
		return nil, fmt.Errorf("lake: %w", err)
	}
	var out []Run
	for _, e := range entries {
		path := filepath.Join(dir, runsDir, e.Name(), schemaName)
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("lake: %w", err)
		}
		var s struct {
			Lake   *About
			Tables []export.Table
		}
		if err := json.Unmarshal(text, &s); err != nil || s.Lake == nil {
			return nil, fmt.Errorf("lake: %s does not describe a run; remove %s to leave the run out", path,
				filepath.Dir(path))
		}
		r := Run{*s.Lake, map[string]int64{}}
		for _, t := range s.Tables {
			r.rows[t.Name] = t.Rows
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Run, b.Run))
	})
	return out, nil
}

// ReadOutline reads the outline of a run. A run that an older version exported has none.
func (r *Run) ReadOutline(dir string) (err error) {
	r.Outline, err = os.ReadFile(filepath.Join(dir, runsDir, escape(r.Run), outlineName))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// Dir returns the directory of a run, which names it as a source.
func (r *Run) Dir(lake string) string { return filepath.Join(lake, runsDir, escape(r.Run)) }

// common are the columns that each table of a lake has before its own.
var common = []table.Column{
	{Name: "project", Kind: table.Text, Narrows: true, Help: "of the run"},
	{Name: "month", Kind: table.Text, Narrows: true, Help: "in which the run began: 2026-11"},
	{Name: "run", Kind: table.Text, Narrows: true, Help: "its name in the lake"},
	{Name: "run_start", Kind: table.Integer, Unit: table.SinceEpoch, Narrows: true, Help: "when it began"},
}

// inPath is how many of the common columns are in the names of directories alone.
const inPath = 2

// keys is a table that only a lake has.
var keys = &table.Table{Name: "keys",
	Help: "What is known of a run as a whole: the properties of its source, and the keys that it was exported with.",
	Columns: []table.Column{
		{Name: "key", Kind: table.Text, Narrows: true, Help: "such as commit"},
		{Name: "value", Kind: table.Text, Narrows: true},
	}}

// Tables are those that a lake keeps of each run.
var Tables = append(slices.Clone(table.Tables), table.Durations, keys)

// exists reports whether a path is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !os.IsNotExist(err)
}

// rowsOfKeys yields the rows of keys.
func rowsOfKeys(all map[string]string) func(emit func(*table.Batch) error) error {
	return func(emit func(*table.Batch) error) error {
		names := make([]string, 0, len(all))
		for k := range all {
			names = append(names, k)
		}
		slices.Sort(names)
		b := &table.Batch{Columns: []table.Vector{{Kind: table.Text}, {Kind: table.Text}}}
		for _, k := range names {
			b.Columns[0].Put(k)
			b.Columns[1].Put(all[k])
			b.Rows++
		}
		return emit(b)
	}
}

// Rows returns a function that yields all rows of a table for a run of the lake.
func Rows(ctx context.Context, r *table.Run, t *table.Table, a *About) func(emit func(*table.Batch) error) error {
	if t == keys {
		return rowsOfKeys(a.Keys)
	}
	return func(emit func(*table.Batch) error) error {
		return t.Each(ctx, r, &table.Filter{}, &table.Output{Emit: emit})
	}
}
