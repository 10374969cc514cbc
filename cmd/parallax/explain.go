package main

import (
	"context"
	"errors"
	"strings"

	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/spf13/pflag"
)

// A pagedError is an error with the page of the documents that explains what it is about.
type pagedError struct {
	err  error
	page string // as `parallax docs` takes it
}

func (e *pagedError) Error() string { return e.err.Error() }
func (e *pagedError) Unwrap() error { return e.err }

// explainedBy names the page of an error, unless one is named already.
func explainedBy(page string, err error) error {
	var named *pagedError
	if err == nil || err == errSilent || page == "" || errors.As(err, &named) {
		return err
	}
	return &pagedError{err, page}
}

// pageOf gives where to read on about an error, or nothing: wrong usage points at the help.
func pageOf(err error) string {
	var u *load.UsageError
	var p *pagedError
	if errors.Is(err, context.Canceled) || errors.As(err, &u) || !errors.As(err, &p) {
		return ""
	}
	var source *load.ImportError
	switch {
	case errors.Is(err, local.ErrDamaged):
		return "reliability"
	case errors.As(err, &source) && source.Format != "demo" && source.Format != "joined":
		return "formats/" + source.Format
	}
	return p.page
}

// pages are where the documents explain what commands do with a source.
var pages = map[string]string{
	"open": "formats", "import": "formats", "info": "formats", "compare": "compare", "check": "findings", "query": "tables", "export": "tables",
	"mcp": "programs", "report": "contrast", "recorder": "recorder", "receive": "live", "verify": "reliability", "cache": "store-format",
}

// page is that of a command; those of views have one each.
func (c *command) page(args []string) string {
	if c.name == "view" && len(args) > 0 && findView(args[0]) != nil {
		return "views/" + args[0]
	}
	return pages[c.name]
}

// nearestFlag is a suggestion where an option is not known.
func nearestFlag(fs *pflag.FlagSet, err error) string {
	typed, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	var names []string
	fs.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if s := suggest(typed, names); s != "" {
		return strings.Replace(s, "mean ", "mean --", 1)
	}
	return ""
}
