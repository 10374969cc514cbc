package site

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func small(t *testing.T) *Site {
	t.Helper()
	s, err := New(Config{
		Pages: map[string][]byte{
			"README.md":         []byte("# Front\n\n[a](views/a.md#how), [folder](samples), [code](../internal/x.go), [b](b.md), [gone](views/a.md#gone) ![p](p.png)"),
			"views/a.md":        []byte("# A `view`\n\n## How\n\n| x |\n| --- |\n| 1 |\n\n![A](a.light.svg) [up](../README.md)"),
			"samples/README.md": []byte("# Samples"),
		},
		Files:  fstest.MapFS{"p.png": {Data: []byte("png")}, "unused.png": {Data: []byte("png")}},
		Made:   map[string]func(context.Context) ([]byte, error){"views/a.light.svg": svg("light"), "views/a.dark.svg": svg("dark")},
		Groups: []Group{{"Views", []string{"views/a.md"}}},
		Source: "https://example.org/blob/main/", Folder: "docs",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func svg(text string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte("<svg>" + text), nil }
}

func TestLinksThatLeadNowhereAreListed(t *testing.T) {
	want := []string{"index.html: b.md", "index.html: views/a.html#gone"}
	if got := small(t).Dead(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPagesBecomeHTMLInTheirFrame(t *testing.T) {
	s := small(t)
	for name, parts := range map[string][]string{
		"index.html":   {`href="views/a.html#how"`, `href="samples/index.html"`, `href="https://example.org/blob/main/internal/x.go"`, `<title>Front · Parallax`, `href="style.css"`},
		"views/a.html": {`<h2 id="how">`, `<td>1</td>`, `srcset="a.dark.svg"`, `src="a.light.svg"`, `href="../index.html"`, `aria-current="page">A view<`, `href="../style.css"`},
	} {
		b, err := s.Read(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			if !strings.Contains(string(b), p) {
				t.Errorf("%s lacks %s\n%s", name, p, b)
			}
		}
	}
}

func TestASiteIsWrittenAsItIsServed(t *testing.T) {
	s, dir := small(t), t.TempDir()
	if err := s.Write(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "views/a.html", "views/a.dark.svg", "p.png", "style.css", "samples/index.html"} {
		written, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/"+name, nil))
		if w.Code != 200 || w.Body.String() != string(written) {
			t.Errorf("%s: status %d, or other bytes", name, w.Code)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "unused.png")); err == nil {
		t.Error("a file that no page names is written")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/nothing.html", nil))
	if w.Code != 404 {
		t.Errorf("a page that is not there: status %d", w.Code)
	}
}
