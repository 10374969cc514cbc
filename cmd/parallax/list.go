package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/schema"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func jsonFlag(fs *pflag.FlagSet) { fs.Bool("json", false, "as JSON") }

func formatsCommand() *command {
	return &command{name: "formats", summary: "list the formats: read, or only recognised",
		help: "  parallax formats\n  parallax formats --json", flags: jsonFlag, run: runFormats}
}

// A formatInfo is one line of `parallax formats --json`.
type formatInfo struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Read   bool   `json:"read"`
	Advice string `json:"advice"`
}

func formatList() []formatInfo {
	out := []formatInfo{}
	for _, f := range formats.Formats {
		out = append(out, formatInfo{f.Name, f.Title, f.Import != nil, f.Advice})
	}
	return out
}

func runFormats(_ context.Context, e *env, _ []string) error {
	list := formatList()
	if e.flag("json") {
		return json.NewEncoder(e.stdout).Encode(list)
	}
	for _, read := range []bool{true, false} {
		fmt.Fprintln(e.stdout, map[bool]string{true: "read", false: "\nonly recognised"}[read])
		for _, f := range list {
			if f.Read != read {
				continue
			}
			fmt.Fprintf(e.stdout, "  %-14s %s\n", f.Name, f.Title)
			if f.Advice != "" {
				fmt.Fprintf(e.stdout, "  %-14s   %s\n", "", f.Advice)
			}
		}
	}
	return nil
}

func viewsCommand() *command {
	flags := func(fs *pflag.FlagSet) {
		jsonFlag(fs)
		fs.Bool("schema", false, "the JSON Schema of a view's data")
	}
	return &command{name: "views", args: "[VIEW]", summary: "list the views and their options",
		help: "  parallax views\n  parallax views timeline", flags: flags, run: runViews}
}

// A viewInfo is one line of `parallax views --json`.
type viewInfo struct {
	Name    string        `json:"name"`
	Title   string        `json:"title"`
	Summary string        `json:"summary"`
	Paper   string        `json:"paper"`
	Options []view.Option `json:"options"`
}

func runViews(_ context.Context, e *env, args []string) error {
	if e.flag("json") {
		out := []viewInfo{}
		for _, v := range views.Views {
			out = append(out, viewInfo{v.Name, v.Title, v.Summary, v.Paper, append([]view.Option{}, v.Options...)})
		}
		return json.NewEncoder(e.stdout).Encode(out)
	}
	if len(args) == 0 {
		for _, v := range views.Views {
			fmt.Fprintf(e.stdout, "  %-14s %s\n", v.Name, v.Summary)
		}
		fmt.Fprintln(e.stdout, "\n`parallax views VIEW` explains one and its options.")
		return nil
	}
	v := findView(args[0])
	if v == nil {
		return usage("views: no view %q%s", args[0], words.Suggest(args[0], viewNames()))
	}
	if e.flag("schema") {
		return writeSchema(e.stdout, v)
	}
	fmt.Fprintf(e.stdout, "%s: %s\n\n%s\n", v.Title, v.Summary, v.HowToRead)
	if v.Paper != "" {
		fmt.Fprintf(e.stdout, "\nAfter %s.\n", v.Paper)
	}
	fmt.Fprintln(e.stdout)
	for _, o := range v.Options {
		def := ""
		if o.Default != "" {
			def = " (" + o.Default + ")"
		}
		fmt.Fprintf(e.stdout, "  --%-12s %s%s\n", o.Name, o.Help, def)
		if len(o.Choices) > 0 {
			fmt.Fprintf(e.stdout, "    %-12s %v\n", "", o.Choices)
		}
	}
	return nil
}

func writeSchema(w io.Writer, v *view.View) error {
	s, err := schema.View(v)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
