package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parallax-hpc/parallax/docs"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/spf13/pflag"
)

func TestTheDocumentsHaveNoDeadLink(t *testing.T) {
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range s.Dead() {
		t.Error(d)
	}
	// Links that leave the documents are files of the repository.
	for _, name := range s.Names() {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		b, err := s.Read(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(b), `href="`+repository)[1:] {
			file, _, _ := strings.Cut(part, `"`)
			file, _, _ = strings.Cut(file, "#")
			if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Without a terminal nothing is served: the pages are listed or printed, and the program alone prints its help.
func TestDocsArePrinted(t *testing.T) {
	status, list, stderr := parallax(t, "docs")
	if lines := strings.Count(list, "\n"); status != 0 || lines < 50 {
		t.Fatalf("docs: status %d, %d lines: %s", status, lines, stderr)
	}
	for _, line := range strings.Split(list, "\n") {
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.TrimSpace(text) == "" {
			t.Errorf("nothing is said of page %q", name)
		}
		if status, page, stderr := parallax(t, "docs", name); status != 0 || !strings.Contains(page, "# ") {
			t.Errorf("docs %s: status %d: %s", name, status, stderr)
		}
	}
	if status, out, _ := parallax(t); status != 0 || !strings.Contains(out, "parallax help VERB") {
		t.Errorf("the program alone: status %d: %.80s", status, out)
	}
}

// brokenPipe is the output of a program whose reader has gone.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

func TestAReaderThatGoesEndsTheProgramQuietly(t *testing.T) {
	for _, args := range [][]string{{"docs"}, {"docs", "findings"}, {"view", "profile", "demo:fig4"}, {"query", "demo:fig4", "select * from regions"}} {
		var said bytes.Buffer
		if status := run(context.Background(), append(args, quietCache(t, args)...), brokenPipe{}, &said); status != 0 || said.Len() > 0 {
			t.Errorf("%q: status %d, %q", args, status, said.String())
		}
	}
}

// quietCache gives commands that import a cache of their own.
func quietCache(t *testing.T, args []string) []string {
	if args[0] == "docs" {
		return nil
	}
	return []string{"--cache", t.TempDir()}
}

func TestEveryViewAndFormatHasAPage(t *testing.T) {
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views.Views {
		b, err := s.Read(context.Background(), "views/"+v.Name+".html")
		if err != nil || !bytes.Contains(b, []byte("How to read it")) || len(v.Options) > 0 && !bytes.Contains(b, []byte("--"+v.Options[0].Name)) {
			t.Errorf("%s: %v", v.Name, err)
		}
	}
	page, err := s.Read(context.Background(), "commands.html")
	if err != nil || !bytes.Contains(page, []byte("wrong usage")) {
		t.Errorf("the page of commands does not tell exit codes: %v", err)
	}
	for _, c := range commands() {
		if !bytes.Contains(page, []byte(`<h2 id="`+c.name+`">`)) {
			t.Errorf("the page of commands lacks %s", c.name)
		}
	}
	for _, f := range formats.Formats {
		if _, err := s.Read(context.Background(), "formats/"+f.Name+".html"); err != nil && f.Import != nil {
			t.Errorf("%v: write docs/formats/%s.md, or let -update take the comment of its package", err, f.Name)
		}
	}
}

// The pictures of views are the answers of commands that stand beside them.
func TestPagesOfViewsMakeTheirPictures(t *testing.T) {
	s, err := newSite()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views.Views {
		b, err := s.Read(context.Background(), "views/"+v.Name+".light.svg")
		if err != nil || !bytes.Contains(b, []byte("<svg")) {
			t.Errorf("%s: %v; name a source that the view can show in examples (docs.go)", v.Name, err)
			continue
		}
		// Its numbers point at what is there, or the picture would have failed; each is explained.
		guide, err := guideOf(v.Name)
		if err != nil || len(guide) < 4 {
			t.Errorf("%s: %d callouts, %v; write docs/guides/%s.txt", v.Name, len(guide), err, v.Name)
		}
		for i, c := range guide {
			if !strings.HasSuffix(c.Says, ".") {
				t.Errorf("%s, callout %d: %q is no sentence", v.Name, i+1, c.Says)
			}
			if !bytes.Contains(b, fmt.Appendf(nil, ">%d</text>", i+1)) {
				t.Errorf("%s: the picture lacks number %d", v.Name, i+1)
			}
		}
		page, err := s.Read(context.Background(), "views/"+v.Name+".html")
		if err != nil || bytes.Count(page, []byte("<li>")) < len(guide) || !bytes.Contains(page, []byte("in <code>data</code>")) {
			t.Errorf("%s: its page does not tell what its numbers point at, or what its data holds: %v", v.Name, err)
		}
	}
}

const taken = "<!-- taken from the comment of internal/importer/%s by make golden -->\n"

// alsoRead is where more is said of formats whose page is the comment of their package.
var alsoRead = map[string]string{
	"gotrace": "go.md", "zipkin": "spans.md", "jaeger": "spans.md", "otlp": "spans.md", "pprof": "profilers.md", "perf": "profilers.md", "collapsed": "profilers.md",
	"speedscope": "profilers.md", "cpuprofile": "profilers.md", "firefox": "profilers.md", "callgrind": "profilers.md", "jfr": "profilers.md", "gprof": "profilers.md",
	"stackprof": "profilers.md", "instruments": "profilers.md", "paje-csv": "paje.md", "tau-trace": "tautrace.md", "moments": "../recorder.md",
}

// Formats without a page of their own show the comment of their package, which says what
// becomes of each record.
func TestFormatsWithoutAPageShowTheCommentOfTheirPackage(t *testing.T) {
	comments := packagesOfFormats(t)
	for _, f := range formats.Formats {
		file := "formats/" + f.Name + ".md"
		old, _ := docs.Site.ReadFile(file)
		if onDisk, err := os.ReadFile("../../docs/" + file); err == nil {
			old = onDisk
		}
		if f.Import == nil || len(old) > 0 && !bytes.HasPrefix(old, []byte("<!-- taken")) {
			continue
		}
		p, ok := comments[f.Name]
		if !ok {
			t.Errorf("no package below internal/importer has the format %s", f.Name)
			continue
		}
		var parse comment.Parser
		_, text, _ := strings.Cut(p.comment, " ")
		text = strings.TrimPrefix(text, p.name+" ")
		var b strings.Builder
		fmt.Fprintf(&b, taken, p.name)
		fmt.Fprintf(&b, "# %s\n\n`--format %s`. This format ", f.Title, f.Name)
		b.Write((&comment.Printer{}).Markdown(parse.Parse(strings.Replace(text, "imports ", "takes ", 1))))
		if more := alsoRead[f.Name]; more != "" {
			fmt.Fprintf(&b, "\nMore: [%s](%s).\n", strings.TrimSuffix(filepath.Base(more), ".md"), more)
		}
		if b.String() == string(old) {
			continue
		}
		if !viewtest.Updating() {
			t.Errorf("docs/%s is not what the comment of its package says; run make golden", file)
			continue
		}
		if err := os.WriteFile("../../docs/"+file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type formatPackage struct{ name, comment string }

// packagesOfFormats finds the package of each format by the name in its Format.
func packagesOfFormats(t *testing.T) map[string]formatPackage {
	out := map[string]formatPackage{}
	files, _ := filepath.Glob("../../internal/importer/*/*.go")
	comments := map[string]string{}
	names := map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			comments[f.Name.Name] = f.Doc.Text()
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !strings.HasSuffix(typeName(lit.Type), "Format") {
				return true
			}
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && typeName(kv.Key) == "Name" {
					if v, ok := kv.Value.(*ast.BasicLit); ok {
						names[f.Name.Name] = append(names[f.Name.Name], strings.Trim(v.Value, `"`))
					}
				}
			}
			return true
		})
	}
	for p, list := range names {
		for _, n := range list {
			out[n] = formatPackage{p, comments[p]}
		}
	}
	return out
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func TestThePageServesTheDocuments(t *testing.T) {
	c := (&env{flags: pflag.NewFlagSet("", pflag.ContinueOnError)}).serverConfig(newLoader(&load.Cache{}, 0, nil), nil)
	w := httptest.NewRecorder()
	http.StripPrefix("/docs", c.Docs).ServeHTTP(w, httptest.NewRequest("GET", "/docs/views/timeline.html", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), "<h1 id=\"timeline\">") {
		t.Errorf("status %d: %.200s", w.Code, w.Body.String())
	}
}

// The binary alone has what tutorials read.
func TestDocsWriteTheDataOfTheTutorials(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	if err := writeTutorialData(&out, dir); err != nil || !strings.Contains(out.String(), dir) {
		t.Fatal(out.String(), err)
	}
	pages, err := filepath.Glob("../../docs/tutorials/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	named := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(string(b)) {
			if _, err := os.Stat("../../" + word); err != nil || !strings.HasPrefix(word, "docs/tutorials/data/") {
				continue
			}
			named++
			if _, err := os.Stat(filepath.Join(dir, word)); err != nil {
				t.Error(page, err)
			}
		}
	}
	if named < 20 {
		t.Errorf("tutorials name %d files", named)
	}
	if err := writeTutorialData(&out, dir); err == nil {
		t.Error("files that are there are overwritten")
	}
}
