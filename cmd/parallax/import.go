package main

import (
	"context"
	"fmt"
	"os"
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
	found, done, err := l.find(args)
	defer done()
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return usage("import: %d sources that are not one run; name one", len(found))
	}
	if found[0].store != "" {
		return usage("import: %s is a store already", args[0])
	}
	if _, err := os.Stat(out); err == nil && !isStore(out) {
		return fmt.Errorf("%s exists and is no store; choose another name", out)
	}
	if err := l.cache.makeRoom(filepath.Dir(out), found[0].packed()); err != nil {
		return err
	}
	began := time.Now()
	if err := l.write(ctx, found[0], out); err != nil {
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
