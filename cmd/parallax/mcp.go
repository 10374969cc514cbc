package main

import (
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/parallax-hpc/parallax/docs"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/scene"
	views "github.com/parallax-hpc/parallax/internal/view/all"
)

func mcpCommand() *command {
	return &command{
		name: "mcp", args: "[SOURCE...]",
		summary: "answers for programs that speak the Model Context Protocol, over standard input and output",
		help: "Tools open, runs, info, findings, views, view, contrast, compare and query; docs/programs.md explains " +
			"them. A client starts it itself, by a line such as\n" +
			"  {\"mcpServers\": {\"parallax\": {\"command\": \"parallax\", \"args\": [\"mcp\", \"traces/\"]}}}\n\n  " +
			"parallax mcp traces/",
		flags: readingFlags, run: runMCP, serves: true,
	}
}

func runMCP(ctx context.Context, e *env, args []string) error {
	l, err := e.loader()
	if err != nil {
		return err
	}
	l.Progress = nil
	runs := &mcp.OpenRuns{Opener: l.All}
	defer runs.Close()
	if len(args) > 0 {
		if _, err := runs.Open(ctx, args); err != nil {
			return err
		}
	}
	s, err := newPrograms(runs)
	if err != nil {
		return err
	}
	return s.ServeStdio(ctx, os.Stdin, writer{e.stdout})
}

// newPrograms makes the server that programs ask.
func newPrograms(runs mcp.Runs) (*mcp.Server, error) {
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
		Version: version(), Runs: runs, Views: views.Views, Database: newDatabase, Documents: documents,
		Prove:   proveRun,
		Picture: func(w io.Writer, s *scene.Scene) error { return png.Render(w, s, scene.Light) },
	}), nil
}

// A writer is one that closing leaves open.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
