// Package site makes a web site of Markdown pages: each in a frame with a table of
// contents, light or dark as the reader's system is, without a script. It is served or
// written to files, the same bytes either way.
//
// Links are checked while the site is made: one that leads nowhere is listed, see Dead.
package site

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed page.html
var frame string

//go:embed style.css
var style []byte

// A Group is a heading of the table of contents with its pages, by path.
type Group struct {
	Title string
	Pages []string
}

// Config describes a site.
type Config struct {
	// Pages are Markdown by path ("views/timeline.md"); "README.md" is the front.
	Pages map[string][]byte
	// Files hold the other targets of links: pictures, samples.
	Files fs.FS
	// Made are files that are computed when they are asked for, by path.
	Made map[string]func(context.Context) ([]byte, error)
	// Groups are the table of contents; pages in none are reached by links only.
	Groups []Group
	// Source is the target of links that leave the pages: the address of the repository's files, and the folder of
	// the pages there.
	Source, Folder string
	// Foot is a line under each page.
	Foot string
}

// A Site holds the pages as HTML. It is immutable.
type Site struct {
	config Config
	pages  map[string]*page // by path of the HTML
	files  map[string]bool  // of Files, those that a page names
	dead   []string
}

type page struct {
	path, title string
	body        []byte
	anchors     map[string]bool
	html        []byte
}

// New makes the site.
func New(c Config) (*Site, error) {
	s := &Site{config: c, pages: map[string]*page{}, files: map[string]bool{}}
	links := map[*page][]string{}
	for from, text := range c.Pages {
		p, out, err := s.render(from, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		s.pages[p.path], links[p] = p, out
	}
	if s.pages["index.html"] == nil {
		return nil, fmt.Errorf("no README.md, which is the front page")
	}
	for p, out := range links {
		for _, l := range out {
			if !s.leads(p, l) {
				s.dead = append(s.dead, p.path+": "+l)
			}
		}
	}
	slices.Sort(s.dead)
	t, err := template.New("page").Parse(frame)
	if err != nil {
		return nil, err
	}
	for _, p := range s.pages {
		var b bytes.Buffer
		if err := t.Execute(&b, s.view(p)); err != nil {
			return nil, err
		}
		p.html = b.Bytes()
	}
	return s, nil
}

// Dead lists links that lead nowhere, as "page: link".
func (s *Site) Dead() []string { return s.dead }

// leads reports whether a link, as written in the HTML of a page, has an end.
func (s *Site) leads(p *page, link string) bool {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return true
	}
	target, anchor, _ := strings.Cut(link, "#")
	to := p.path
	if target != "" {
		to = path.Join(path.Dir(p.path), target)
	}
	if end := s.pages[to]; end != nil {
		return anchor == "" || end.anchors[anchor]
	}
	if s.config.Made[to] != nil {
		return true
	}
	if i, err := fs.Stat(s.config.Files, to); err != nil || i.IsDir() {
		return false
	}
	s.files[to] = true
	return true
}

// An entry is a line of the table of contents.
type entry struct {
	Title, Link string
	Here        bool
}

type section struct {
	Title   string
	Entries []entry
	Open    bool
}

type shown struct {
	Title, Root, Foot string
	Contents          []section
	Body              template.HTML
}

func (s *Site) view(p *page) shown {
	root := strings.Repeat("../", strings.Count(p.path, "/"))
	v := shown{Title: p.title, Root: root, Foot: s.config.Foot, Body: template.HTML(p.body)} // of our own Markdown
	for _, g := range s.config.Groups {
		x := section{Title: g.Title}
		for _, name := range g.Pages {
			if to := s.pages[htmlPath(name)]; to != nil {
				x.Entries = append(x.Entries, entry{to.title, root + to.path, to == p})
				x.Open = x.Open || to == p
			}
		}
		v.Contents = append(v.Contents, x)
	}
	return v
}

// PathOf returns the path of a Markdown file's page in the site.
func PathOf(name string) string { return htmlPath(name) }

// htmlPath returns the path of a Markdown page's HTML.
func htmlPath(name string) string {
	dir, base := path.Split(name)
	if base == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.TrimSuffix(base, ".md") + ".html"
}

// Names lists everything that the site holds.
func (s *Site) Names() []string {
	out := []string{"style.css"}
	for name := range s.pages {
		out = append(out, name)
	}
	for name := range s.files {
		out = append(out, name)
	}
	for name := range s.config.Made {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Read returns one file of the site.
func (s *Site) Read(ctx context.Context, name string) ([]byte, error) {
	if p := s.pages[name]; p != nil {
		return p.html, nil
	}
	if make := s.config.Made[name]; make != nil {
		return make(ctx)
	}
	if name == "style.css" {
		return style, nil
	}
	if s.files[name] {
		return fs.ReadFile(s.config.Files, name)
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// Write puts the site into a directory.
func (s *Site) Write(ctx context.Context, dir string) error {
	for _, name := range s.Names() {
		b, err := s.Read(ctx, name)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP answers with a file of the site; the path is below it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	b, err := s.Read(r.Context(), name)
	if err != nil {
		http.Error(w, "There is no page "+name+".", http.StatusNotFound)
		return
	}
	kind := map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css", ".svg": "image/svg+xml",
		".png": "image/png", ".json": "application/json", ".ipynb": "application/x-ipynb+json"}[path.Ext(name)]
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'self' 'unsafe-inline'")
	w.Write(b) // a client that left has no use for the error
}
