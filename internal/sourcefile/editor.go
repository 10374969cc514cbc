package sourcefile

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// editors are templates by name.
var editors = map[string]string{
	"none":      "",
	"vscode":    "vscode://file{file}:{line}",
	"cursor":    "cursor://file{file}:{line}",
	"jetbrains": "jetbrains://idea/navigate/reference?project={project}&path={rel}:{line}",
}

// refused are schemes that run or load something.
var refused = map[string]bool{"": true, "javascript": true, "data": true, "http": true, "https": true, "file": true,
	"blob": true, "vbscript": true, "about": true, "view-source": true}

// ParseEditor returns the template of --editor: that of a known editor, or the text itself.
func ParseEditor(text string) (string, error) {
	if known, ok := editors[text]; ok {
		return known, nil
	}
	scheme, _, ok := strings.Cut(text, ":")
	valid := ok && strings.IndexFunc(scheme, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	}) < 0
	switch {
	case !valid || !strings.Contains(text, "{file}") && !strings.Contains(text, "{rel}"):
		return "", fmt.Errorf("--editor %q: want vscode, cursor, jetbrains, none, or a template such as "+
			"vscode://file{file}:{line}", text)
	case refused[scheme]:
		return "", fmt.Errorf("--editor %q: a link must not run or load something; want the scheme of an editor", text)
	}
	return text, nil
}

// Link returns the address that opens the file at a line in the editor; "" without an editor. The path is that of the
// found file, never the recorded one.
func (f *Finder) Link(x *File, line int) string {
	if f == nil || f.Editor == "" || x == nil {
		return ""
	}
	full, err := filepath.Abs(x.Path)
	if err != nil {
		return ""
	}
	full = filepath.ToSlash(full)
	if !strings.HasPrefix(full, "/") { // C:/…
		full = "/" + full
	}
	return strings.NewReplacer(
		"{file}", escapePath(full), "{rel}", escapePath(x.rel), "{line}", strconv.Itoa(max(line, 1)), "{column}", "1",
		"{project}", url.PathEscape(path.Base(filepath.ToSlash(x.root))),
	).Replace(f.Editor)
}

func escapePath(p string) string {
	list := strings.Split(p, "/")
	for i := range list {
		list[i] = strings.ReplaceAll(url.PathEscape(list[i]), "&", "%26")
	}
	return strings.Join(list, "/")
}
