package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	tables "github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/lake"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/warehouse"
	"github.com/spf13/pflag"
)

func exportCommand() *command {
	return &command{
		name: "export", args: "SOURCE (-o DIR | --lake DIR)",
		summary: "write the run as Parquet files, one per table, with their schema",
		help: "docs/tables.md lists tables and columns; DIR/schema.json has them too. Files are compressed with " +
			"zstd. Row groups are sorted by location and time and have statistics, so that readers can skip. " +
			"`parallax open DIR` reads the same run back.\n\n" +
			"  parallax export run.otf2 -o run-tables\n  duckdb -c \"select region, sum(exclusive) from " +
			"'run-tables/intervals.parquet' group by 1 order by 2 desc limit 10\"\n\n" +
			"--lake appends the run to a directory of many runs, in Hive partitions by project and month. DuckDB, " +
			"Spark, ClickHouse and pandas read these files directly; `parallax query DIR` answers over all runs " +
			"(docs/lake.md). With clickhouse://HOST:PORT/DATABASE it writes the same tables into a database.\n\n" +
			"  parallax export run.otf2 --lake lake --project solver --key commit=4f1c2ab",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("output", "o", "", "DIR to write")
			fs.String("lake", "",
				"DIR of many runs to append to, or clickhouse://HOST:PORT/DATABASE; created if it does not exist")
			fs.String("project", "", "of the run in the lake (default: "+lake.DefaultProject+")")
			fs.String("as", "", "name of the run in the lake (default: that of the source)")
			fs.String("start", "",
				"TIME at which the run began, such as 2026-11-18T03:00:00Z (default: as recorded in the source)")
			fs.StringArray("key", nil, "KEY=VALUE or KEY=/REGEXP/ on the path of the source: a key of the run in "+
				"the lake; repeatable")
			readingFlags(fs)
		},
		run: runExport,
	}
}

func runExport(ctx context.Context, e *env, args []string) error {
	dir, into := e.text("output"), e.text("lake")
	if (dir == "") == (into == "") {
		return usage("export: want -o DIR, the directory to make, or --lake DIR, the directory of runs to append to")
	}
	about, err := e.aboutRun(into)
	if err != nil {
		return err
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	run, err := l.One(ctx, args)
	if err != nil {
		return err
	}
	defer run.Store.Close()
	wrote := func(name string, rows int64) {
		fmt.Fprintf(e.stdout, "%15s  %s.parquet\n", view.Thousands(rows), name)
	}
	t := &table.Run{Name: run.Name, Source: run.Source, Store: run.Store}
	if into == "" {
		_, err = tables.Run(ctx, dir, t, table.Tables, wrote)
		return err
	}
	rules, _ := parseKeys(e.list("key"))
	about.Keys = rules.given(run.Source)
	if about.Outline, err = fingerprint.OfRun.Outline(ctx, &run); err != nil {
		return err
	}
	there, err := appendToLake(ctx, into, t, about)
	if err == nil {
		fmt.Fprintf(e.stdout, "%s: run %q of project %q, started %s (%s)\n", into, there.Run, there.Project,
			time.UnixMicro(there.Start).UTC().Format("2006-01-02 15:04:05"), there.Clock)
	}
	return err
}

// appendToLake writes a run into the lake of a directory, or into that of a database.
func appendToLake(ctx context.Context, into string, t *table.Run, about lake.About) (*lake.About, error) {
	if !clickhouse.IsAddress(into) {
		return lake.Append(ctx, into, t, about, nil)
	}
	a, err := clickhouse.Parse(into)
	if err == nil && a.Run != "" {
		err = errors.New("the address of a lake ends with the database; --as names the run")
	}
	if err != nil {
		return nil, usage("--lake: %v", err)
	}
	place, err := warehouse.Open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer place.Close()
	return place.Append(ctx, t, about)
}

// aboutRun reads the options about a run in a lake.
func (e *env) aboutRun(into string) (a lake.About, err error) {
	for _, name := range []string{"project", "as", "start", "key"} {
		if into == "" && e.flags.Changed(name) {
			return a, usage("export: --%s is about a run in a lake; want --lake DIR", name)
		}
	}
	a.Run, a.Project = e.text("as"), e.text("project")
	if start := e.text("start"); start != "" {
		t, err := time.Parse(time.RFC3339, start)
		if err != nil {
			return a, usage("--start %q: want a time such as 2026-11-18T03:00:00Z", start)
		}
		a.Start, a.Clock = t.UnixMicro(), "as given"
	}
	_, err = parseKeys(e.list("key"))
	return a, err
}
