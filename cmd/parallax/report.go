package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/parallax-hpc/parallax/internal/report"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/spf13/pflag"
)

func reportCommand() *command {
	return &command{
		name: "report", args: "SOURCE -o FILE.html",
		summary: "write findings, pictures and tables into one self-contained HTML file",
		help: "The file needs no scripts and no network, so it can be mailed or stored with a CI job. It follows " +
			"the light or dark theme of the reader and prints in light colours. Without -o it goes to standard " +
			"output.\n\n  parallax report run.otf2 -o report.html\n  parallax report traces/ --from 10% --to 20% -o " +
			"step.html",
		flags: func(fs *pflag.FlagSet) {
			fs.StringP("output", "o", "", "file to write, its name ends in .html")
			sourceFlags(fs)
			selectionFlags(fs)
			readingFlags(fs)
		},
		run: runReport,
	}
}

func runReport(ctx context.Context, e *env, args []string) error {
	out := &output{stdout: e.stdout, path: e.text("output"), kind: "html"}
	if ext := strings.ToLower(filepath.Ext(out.path)); out.path != "" && ext != ".html" && ext != ".htm" {
		return usage("report: -o %q: the name must end in .html", out.path)
	}
	if len(args) == 0 {
		return usage("report: no source given; name a file, a directory, an archive, a .plx store or demo:NAME")
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
	o := report.Options{Run: run, Views: views.Views, Version: version(), Narrowed: e.narrowed()}
	if o.Selection, err = e.spec().Resolve(run.Store); err != nil {
		return err
	}
	if err := out.write(func(w io.Writer) error { return report.Write(ctx, w, o) }); err != nil {
		return err
	}
	if out.path != "" {
		fmt.Fprintln(e.stdout, out.path)
	}
	return nil
}

// narrowed is the selection as it was written, empty for the whole run.
func (e *env) narrowed() string {
	var words []string
	for _, name := range []string{"from", "to"} {
		if v := e.text(name); v != "" {
			words = append(words, "--"+name, v)
		}
	}
	for _, name := range []string{"locations", "regions"} {
		for _, v := range e.list(name) {
			words = append(words, "--"+name, v)
		}
	}
	return strings.Join(words, " ")
}
