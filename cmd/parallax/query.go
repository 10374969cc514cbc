package main

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tables "github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/query/derived"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/warehouse"
	"github.com/spf13/pflag"
)

func queryCommand() *command {
	return &command{
		name: "query", args: "SOURCE 'SQL' [-o FILE]",
		summary: "run SQL over a run; prints a table, or writes csv, json, parquet or arrow by the ending of FILE",
		help: "Tables: " + strings.Join(tableNames(false), ", ") + ".\n\nFunctions: " +
			strings.Join(tableNames(true), ", ") + ".\n\n" +
			"docs/tables.md lists their columns, docs/queries.md has examples. Times are in ns from the start of the " +
			"run. Conditions on begin, end, time, location, path, rank and region reduce the data that is read: a " +
			"window of a large run costs only the window. Queries are read-only. A directory written by `export " +
			"--lake` is queried as a whole; each row names its run.\n\n" +
			"  parallax query run.otf2 'select region, sum(exclusive) as time from time_in() group by 1 order by 2 " +
			"desc limit 10'\n" +
			"  parallax query traces/ 'select * from intervals where begin between 1e9 and 2e9 and rank = 3' -o " +
			"window.csv\n" +
			"  parallax query a.otf2 --run after=b.otf2 'select (select count(*) from intervals), (select count(*) " +
			"from after.intervals)'",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("output", "o", "", "FILE to write; its ending is csv, json, parquet or arrow")
			fs.Bool("json", false, "JSON on standard output")
			fs.Duration("timeout", 10*time.Minute, "time limit of the query; 0: none")
			fs.Int64("limit", 0, "largest number of rows; 0: all")
			fs.StringArray("run", nil, "NAME=SOURCE: another run, with tables NAME.intervals …; repeatable")
			readingFlags(fs)
		},
		run: runQuery,
	}
}

// tableNames lists the tables that queries can read.
func tableNames(functions bool) (names []string) {
	for _, t := range newDatabase(nil).Tables() {
		if t.Function() == functions {
			if names = append(names, t.Name); functions {
				names[len(names)-1] += "(" + strings.Join(argumentNames(t), ", ") + ")"
			}
		}
	}
	return names
}

func argumentNames(t *table.Table) (names []string) {
	for _, a := range t.Arguments {
		names = append(names, a.Name)
	}
	return names
}

// newDatabase puts runs behind SQL, with the tables that come from views.
func newDatabase(runs []view.Run) *query.Database {
	d := &query.Database{More: derived.Tables}
	for _, r := range runs {
		d.Runs = append(d.Runs, &table.Run{Name: r.Name, Source: r.Source, Store: r.Store})
	}
	return d
}

var queryKinds = []string{"csv", "json", "parquet", "arrow"}

func runQuery(ctx context.Context, e *env, args []string) error {
	if len(args) < 2 {
		return usage("query: want a source and SQL, such as: parallax query run.otf2 'select count(*) from intervals'")
	}
	out := &output{stdout: e.stdout, path: e.text("output"), kind: "table"}
	if e.flag("json") {
		out.kind = "json"
	}
	if out.path != "" {
		out.kind = strings.TrimPrefix(strings.ToLower(filepath.Ext(out.path)), ".")
		if !slices.Contains(queryKinds, out.kind) {
			return usage("-o %q: the name must end in one of .%s", out.path, strings.Join(queryKinds, " ."))
		}
	}
	database, done, err := e.openDatabase(ctx, args[:len(args)-1])
	if err != nil {
		return err
	}
	defer done()
	timeout, _ := e.flags.GetDuration("timeout")
	limits := query.Limits{Time: timeout, Rows: e.number("limit")}
	more, err := writeAnswer(ctx, out, database, args[len(args)-1], limits)
	if err == nil && more {
		e.warn("there are more rows than --limit %d", e.number("limit"))
	}
	return err
}

// openDatabase opens the runs that are asked about, or a lake, whose runs stay closed.
func (e *env) openDatabase(ctx context.Context, sources []string) (*query.Database, func(), error) {
	if len(sources) == 1 && lake.Is(sources[0]) {
		if len(e.list("run")) > 0 {
			return nil, nil, usage("--run: a lake is asked alone; export the run into it")
		}
		all, err := lake.Open(sources[0])
		if err != nil {
			return nil, nil, err
		}
		return &query.Database{Runs: []*table.Run{{Name: sources[0], Source: sources[0]}}, Only: all}, func() {}, nil
	}
	if len(sources) == 1 && clickhouse.IsAddress(sources[0]) {
		a, err := clickhouse.Parse(sources[0])
		if err != nil {
			return nil, nil, usage("query: %v", err)
		}
		if a.Run == "" {
			return e.openWarehouse(ctx, a)
		}
	}
	runs, err := e.openRuns(ctx, sources, false)
	if err != nil {
		return nil, nil, err
	}
	return newDatabase(runs), func() { closeRuns(runs) }, nil
}

// openWarehouse is the lake in a database, which answers statements itself.
func (e *env) openWarehouse(ctx context.Context, a *clickhouse.Address) (*query.Database, func(), error) {
	if len(e.list("run")) > 0 {
		return nil, nil, usage("--run: a lake is asked alone; export the run into it")
	}
	place, err := warehouse.Open(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	ask := func(ctx context.Context, text string, limits query.Limits, params []any) (*query.Rows, error) {
		if len(params) > 0 {
			return nil, usage("query: the database of a lake takes no parameters; write the values into the " +
				"statement")
		}
		return place.Query(ctx, text, limits)
	}
	return &query.Database{Remote: true, Apart: ask}, func() { place.Close() }, nil
}

// writeAnswer writes the rows of a query; more reports whether the limit left some out.
func writeAnswer(ctx context.Context, out *output, d *query.Database, text string, limits query.Limits) (more bool,
	err error) {
	if out.kind == "parquet" || out.kind == "arrow" {
		s, err := d.Stream(ctx, text, limits)
		if err != nil {
			return false, err
		}
		defer s.Close()
		err = out.write(func(w io.Writer) error {
			if out.kind == "arrow" {
				return writeArrow(w, s, tables.ArrowFile)
			}
			_, err := tables.Write(ctx, w, "result", s.Columns, s.Each)
			return err
		})
		return s.More(), err
	}
	rows, err := d.Query(ctx, text, limits)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	write := map[string]func(io.Writer) error{"csv": rows.WriteCSV, "json": rows.WriteJSON, "table": rows.WriteTable}
	err = out.write(write[out.kind])
	return rows.More(), err
}
