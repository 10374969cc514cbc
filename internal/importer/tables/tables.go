// Package tables reads runs back that `parallax export` wrote: a directory of Parquet files, a table each, with
// schema.json next to them. A lake (package lake) holds many such runs, a file a run and table.
//
// The tables are those of docs/tables.md. `schema.json` names them with their rows and columns; its version says how
// they are laid out, and only the present one is read: a run that an older version exported is exported again from its
// source. Files may have been written by another program, as long as tables, columns and their order are the same:
// intervals by location, lane and row, attributes of intervals in the same order, samples by counter.
//
// Terms: everything comes back as it was, also lanes, numbers of locations and regions, links with the intervals at
// their ends, and the import report of the source; so does the name of its format. Row groups that cannot be read, rows
// out of place and numbers that nothing has are left out and counted.
package tables

import (
	"context"
	"path"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of exported tables.
var Format = &importer.Format{Name: "tables", Title: "Tables exported by Parallax (Parquet)", Claim: claim,
	Import: read}

// version of the layout that is read; package export writes it.
const version = 2

const schemaName = "schema.json"

// lakeRuns is the directory of a lake that holds the schema of each of its runs: LAKE/_runs/RUN/schema.json. Their
// files are named after the run: LAKE/TABLE/project=P/month=M/RUN.parquet.
const lakeRuns = "_runs"

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
		inLake := path.Base(path.Dir(dir)) == lakeRuns
		for _, x := range s.Files {
			if path.Ext(x.Path) != ".parquet" {
				continue
			}
			if path.Dir(x.Path) == dir || inLake && path.Base(x.Path) == run.Name+".parquet" {
				run.Files = append(run.Files, x.Path)
			}
		}
		runs = append(runs, run)
	}
	return runs
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	s, err := readSchema(run)
	if err != nil {
		return err
	}
	r := &converter{export: export{ctx: ctx, run: run, w: w, schema: s, files: map[string]*parquetfile.File{},
		sizes: map[string]int64{}, labels: map[string]string{}},
		places: map[int64]*location{}, regions: map[int64]trace.RegionID{}, fileOf: map[int64]string{},
		attribute: map[string]trace.AttributeID{},
		counters:  map[int64]counter{},
		paths:     map[int64]trace.CallPathID{}, metrics: map[string]trace.MetricID{},
		groups: map[int64]trace.CommunicatorID{}}
	done, err := r.open()
	defer done()
	if err != nil {
		return err
	}
	for _, step := range []func() error{r.theRun, r.definitions, r.intervals, r.theLinks, r.instants, r.samples,
		r.profile} {
		if err := step(); err != nil {
			return err
		}
	}
	trace.Cover(w, r.origin, r.origin+r.end)
	return nil
}
