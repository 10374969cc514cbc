package main

import (
	"context"
	"fmt"

	tables "github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func exportCommand() *command {
	return &command{
		name: "export", args: "SOURCE -o DIR",
		summary: "the run as Parquet files, a table a file, with the schema written down",
		help: "docs/tables.md has tables and columns; DIR/schema.json has them, too. Files are packed with zstd, in " +
			"row groups along location\nand time with statistics, so that readers skip. `parallax open DIR` reads " +
			"them back: the same run.\n\n" +
			"  parallax export run.otf2 -o run-tables\n  duckdb -c \"select region, sum(exclusive) from " +
			"'run-tables/intervals.parquet' group by 1 order by 2 desc limit 10\"",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("output", "o", "", "directory to make")
			readingFlags(fs)
		},
		run: runExport,
	}
}

func runExport(ctx context.Context, e *env, args []string) error {
	dir := e.text("output")
	if dir == "" {
		return usage("export: want -o DIR, the directory to make")
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
	_,
		err = tables.Run(ctx, dir, &table.Run{Name: run.Name, Source: run.Source, Store: run.Store}, table.Tables,
		func(name string, rows int64) {
			fmt.Fprintf(e.stdout, "%15s  %s.parquet\n", view.Thousands(rows), name)
		})
	return err
}
