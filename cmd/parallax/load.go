package main

import (
	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/memory"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/words"
)

// newLoader makes one that knows all formats, kernels and views.
func newLoader(c *load.Cache, share int64, budget *memory.Budget) *load.Loader {
	return &load.Loader{Formats: formats.Formats, Summaries: all.Summaries, Digests: all.Digests,
		AtImport: append(views.AtImport(), all.AtImport...), Cache: c, Memory: share, Budget: budget}
}

func formatNames() (names []string) {
	for _, f := range formats.Formats {
		names = append(names, f.Name)
	}
	return names
}

func findFormat(name string) *importer.Format {
	return (&load.Loader{Formats: formats.Formats}).FindFormat(name)
}

func (e *env) loader() (*load.Loader, error) {
	for option, known := range map[string][]string{
		"align": {"auto", "none", "messages", "collectives"}, "names": {"folded", "raw"},
		"progress": {"auto", "json", "none"},
	} {
		if err := e.among(option, known...); err != nil {
			return nil, err
		}
	}
	if f := e.text("format"); f != "" && findFormat(f) == nil {
		return nil, words.NotOneOf("--format", f, formatNames()...)
	}
	c, err := load.OpenCache(e.text("cache"))
	if err != nil {
		return nil, explainedBy("commands", err)
	}
	l := newLoader(c, e.importShare(), e.budget)
	l.Format, l.Align, l.Join, l.Verify = e.text("format"), e.text("align"), e.flag("join"), e.flag("verify")
	l.RawNames = e.text("names") == "raw"
	switch how := e.text("progress"); {
	case how == "json":
		l.Progress = (&progressLines{w: e.stderr}).show
	case how == "auto" && e.terminal && !e.flag("quiet"):
		l.Progress = newProgressBar(e.stderr).show
	}
	l.Sources, err = e.sources()
	return l, err
}
