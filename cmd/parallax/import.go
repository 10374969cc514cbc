package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func importCommand() *command {
	return &command{
		name: "import", args: "SOURCE... -o RUN.plx | -o clickhouse://HOST:PORT/DATABASE/RUN", summary: "write the columnar store",
		help: "Reads the sources as one run and writes its store, which every command opens at once.\n\n  parallax import traces/ -o run.plx\n  parallax open run.plx\n  parallax import traces/ -o clickhouse://db1:9000,db2:9000/traces/monday\n\nSeveral servers of an address are shards of one cluster. A run appears there when all of it is written. Users and passwords stand in\nthe address or in PARALLAX_CLICKHOUSE_USER, PARALLAX_CLICKHOUSE_PASSWORD and PARALLAX_CLICKHOUSE_PASSWORD_FILE (see `parallax docs scale`).",
		flags: func(fs *pflag.FlagSet) {
			readingFlags(fs)
			fs.StringP("output", "o", "", "the store to write: a directory ending in .plx, or clickhouse://HOST:PORT/DATABASE/RUN")
		},
		run: runImport,
	}
}

func runImport(ctx context.Context, e *env, args []string) error {
	out := e.text("output")
	if clickhouse.IsAddress(out) {
		return importElsewhere(ctx, e, args, out)
	}
	if !strings.HasSuffix(out, ".plx") {
		return usage("import: name the store to write with -o RUN.plx")
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	f, done, err := l.Single("import", args, out)
	defer done()
	if err != nil {
		return err
	}
	if f.Store != "" {
		return usage("import: %s is a store already", args[0])
	}
	if err := l.Cache.MakeRoom(filepath.Dir(out), f.Room()); err != nil {
		return err
	}
	began := time.Now()
	if err := l.Write(ctx, f, out); err != nil {
		return err
	}
	r, err := local.Open(out, all.Summaries, all.Digests...)
	if err != nil {
		return err
	}
	defer r.Close()
	if e.flag("quiet") {
		return nil
	}
	i := r.Info()
	fmt.Fprintf(plain{e.stdout}, "%s: %s, %s intervals on %s locations, %s long, %s in %s\n", out, i.Format, view.FormatCount(float64(i.Intervals)),
		view.FormatCount(float64(r.Locations().Len())), view.FormatTime(i.End), view.FormatBytes(float64(i.SizeBytes)), view.FormatDuration(float64(time.Since(began))))
	printReport(plain{e.stdout}, i.Report)
	return nil
}

// importElsewhere writes a run into tables of a cluster, from its store in the cache.
func importElsewhere(ctx context.Context, e *env, args []string, out string) error {
	a, err := clickhouse.Parse(out)
	if err != nil {
		return usage("import: -o: %v", err)
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	f, done, err := l.Single("import", args, "")
	defer done()
	if err != nil {
		return err
	}
	if a.Run == "" {
		a.Run = f.Name
	}
	began := time.Now()
	path, err := l.Local(ctx, f)
	if err != nil {
		return err
	}
	var progress func(done, total int64)
	if l.Progress != nil {
		progress = func(done, total int64) { l.Progress(a.Run, done, total) }
	}
	if err := clickhouse.Write(ctx, a, path, progress); err != nil {
		return err
	}
	if e.flag("quiet") {
		return nil
	}
	r, err := local.Open(path, all.Summaries, all.Digests...)
	if err != nil {
		return err
	}
	defer r.Close()
	i := r.Info()
	fmt.Fprintf(plain{e.stdout}, "%s: %s, %s intervals on %s locations, %s long, %s in %s\n", a, i.Format, view.FormatCount(float64(i.Intervals)),
		view.FormatCount(float64(r.Locations().Len())), view.FormatTime(i.End), view.FormatBytes(float64(i.SizeBytes)), view.FormatDuration(float64(time.Since(began))))
	printReport(plain{e.stdout}, i.Report)
	return nil
}
