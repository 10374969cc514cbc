package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func importCommand() *command {
	return &command{
		name: "import", args: "SOURCE... -o RUN.plx", summary: "write the columnar store",
		help: "Reads the sources as one run and writes its store, which every command opens at once.\n\n  parallax import traces/ -o run.plx\n  parallax open run.plx",
		flags: func(fs *pflag.FlagSet) {
			readingFlags(fs)
			fs.StringP("output", "o", "", "the store to write, a directory ending in .plx")
		},
		run: runImport,
	}
}

func runImport(ctx context.Context, e *env, args []string) error {
	out := e.text("output")
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
