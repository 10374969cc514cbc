// Package report writes a report on a run into one HTML file, for mail and for a CI job's artefacts: findings, the
// pictures that prove them, and tables.
//
// The file needs nothing else: pictures are inline SVG, there is no script and no
// request to anywhere, and a content security policy in it says so to the browser.
// It follows the reader's theme and prints in light colours. Names come from traces:
// they are text, always.
//
//	report.go    the contents
//	section.go   findings, tables
//	picture.go   a view as SVG in two themes, small enough for mail
//	oneview.go   a file with one view: picture, notes and table
//	page.html    how it looks
package report

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Options configure a report.
type Options struct {
	Run       view.Run
	Selection trace.Selection
	// Narrowed is the selection as flags, where it is not the whole run.
	Narrowed string
	Views    []*view.View
	Version  string
}

// most is how many bytes the pictures may have together.
const most = 1_600_000

//go:embed page.html
var pageText string

var page = template.Must(template.New("report").Parse(pageText))

// A document holds the contents of the page.
type document struct {
	Title    string
	Source   string
	Narrowed string
	Facts    []fact
	Said     bool // findings were looked for
	Findings []entry
	More     int
	POP      []fact
	Pictures []picture
	Tables   []table
	Left     []string
	Version  string
	Style    template.CSS
}

type fact struct{ Label, Value string }

// A reporter gathers one document.
type reporter struct {
	Options
	ctx     context.Context
	doc     document
	palette svg.Palette
	drawn   map[string]bool    // commands of the pictures that are in already
	nearly  map[string]bool    // views that are in with nearly all of the selection
	about   []trace.LocationID // of the first finding that names some
	bytes   int
}

// Write makes the report.
func Write(ctx context.Context, w io.Writer, o Options) error {
	r := &reporter{Options: o, ctx: ctx, drawn: map[string]bool{}, nearly: map[string]bool{}}
	r.doc = document{Title: clean(o.Run.Name), Source: clean(o.Run.Source), Narrowed: clean(o.Narrowed),
		Version: o.Version}
	info, err := view.InfoOf(ctx, o.Run.Store)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r.facts(info)
	if err := r.findings(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := r.pictures(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	r.tables(info)
	r.doc.Style = template.CSS(r.palette.CSS())
	return page.Execute(w, &r.doc)
}

// with returns the view that takes part in reports in such a way, or nil.
func (r *reporter) with(how func(view.Report) bool) *view.View {
	for _, v := range r.Views {
		if how(v.Report) {
			return v
		}
	}
	return nil
}

// find returns the view of a name, or nil.
func (r *reporter) find(name string) *view.View {
	for _, v := range r.Views {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// facts adds the facts about the source.
func (r *reporter) facts(i *view.InfoJSON) {
	add := func(label, value string) { r.doc.Facts = append(r.doc.Facts, fact{label, clean(value)}) }
	count := func(label string, n int64) {
		if n > 0 {
			add(label, view.Thousands(n))
		}
	}
	add("format", i.Format)
	if i.End > 0 {
		add("span", view.FormatTime(i.End))
	}
	count("ranks", int64(i.Ranks))
	count("locations", int64(i.Locations))
	count("regions", int64(i.Regions))
	count("intervals", i.Intervals)
	count("links", i.Links)
	count("samples of counters", i.Samples)
	count("rows of a profile", i.ProfileRows)
}

// clean returns a text for display: characters that would act instead of show are escaped.
func clean(s string) string {
	const longest = 300
	if r := []rune(s); len(r) > longest {
		s = string(r[:longest*2/3]) + "…" + string(r[len(r)-longest/3:])
	}
	return visible(s)
}

// CommandLine returns a line for a shell.
func CommandLine(words ...string) string {
	out := []string{"parallax"}
	for _, w := range words {
		if w == "" || strings.ContainsFunc(w, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
				strings.ContainsRune("-_./:=%,+@", c))
		}) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
