package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/anonymise"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func anonymiseCommand() *command {
	return &command{
		name: "anonymise", args: "SOURCE... -o RUN.plx",
		summary: "write the run with names replaced, to send it to others",
		help: "Replaces names of hosts, users, paths, regions, counters and attributes, and text values, by words " +
			"without meaning. Properties of the run are left out. Times, numbers, messages, the tree and the roles " +
			"of regions stay. The same name becomes the same word everywhere in the run, and in other runs with " +
			"the same --key. --keep leaves some names as they are:\n" +
			"  public       regions of public libraries, such as MPI_Send, ncclDevKernel, aten::mm\n" +
			"  regions, locations, paths, counters, attributes, properties\n\n" +
			"SOURCE may also be a store. Look at the result before you send it: tar czf sent.tar.gz sent.plx.\n\n" +
			"  parallax anonymise traces/ -o sent.plx\n  parallax anonymise traces/ --keep public --key 'our secret' " +
			"-o sent.plx",
		flags: func(fs *pflag.FlagSet) {
			readingFlags(fs)
			fs.StringP("output", "o", "", "PATH of the store, a directory ending in .plx")
			fs.StringSlice("keep", nil, "names that stay: "+strings.Join(anonymise.Keeps, ", "))
			fs.String("key", "",
				"SECRET: the same one gives the same words in other runs; default: a new one for each run")
		},
		run: runAnonymise,
	}
}

func runAnonymise(ctx context.Context, e *env, args []string) error {
	out := e.text("output")
	if !strings.HasSuffix(out, ".plx") {
		return usage("anonymise: name the store to write with -o RUN.plx")
	}
	keep, _ := e.flags.GetStringSlice("keep")
	for _, k := range keep {
		if !slices.Contains(anonymise.Keeps, k) {
			return words.NotOneOf("--keep", k, anonymise.Keeps...)
		}
	}
	key := []byte(e.text("key"))
	if len(key) == 0 {
		key = make([]byte, 32)
		rand.Read(key)
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	f, done, err := l.Single("anonymise", args, out)
	defer done()
	if err != nil {
		return err
	}
	var a *anonymise.Writer
	through := func(w trace.Writer) trace.Writer {
		a = anonymise.New(w, anonymise.Options{Key: key, Keep: keep})
		return a
	}
	from := f.Store
	if from == "" {
		if from, err = l.Local(ctx, f); err != nil {
			return err
		}
	}
	err = renamed(ctx, from, out, "anonymised", through)
	if err != nil {
		return fmt.Errorf("anonymise %s: %w", f.Source, err)
	}
	r, err := local.Open(out, all.Summaries, all.Digests...)
	if err != nil {
		return err
	}
	defer r.Close()
	if !e.flag("quiet") {
		fmt.Fprintf(e.stdout, "%s: %s intervals on %s locations; %s names became others\n", out,
			view.FormatCount(float64(r.Info().Intervals)), view.FormatCount(float64(r.Locations().Len())),
			view.FormatCount(float64(a.Replaced.Load())))
	}
	return nil
}

// renamed writes a store under other names. Its rows are copied, so damaged ones are looked for first.
func renamed(ctx context.Context, from, to, source string, through func(trace.Writer) trace.Writer) error {
	r, err := local.Open(from, all.Summaries, all.Digests...)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Verify(); err != nil {
		return err
	}
	return local.Rename(ctx, r, from, to, source, through)
}
