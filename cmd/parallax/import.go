package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func importCommand() *command {
	return &command{
		name: "import", args: "SOURCE... -o RUN.plx | -o clickhouse://HOST:PORT/DATABASE/RUN",
		summary: "write the columnar store",
		help: "Reads the sources as one run and writes its store, which every command opens at once.\n\n  parallax " +
			"import traces/ -o run.plx\n  parallax open run.plx\n  parallax import traces/ -o " +
			"clickhouse://db1:9000,db2:9000/traces/monday\n\nSeveral machines with a common file system can share an " +
			"import; the last one joins the parts:\n\n  parallax import traces/ --shard 2/8 -o " +
			"job.plx/part-2\n\nSeveral servers in an address are shards of one cluster. A run appears there when it " +
			"is complete. The user and the password are in the address, or in PARALLAX_CLICKHOUSE_USER, " +
			"PARALLAX_CLICKHOUSE_PASSWORD and PARALLAX_CLICKHOUSE_PASSWORD_FILE (see `parallax docs scale`).",
		flags: func(fs *pflag.FlagSet) {
			readingFlags(fs)
			fs.String("shard", "",
				"K/N: only part K of N; each part may be written on another machine")
			fs.String("wait", "",
				"with --shard: how long to wait for the other parts, such as 30m, to join them together; not at all "+
					"if not given")
			fs.StringP("output", "o", "",
				"PATH of the store: a directory ending in .plx, or clickhouse://HOST:PORT/DATABASE/RUN")
		},
		run: runImport,
	}
}

func runImport(ctx context.Context, e *env, args []string) error {
	out := e.text("output")
	shard, err := load.ParseShard(e.text("shard"))
	if err != nil {
		return err
	}
	if clickhouse.IsAddress(out) {
		return importIntoCluster(ctx, e, args, out, shard)
	}
	if shard.Of > 0 {
		return importPart(ctx, e, args, out, shard)
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
	return tellImport(e, out, out, began)
}

// tellImport opens a store that was just made, and prints a summary of it.
func tellImport(e *env, name, path string, began time.Time) error {
	r, err := local.Open(path, all.Summaries, all.Digests...)
	if err != nil {
		return err
	}
	defer r.Close()
	if e.flag("quiet") {
		return nil
	}
	i := r.Info()
	fmt.Fprintf(plain{e.stdout}, "%s: %s, %s intervals on %s locations, %s long, %s in %s\n", name, i.Format,
		view.FormatCount(float64(i.Intervals)),
		view.FormatCount(float64(r.Locations().Len())), view.FormatTime(i.End), view.FormatBytes(float64(i.SizeBytes)),
		view.FormatDuration(float64(time.Since(began))))
	printReport(plain{e.stdout}, i.Report)
	return nil
}

// importPart writes one part of a run, and joins all parts if it is the last to come.
func importPart(ctx context.Context, e *env, args []string, out string, shard load.Shard) error {
	name := local.PartName(shard.Part)
	run := strings.TrimSuffix(filepath.Clean(out), string(filepath.Separator)+name)
	if !strings.HasSuffix(run, ".plx") {
		return usage("import: name the part to write with -o RUN.plx/%s", name)
	}
	path := filepath.Join(run, name)
	wait, err := time.ParseDuration(cmp.Or(e.text("wait"), "0"))
	if err != nil || wait < 0 {
		return usage("--wait %s: want a time such as 30m", e.text("wait"))
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	if load.IsStore(run) && !local.HasParts(run) {
		return fmt.Errorf("%s is a whole store already; remove it or choose another name", run)
	}
	f, done, err := l.Single("import", args, "")
	defer done()
	if err != nil {
		return err
	}
	if f.Store != "" {
		return usage("import: %s is a store already", args[0])
	}
	if err := os.MkdirAll(run, 0o755); err != nil {
		return err
	}
	if err := l.Cache.MakeRoom(run, f.PartRoom()); err != nil {
		return err
	}
	began := time.Now()
	if err := l.WritePart(ctx, f, path, shard); err != nil {
		return err
	}
	err = l.JoinParts(ctx, run, shard, wait)
	var missing *local.MissingParts
	if errors.As(err, &missing) {
		if !e.flag("quiet") {
			fmt.Fprintf(plain{e.stdout}, "%s: part %s in %s; %d still to come\n", run, shard,
				view.FormatDuration(float64(time.Since(began))), len(missing.Missing))
			if why, own := f.Shares(); !own {
				fmt.Fprintf(plain{e.stdout}, "it read all of the source: %s\n", why)
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	return tellImport(e, run, run, began)
}

// importIntoCluster writes a run into tables of a cluster, from its store in the cache.
func importIntoCluster(ctx context.Context, e *env, args []string, out string, shard load.Shard) error {
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
	missing, err := clickhouse.WritePart(ctx, a, path, clickhouse.Part{Part: shard.Part, Of: shard.Of}, progress)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if !e.flag("quiet") {
			fmt.Fprintf(plain{e.stdout}, "%s: part %s in %s; %d still to come\n", a, shard,
				view.FormatDuration(float64(time.Since(began))), len(missing))
		}
		return nil
	}
	return tellImport(e, a.String(), path, began)
}
