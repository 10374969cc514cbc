// Package mcp answers programs that speak the Model Context Protocol: tools to open runs, describe them, find
// problems, ask views and SQL. Answers are small, the most important first, and say how to ask for more.
//
//	mcp.go     the server and its tools      runs.go   which runs are open
//	look.go    info, findings, views         ask.go    SQL
//	drain.go   answers after the input ended
//
// Times are whole nanoseconds from the start of a run; whole numbers that a float64
// would round are texts.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Config configures a server.
type Config struct {
	Version string
	Runs    Runs
	Views   []*view.View
	// Database puts runs behind SQL.
	Database func([]view.Run) *query.Database
	// Picture writes a scene as PNG.
	Picture func(w io.Writer, s *scene.Scene) error
	// Prove asks the numbers of the findings of a run again by SQL; nil: not offered.
	Prove func(context.Context, view.Run) ([]Proof, error)
	// Gate judges limits such as "length=3%" on the result of the view compare of runs; nil: not offered.
	Gate func(ctx context.Context, limits []string, runs []view.Run, compared view.Result) ([]Verdict, error)
	// Documents by name, such as "tables.md": resources.
	Documents map[string]string
}

// A Server answers over any number of connections.
type Server struct {
	config Config
	sdk    *sdk.Server
}

const instructions = "Parallax holds runs of parallel programs (traces and profiles): locations (processes, " +
	"threads, GPU streams) stay in regions (functions, kernels, states) for intervals.\n" +
	"Start with \"runs\"; where none is open, \"open\" one by its path. \"info\" says what is in it, \"findings\" " +
	"what it loses time by, in words. \"view\" gives the numbers of a view, and a picture with picture=true; " +
	"\"views\" lists views and their options. \"contrast\" says why two sets of locations or two time ranges " +
	"differ, \"compare\" what changed between runs, \"source\" which lines of the program a region spends its time " +
	"in. \"prove\" asks the numbers of the findings again. \"query\" " +
	"answers SQL for everything else.\n" +
	"Times are nanoseconds from the start of the run. Where an answer says \"more\", ask again with offset or a " +
	"narrower selection."

// New makes a server.
func New(c Config) *Server {
	s := &Server{config: c,
		sdk: sdk.NewServer(&sdk.Implementation{Name: "parallax", Title: "Parallax", Version: c.Version},
			&sdk.ServerOptions{Instructions: instructions})}
	reads := &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	add := func(name, description string) *sdk.Tool {
		return &sdk.Tool{Name: name, Description: description, Annotations: reads}
	}
	sdk.AddTool(s.sdk,
		add("open",
			"Open a trace or profile by its path (a file, a directory, an archive, a .plx store, or demo:NAME such "+
				"as demo:stencil). Imports it if needed, which may take long. Gives the ids that other tools take as "+
				"`run`."), s.open)
	sdk.AddTool(s.sdk, add("runs", "List the runs that are open, with their ids."), s.runs)
	sdk.AddTool(s.sdk,
		add("info",
			"Content of a run: format, length, counts of locations, intervals, links, samples; the regions with the "+
				"most time; what was repaired or left out on import."), s.info)
	sdk.AddTool(s.sdk,
		add("findings",
			"Causes of lost time, largest first, each as a sentence with the time lost, its time range, and on which "+
				"locations. Ask this first when the question is why something is slow."), s.findings)
	sdk.AddTool(s.sdk,
		add("views", "List the views with one line on each; with `view`, the options of that one and how to read it."),
		s.views)
	sdk.AddTool(s.sdk,
		add("view",
			"The numbers behind a view as rows, for all or for a selection; with picture=true also its picture as "+
				"PNG. Views: "+viewNames(c.Views)+"."), s.view)
	sdk.AddTool(s.sdk,
		add("contrast",
			"Why two parts of a run differ: what a has more or less of than b, by effect. a and b are patterns of "+
				"locations (`rank:0-3`, a glob on the path) or time ranges (`time=1s..2s`, `from=50%`); b left "+
				"out: all others. by names what is compared, joined by commas: role, category, region, caller, calls, "+
				"messages, partner, counter, metric, attribute; all by default."), s.contrast)
	sdk.AddTool(s.sdk,
		add("source",
			"The lines of a source file with their values (exclusive, inclusive, calls), the largest first, and the "+
				"text around the largest. Ask it after findings or a view named a region: which line is it? Text "+
				"needs the server to be started with --source DIR; without it the numbers come alone."), s.source)
	sdk.AddTool(s.sdk,
		add("compare",
			"What changed from one run to another, most first: time of each region and call path, with its share of "+
				"the difference and a verdict: longer, shorter, same, or unknown where there are too few runs to "+
				"tell. before and after are ids of open runs, several per side joined by commas. limits are those of "+
				"`parallax compare --fail-on` (length=3%, REGION=5%, load-balance=3%): verdicts say which are passed. "+
				"With picture=true also the picture as PNG."), s.compare)
	if c.Prove != nil {
		sdk.AddTool(s.sdk,
			add("prove",
				"Whether the numbers in the sentences of findings hold: each claim with the SQL that gives it again, "+
					"the stated number and the result of the query."), s.prove)
	}
	sdk.AddTool(s.sdk, add("query", "SQL (SQLite, read only) over a run. "+schemaOf(c.Database(nil))), s.query)
	for name, text := range c.Documents {
		uri := "parallax://docs/" + name
		s.sdk.AddResource(&sdk.Resource{URI: uri, Name: name, MIMEType: "text/markdown", Description: firstLine(text)},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				contents := &sdk.ResourceContents{URI: uri, MIMEType: "text/markdown", Text: text}
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
			})
	}
	return s
}

func viewNames(all []*view.View) string {
	var names []string
	for _, v := range all {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// schemaOf returns the tables in short.
func schemaOf(d *query.Database) string {
	var b strings.Builder
	b.WriteString("Tables: ")
	for i, t := range d.Tables() {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(t.Name)
		if t.Function() {
			var names []string
			for _, a := range t.Arguments {
				names = append(names, a.Name)
			}
			b.WriteString("(" + strings.Join(names, ", ") + ") gives ")
		}
		var names []string
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
		b.WriteString("[" + strings.Join(names, ", ") + "]")
	}
	b.WriteString(". Times are ns. Conditions on begin, end, time, location, path, rank, region spare reading. " +
		"Prefer time_in, calls and busy to group by over intervals: they add up inside the store. Resource " +
		"parallax://docs/tables.md explains every column.")
	return b.String()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "# \n"), "\n")
	return line
}

// ServeStdio answers over standard input and output until they end.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.sdk.Run(ctx, draining{&sdk.IOTransport{Reader: in, Writer: out}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// Connect answers over a transport, for tests.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) error {
	_, err := s.sdk.Connect(ctx, t, nil)
	return err
}

// Handler answers over HTTP with a server for each request; nil: a bad request. The caller must check who may ask.
func Handler(of func(*http.Request) *Server, log *slog.Logger) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if s := of(r); s != nil {
			return s.sdk
		}
		return nil
	},
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, Logger: log})
}

// failed makes an error of a tool: the program that asked reads it and tries again.
func failed(format string, a ...any) error { return fmt.Errorf(format, a...) }
