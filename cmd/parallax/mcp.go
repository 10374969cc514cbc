package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/parallax-hpc/parallax/docs"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/spf13/pflag"
)

func mcpCommand() *command {
	return &command{
		name: "mcp", args: "[SOURCE...]",
		summary: "serve programs over the Model Context Protocol, on standard input and output",
		help: "Tools open, runs, info, findings, views, view, contrast, source, compare, prove and query; " +
			"docs/programs.md explains them. A client starts it itself, by a line such as\n" +
			"  {\"mcpServers\": {\"parallax\": {\"command\": \"parallax\", \"args\": [\"mcp\", \"traces/\"]}}}\n\n  " +
			"parallax mcp traces/",
		flags: func(fs *pflag.FlagSet) {
			fs.StringArray("root", nil,
				"DIR, or the beginning of an address, from which sources may be opened; repeatable; default: the "+
					"sources of the command line and the working directory")
			sourceFlags(fs)
			readingFlags(fs)
		},
		run: runMCP, serves: true,
	}
}

func runMCP(ctx context.Context, e *env, args []string) error {
	l, err := e.loader()
	if err != nil {
		return err
	}
	l.Progress = nil
	roots := e.roots(args)
	runs := &mcp.OpenRuns{Opener: func(ctx context.Context, sources []string) ([]view.Run, error) {
		for _, s := range sources {
			if !server.Below(roots, s) {
				return nil, fmt.Errorf("%s is outside the directories that may be opened; "+
					"start parallax mcp with --root DIR", s)
			}
		}
		return l.All(ctx, sources)
	}}
	defer runs.Close()
	if len(args) > 0 {
		if _, err := runs.Open(ctx, args); err != nil {
			return err
		}
	}
	s, err := newPrograms(e.asker(), runs)
	if err != nil {
		return err
	}
	return s.ServeStdio(ctx, os.Stdin, writer{e.stdout})
}

// newPrograms makes the server that programs ask.
func newPrograms(a *asker, runs mcp.Runs) (*mcp.Server, error) {
	documents := map[string]string{}
	names, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(docs.Files, name)
		if err != nil {
			return nil, err
		}
		documents[name] = string(text)
	}
	return mcp.New(mcp.Config{
		Version: version(), Runs: runs, Views: views.Views, Database: a.database, Documents: documents,
		Prove:   proveRun,
		Gate:    judgeCompared,
		Picture: func(w io.Writer, s *scene.Scene) error { return png.Render(w, s, scene.Light) },
	}), nil
}

// A writer is one that closing leaves open.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
