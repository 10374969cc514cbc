package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

// A pagedError is an error with the page of the documents that explains its subject.
type pagedError struct {
	err  error
	page string // as `parallax docs` takes it
}

func (e *pagedError) Error() string { return e.err.Error() }
func (e *pagedError) Unwrap() error { return e.err }

// explainedBy names the page of an error, unless one is named already.
func explainedBy(page string, err error) error {
	var named *pagedError
	if err == nil || err == errSilent || err == errCannotTell || page == "" || errors.As(err, &named) {
		return err
	}
	return &pagedError{err, page}
}

// pageOf returns the page that explains an error, or nothing: wrong usage points at the help. The kind of the error
// decides; the command does if nothing else is known.
func pageOf(err error) string {
	var u *load.UsageError
	var p *pagedError
	if errors.Is(err, context.Canceled) || errors.As(err, &u) || !errors.As(err, &p) {
		return ""
	}
	var source *load.ImportError
	var input *importer.Error
	var unknown *importer.Unknown
	var several *importer.Ambiguous
	var memory *memory.Exceeded
	var server *net.OpError
	switch {
	case errors.As(err, &server) && server.Op == "dial": // only clusters are asked over the network
		return "scale"
	case errors.Is(err, local.ErrDamaged), errors.As(err, &memory):
		return "reliability"
	case errors.As(err, &source) && source.Format != "demo" && source.Format != "joined":
		return "formats/" + source.Format
	case errors.As(err, &input), errors.As(err, &unknown), errors.As(err, &several):
		return "formats"
	}
	return p.page
}

// pages maps each command to the page of the documents that explains it.
var pages = map[string]string{
	"open": "formats", "import": "formats", "info": "formats", "compare": "compare", "check": "findings",
	"query": "tables", "export": "tables",
	"mcp": "programs", "report": "contrast", "recorder": "recorder", "receive": "live", "verify": "reliability",
	"cache": "store-format", "gen": "commands", "completion": "commands", "anonymise": "commands",
	"docs": "commands", "runs": "commands", "rm": "commands", "demo": "commands",
}

// page is that of a command; those of views have one each.
func (c *command) page(args []string) string {
	if c.name == "view" && len(args) > 0 && findView(args[0]) != nil {
		return "views/" + args[0]
	}
	return pages[c.name]
}

// otherNames are options as other programs call them.
var otherNames = map[string]string{
	"width": "size", "height": "size", "resolution": "size", "begin": "from", "start": "from", "end": "to",
	"ranks": "locations", "threads": "locations",
	"functions": "regions", "out": "output", "port": "listen", "address": "listen", "quiet-progress": "quiet",
	"color": "colour",
}

// nearestFlag suggests an option if one is not known.
func nearestFlag(fs *pflag.FlagSet, err error) string {
	typed, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if _, word, short := strings.Cut(err.Error(), "' in -"); !ok && short && len(word) > 2 { // -size for --size
		typed, ok = word, true
	}
	if !ok {
		return ""
	}
	typed, _, _ = strings.Cut(typed, "=")
	var names []string
	fs.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for _, other := range slices.Sorted(maps.Keys(otherNames)) {
		if fs.Lookup(otherNames[other]) != nil {
			names = append(names, other)
		}
	}
	best := words.Nearest(typed, names)
	if name, ok := otherNames[best]; ok && fs.Lookup(best) == nil {
		best = name
	}
	if best == "" {
		return ""
	}
	return "; did you mean --" + best + "?"
}
