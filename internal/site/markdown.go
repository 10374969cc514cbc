package site

import (
	"bytes"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// render makes HTML of one page, and returns the links in it.
func (s *Site) render(from string, source []byte) (*page, []string, error) {
	p := &page{path: htmlPath(from), title: strings.TrimSuffix(path.Base(from), ".md"), anchors: map[string]bool{}}
	tree := markdown.Parser().Parse(text.NewReader(source))
	var links []string
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok {
				p.anchors[string(id.([]byte))] = true
			}
			if n.Level == 1 {
				p.title = strings.ReplaceAll(plainText(n, source), "`", "")
			}
		case *ast.Link:
			n.Destination = []byte(s.link(from, string(n.Destination)))
			links = append(links, string(n.Destination))
		case *ast.Image:
			links = append(links, string(n.Destination))
			// A picture that is made in both themes is shown in that of the reader.
			if name, ok := strings.CutSuffix(string(n.Destination), ".light.svg"); ok {
				links = append(links, name+".dark.svg")
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil {
		return nil, nil, err
	}
	p.body = bothThemes(b.Bytes())
	return p, links, nil
}

// link returns the target of a link of a page in the site: pages become HTML, and targets outside the pages are in
// the repository.
func (s *Site) link(from, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	target, anchor, named := strings.Cut(to, "#")
	if named {
		anchor = "#" + anchor
	}
	full := path.Join(path.Dir(from), target)
	if strings.HasPrefix(full, "..") {
		return s.config.Source + path.Join(s.config.Folder, full) + anchor
	}
	if s.config.Pages[full] != nil {
		dir, _ := path.Split(target)
		return dir + path.Base(htmlPath(full)) + anchor
	}
	if s.config.Pages[path.Join(full, "README.md")] != nil {
		return strings.TrimSuffix(target, "/") + "/index.html" + anchor
	}
	if s.isFolder(full) {
		return s.config.Source + path.Join(s.config.Folder, full)
	}
	return to
}

func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// bothThemes shows NAME.dark.svg to those whose system is dark.
func bothThemes(html []byte) []byte {
	const end = `.light.svg"`
	for at := 0; ; {
		i := bytes.Index(html[at:], []byte(end))
		if i < 0 {
			return html
		}
		i += at
		open := bytes.LastIndex(html[:i], []byte("<img "))
		name := html[bytes.LastIndexByte(html[:i], '"')+1 : i]
		shut := i + bytes.IndexByte(html[i:], '>') + 1
		picture := `<picture><source media="(prefers-color-scheme: dark)" srcset="` + string(name) + `.dark.svg">` +
			string(html[open:shut]) + `</picture>`
		html = append(append(append([]byte{}, html[:open]...), picture...), html[shut:]...)
		at = open + len(picture)
	}
}

func (s *Site) isFolder(name string) bool {
	i, err := fs.Stat(s.config.Files, name)
	return err == nil && i.IsDir()
}
