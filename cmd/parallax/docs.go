package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/docs"
	"github.com/parallax-hpc/parallax/internal/callout"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/site"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

// repository is the address of the project's files.
const repository = "https://github.com/parallax-hpc/parallax/blob/main/"

func docsCommand() *command {
	return &command{
		name: "docs", args: "[PAGE] [--serve | -o DIR | --data DIR]",
		summary: "print the documentation, serve it, or write it as HTML",
		help: "Prints one page as Markdown, or without PAGE the list of pages, one line each: tutorials, views, " +
			"formats, tables, API.\n" +
			"Errors name the PAGE that explains them. --serve opens the pages in the browser, with a picture of each " +
			"view. --data writes the data of the tutorials: their commands work in DIR then.\n\n" +
			"  parallax docs\n  parallax docs formats/otf2\n  parallax docs views/timeline --serve\n  parallax docs " +
			"-o site/\n  parallax docs --data .",
		flags: func(fs *pflag.FlagSet) {
			fs.Bool("serve", false, "serve the pages and open the browser")
			fs.StringP("output", "o", "", "directory to write the pages to, as HTML")
			fs.String("data", "", "directory to write the data of the tutorials to, below docs/tutorials/data")
			fs.String("listen", "127.0.0.1:0", "HOST:PORT to serve at; port 0 takes a free one")
			fs.Bool("no-browser", false, "with --serve: print the address only")
			fs.Bool("text", false, "print the page, as is done without it")
			_ = fs.MarkHidden("text")
		},
		run: runDocs,
	}
}

func runDocs(ctx context.Context, e *env, args []string) error {
	if dir := e.text("data"); dir != "" {
		return writeTutorialData(e.stdout, dir)
	}
	c, err := siteConfig()
	if err != nil {
		return err
	}
	source, err := pageNamed(c.Pages, args)
	if err != nil {
		return err
	}
	dir := e.text("output")
	switch {
	case dir != "":
		return writeSite(ctx, e.stdout, c, dir)
	case e.flag("serve") || e.flags.Changed("listen"):
		return e.serveSite(ctx, c, source)
	case len(args) == 0:
		return printIndex(e.stdout, c)
	}
	_, err = e.stdout.Write(c.Pages[source])
	return err
}

// writeTutorialData writes the files where the commands of the tutorials read them; none that is there is overwritten.
func writeTutorialData(w io.Writer, dir string) error {
	if err := os.CopyFS(filepath.Join(dir, "docs"), docs.TutorialData); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: written; the commands of `parallax docs tutorials` work in %s\n",
		filepath.Join(dir, "docs", "tutorials", "data"), dir)
	return err
}

func writeSite(ctx context.Context, w io.Writer, c site.Config, dir string) error {
	s, err := site.New(c)
	if err != nil {
		return err
	}
	if err := s.Write(ctx, dir); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %d files; open %s\n", dir, len(s.Names()), filepath.Join(dir, "index.html"))
	return err
}

// serveSite serves the pages until ctx ends, beginning with one of them.
func (e *env) serveSite(ctx context.Context, c site.Config, source string) error {
	s, err := site.New(c)
	if err != nil {
		return err
	}
	listener, err := listenTCP(e.text("listen"))
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/"
	if source != "README.md" {
		address += site.PathOf(source)
	}
	fmt.Fprintf(e.stdout, "The documentation is at %s\nCtrl+C ends it.\n", address)
	if !e.flag("no-browser") {
		startBrowser(address)
	}
	h := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { h.Close() })
	defer stop()
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// printIndex lists the pages by their groups, one line each.
func printIndex(w io.Writer, c site.Config) error {
	var b bytes.Buffer
	fmt.Fprint(&b, "`parallax docs PAGE` prints a page, `parallax docs --serve` opens all in the browser.\n")
	for _, g := range c.Groups {
		fmt.Fprintf(&b, "\n%s\n", g.Title)
		if g.Title == "Formats" {
			fmt.Fprintf(&b, "  %-24s %s\n", "formats", oneLine("formats", c.Pages["formats/README.md"]))
		}
		for _, file := range g.Pages {
			name := pageName(file)
			fmt.Fprintf(&b, "  %-24s %s\n", name, oneLine(name, c.Pages[file]))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// longestLine is how many letters of a page the list of pages has at most.
const longestLine = 90

// oneLine is the summary of a view, the title of a format, else the heading of a page, or its first sentence if the
// heading is only its name.
func oneLine(name string, page []byte) string {
	if v := findView(strings.TrimPrefix(name, "views/")); v != nil && strings.HasPrefix(name, "views/") {
		return shortened(v.Summary)
	}
	if f := findFormat(strings.TrimPrefix(name, "formats/")); f != nil && strings.HasPrefix(name, "formats/") {
		return shortened(f.Title)
	}
	title := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "<!--"):
		case title == "" && strings.HasPrefix(line, "# "):
			if title = strings.TrimPrefix(line, "# "); !strings.EqualFold(title, path.Base(name)) {
				return shortened(title)
			}
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!") || strings.HasPrefix(line, "|") ||
			strings.HasPrefix(line, "```"):
			return title
		default:
			text, _, _ := strings.Cut(line, ". ")
			return shortened(strings.TrimSuffix(text, "."))
		}
	}
	return title
}

// shortened cuts a text after a word.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > longestLine {
		cut := string(runes[:longestLine-1])
		return cut[:max(strings.LastIndexByte(cut, ' '), 0)] + " …"
	}
	return text
}

// pageName is the name that `parallax docs` takes for a file.
func pageName(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".md"), "/README")
}

// A lazySite is made when its first page is requested.
type lazySite struct{ site func() (*site.Site, error) }

func (l lazySite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, err := l.site()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.ServeHTTP(w, r)
}

// pageNamed finds a page by the name that errors give: views/timeline, findings, formats.
func pageNamed(pages map[string][]byte, args []string) (string, error) {
	if len(args) == 0 {
		return "README.md", nil
	}
	name := strings.TrimSuffix(strings.Trim(strings.TrimPrefix(args[0], "docs/"), "/"), ".md")
	for _, file := range []string{name + ".md", name + "/README.md"} {
		if len(args) == 1 && pages[file] != nil {
			return file, nil
		}
	}
	var names []string
	for file := range pages {
		names = append(names, pageName(file))
	}
	slices.Sort(names)
	return "",
		usage("docs: no page %q; `parallax docs` lists them%s", strings.Join(args, " "), words.Suggest(name, names))
}

// newSite makes the site of the documents and of the lists of views and formats.
func newSite() (*site.Site, error) {
	c, err := siteConfig()
	if err != nil {
		return nil, err
	}
	return site.New(c)
}

func siteConfig() (site.Config, error) {
	c := site.Config{
		Pages: map[string][]byte{}, Files: docs.Site, Made: map[string]func(context.Context) ([]byte, error){},
		Source: repository, Folder: "docs",
		Foot: "Parallax " + version() + ", Apache-2.0. Nothing leaves this machine.",
	}
	err := fs.WalkDir(docs.Site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		c.Pages[name], err = docs.Site.ReadFile(name)
		return err
	})
	if err != nil {
		return c, err
	}
	c.Pages["commands.md"] = commandsPage()
	var viewPages, formatPages []string
	for _, v := range views.Views {
		name := "views/" + v.Name
		c.Pages[name+".md"] = viewPage(v)
		viewPages = append(viewPages, name+".md")
		for _, theme := range []string{"light", "dark"} {
			c.Made[name+"."+theme+".svg"] = pictureOf(v.Name, theme)
		}
	}
	for _, f := range formats.Formats {
		if f.Import != nil {
			formatPages = append(formatPages, "formats/"+f.Name+".md")
		}
	}
	c.Groups = []site.Group{
		{Title: "Tutorials",
			Pages: []string{"tutorials/straggler.md", "tutorials/idle-gpu.md", "tutorials/hpl.md",
				"tutorials/tau-topology.md", "tutorials/slow-request.md", "tutorials/go-scaling.md",
				"tutorials/two-runs.md", "tutorials/paper-figure.md"}},
		{Title: "Answers",
			Pages: []string{"findings.md", "contrast.md", "compare.md", "gpu.md", "queries.md", "recorder.md",
				"live.md"}},
		{Title: "Views", Pages: viewPages},
		{Title: "In depth",
			Pages: []string{"moments.md", "callmatrix.md", "layouts.md", "kaleidoscope.md", "papers.md",
				"papers/moments.md", "papers/callmatrix.md", "papers/layouts.md", "papers/treemap.md",
				"papers/kaleidoscope.md"}},
		{Title: "Formats", Pages: formatPages},
		{Title: "Reference",
			Pages: []string{"commands.md", "glossary.md", "tables.md", "api.md", "programs.md", "embedding.md",
				"store-format.md"}},
		{Title: "Inside", Pages: []string{
			"architecture.md", "decisions.md", "adding-a-format.md", "adding-a-view.md", "adding-a-finding.md",
		}},
	}
	var known []string
	for _, g := range c.Groups {
		known = append(known, g.Pages...)
	}
	var rest []string
	for name := range c.Pages {
		if !slices.Contains(known, name) && !strings.HasSuffix(name, "README.md") {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	c.Groups = append(c.Groups, site.Group{Title: "More", Pages: rest})
	return c, nil
}

// examples are how the pages of views make their pictures; others show demo:stencil.
var examples = map[string][]string{
	"moments":  {"demo:fig5"},
	"contrast": {"demo:stencil", "--locations", "rank:40-47"},
	"compare":  {"demo:stencil", "--run", "balanced=demo:stencil?balanced"},
	"scaling": {"demo:stencil", "--run", "32=demo:stencil?locations=32", "--run", "16=demo:stencil?locations=16",
		"--run", "8=demo:stencil?locations=8", "--run", "4=demo:stencil?locations=4"},
	"history": {"demo:stencil?seed=1", "--run", "2=demo:stencil?seed=2", "--run", "3=demo:stencil?seed=3", "--run",
		"4=demo:stencil?balanced&seed=4", "--run", "5=demo:stencil?balanced&seed=5", "--run",
		"6=demo:stencil?balanced&seed=6", "--run", "7=demo:stencil?balanced&seed=7"},
	"source":       {"demo:zgrd"},
	"treemap":      {"demo:g5k188"},
	"overview":     {"demo:g5k188"},
	"calltree":     {"demo:training"},
	"kaleidoscope": {"demo:pascal"},
	"topology":     {"demo:s3d"},
	"landscape":    {"demo:s3d"},
	"scatter":      {"demo:zgrd", "--event0", "solve_vertical:exclusive", "--event1", "MPI_Allreduce:exclusive"},
	"histogram":    {"demo:s3d"},
	"steps":        {"demo:training"},
	"operators":    {"demo:training"},
	"findings":     {"demo:training"},
	"criticalpath": {"demo:shop"},
	"services":     {"demo:shop"},
	"requests":     {"demo:shop"},
}

// exampleOf is the command behind the picture of a view's page, without its output.
func exampleOf(v string) []string {
	source, ok := examples[v]
	if !ok {
		source = []string{"demo:stencil"}
	}
	args := append([]string{"view", v}, source...)
	if guide := "guides/" + v + ".txt"; fileThere(guide) {
		args = append(args, "--callouts", "docs/"+guide)
	}
	return args
}

// pictureOf returns the picture of a view in a theme, computed once.
func pictureOf(v, theme string) func(context.Context) ([]byte, error) {
	var mu sync.Mutex
	var kept []byte
	return func(ctx context.Context) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if kept != nil {
			return kept, nil
		}
		dir, err := os.MkdirTemp("", "parallax-docs-*")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		file := filepath.Join(dir, "picture.svg")
		args := exampleOf(v)
		for i, a := range args { // a file of the documents is in the program
			if args[i], err = unpacked(dir, a); err != nil {
				return nil, err
			}
		}
		var said strings.Builder
		if status := run(ctx, append(args, "--theme", theme, "--size", "960x480", "-o", file), &said,
			&said); status != 0 {
			return nil, fmt.Errorf("the picture of %s: %s", v, said.String())
		}
		kept, err = os.ReadFile(file)
		return kept, err
	}
}

// unpacked puts a file of the documents into a folder; other arguments are not changed.
func unpacked(dir, argument string) (string, error) {
	name, ok := strings.CutPrefix(argument, "docs/")
	if !ok {
		return argument, nil
	}
	b, err := docs.Site.ReadFile(name)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, filepath.Base(name))
	return file, os.WriteFile(file, b, 0o644)
}

// guideOf returns the explanations of the numbers on the picture of a view.
func guideOf(v string) ([]callout.Callout, error) {
	b, err := docs.Site.ReadFile("guides/" + v + ".txt")
	if err != nil {
		return nil, err
	}
	return callout.Parse(string(b))
}

// commandsPage is the help of all commands, and the meaning of the exit status.
func commandsPage() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b,
		"# Commands\n\n%s `parallax SOURCE` is the same as `parallax open SOURCE`.\n\n## Exit "+
			"status\n\n```\n%s\n```\n\n## Environment\n\n```\n%s\n```\n", sources, exitStatus, environment)
	for _, c := range commands() {
		fmt.Fprintf(&b, "\n## %s\n\n```\n", c.name)
		c.describe(&b, nil)
		fmt.Fprint(&b, "```\n")
		if page := pages[c.name]; page != "" && fileThere(page+".md") {
			fmt.Fprintf(&b, "\nMore: [%s](%s.md).\n", page, page)
		}
	}
	return b.Bytes()
}

// viewPage is the page of a view, from the view's own description.
func viewPage(v *view.View) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", v.Title, sentence(v.Summary))
	fmt.Fprintf(&b, "![%s of %s](%s.light.svg)\n\n", v.Title, exampleOf(v.Name)[2], v.Name)
	if guide, err := guideOf(v.Name); err == nil {
		for i, c := range guide {
			fmt.Fprintf(&b, "%d. %s\n", i+1, c.Says)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "```\nparallax %s -o %s.svg\n```\n\n", strings.Join(exampleOf(v.Name), " "), v.Name)
	fmt.Fprintf(&b, "## How to read it\n\n%s\n\n", v.HowToRead)
	if v.Paper != "" {
		fmt.Fprintf(&b, "After %s.\n\n", v.Paper)
	}
	for _, name := range []string{v.Name + ".md", "papers/" + v.Name + ".md"} {
		if _, err := fs.Stat(docs.Site, name); err == nil {
			fmt.Fprintf(&b, "More: [%s](../%s).\n\n", strings.TrimSuffix(name, ".md"), name)
		}
	}
	if len(v.Options) > 0 {
		fmt.Fprint(&b, "## Options\n\n| option | | |\n| --- | --- | --- |\n")
		cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "\\<")
		for _, o := range v.Options {
			choices := strings.Join(o.Choices, ", ")
			if o.Default != "" {
				choices = strings.TrimPrefix(choices+"; otherwise "+o.Default, "; ")
			}
			fmt.Fprintf(&b, "| `--%s` | %s | %s |\n", o.Name, cell.Replace(o.Help), cell.Replace(choices))
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "## Numbers\n\nThe numbers behind the picture: `parallax view %s SOURCE` prints them as JSON",
		v.Name)
	if schema := "schemas/view-" + v.Name + ".json"; fileThere(schema) {
		fmt.Fprintf(&b, " ([schema](../%s))", schema)
	}
	fmt.Fprint(&b,
		", `-o FILE.csv` writes them as a table. Selections (`--from`, `--to`, `--locations`, `--regions`) are the "+
			"same in every view.\n")
	if rows := fieldsOf(v.Name); rows != "" {
		fmt.Fprintf(&b, "\n| in `data` of the JSON | holds |\n| --- | --- |\n%s", rows)
	}
	return []byte(b.String())
}

// A shape is the part of a JSON Schema that the pages use.
type shape struct {
	Type       any               `json:"type"`
	Properties map[string]*shape `json:"properties"`
	Required   []string          `json:"required"` // in the order of the type
	Items      *shape            `json:"items"`
	AnyOf      []*shape          `json:"anyOf"`
}

// fieldsOf returns the rows of a table of the fields of a view's data, from its schema.
func fieldsOf(v string) string {
	text, err := docs.Site.ReadFile("schemas/view-" + v + ".json")
	if err != nil {
		return ""
	}
	var top shape
	if err := json.Unmarshal(text, &top); err != nil {
		return ""
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, s := range append([]*shape{&top}, top.AnyOf...) {
		for _, name := range s.names() {
			if !seen[name] {
				fmt.Fprintf(&b, "| `%s` | %s |\n", name, s.Properties[name].holds())
			}
			seen[name] = true
		}
	}
	return b.String()
}

// names are the fields, those that are always there first and in the order of the type.
func (s *shape) names() []string {
	out := slices.DeleteFunc(slices.Clone(s.Required), func(n string) bool { return s.Properties[n] == nil })
	for _, n := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// holds describes a field.
func (s *shape) holds() string {
	if s.Items != nil {
		if s.Items.Properties == nil {
			return "a list"
		}
		return "a list, each with `" + strings.Join(s.Items.names(), "`, `") + "`"
	}
	if s.Properties != nil {
		return "`" + strings.Join(s.names(), "`, `") + "`"
	}
	words := map[string]string{"integer": "a whole number", "number": "a number", "string": "a text",
		"boolean": "true or false", "object": "by name"}
	list, ok := s.Type.([]any)
	if !ok {
		list = []any{s.Type}
	}
	for _, t := range list {
		if w := words[fmt.Sprint(t)]; w != "" {
			if len(list) > 1 {
				w += ", or null"
			}
			return w
		}
	}
	return ""
}

func fileThere(name string) bool {
	_, err := fs.Stat(docs.Site, name)
	return err == nil
}

// sentence is a summary with a capital and a full stop.
func sentence(s string) string {
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}
