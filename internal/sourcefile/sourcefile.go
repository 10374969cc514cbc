// Package sourcefile finds and reads files of a program's source. Names in traces are untrusted, so only files below
// directories that the user named are opened: no path escapes them, and no link leads out of them.
package sourcefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	maxLength     = 8 << 20 // bytes of a file
	maxLineLength = 400     // characters of a line
	maxFiles      = 200_000 // files of a directory that are listed
)

// A Finder finds source files below its roots. The names of a root are listed once. A nil Finder has no roots.
type Finder struct {
	Roots []string
	// Trim are beginnings of recorded paths to leave out.
	Trim []string
	// Editor is the template of a link that opens a file, see Link; "": none.
	Editor string

	mu    sync.Mutex
	trees map[string]*tree // by root
}

// With returns a finder that looks below further directories first.
func (f *Finder) With(dirs ...string) *Finder {
	if len(dirs) == 0 {
		return f
	}
	out := &Finder{Roots: dirs}
	if f != nil {
		out.Roots, out.Trim, out.Editor = append(slices.Clone(dirs), f.Roots...), f.Trim, f.Editor
	}
	return out
}

// A File is a source file as text.
type File struct {
	// Path is where it was found; Shown is its path from the name of the root on.
	Path, Shown string
	// ByName: it matches the recorded path by its name alone, so it may be another file.
	ByName   bool
	Modified time.Time
	Lines    []string
	rel      string
	root     string
}

// ErrNotFound is the error of a file that is not below the roots.
var ErrNotFound = errors.New("is not below a directory of --source")

// A tree is the files below a root.
type tree struct {
	dir    []string            // parts of its own path
	byName map[string][]string // paths below it by the last part, with slashes
	cut    bool                // there are more files than maxFiles
}

// A match is a file that may be the one that a trace names.
type match struct {
	root, rel string
	common    int  // parts at the end of both paths that are the same
	whole     bool // the name is its path from the root
}

func (m *match) path() string { return filepath.Join(m.root, filepath.FromSlash(m.rel)) }

func (m *match) shown() string { return path.Join(filepath.Base(m.root), m.rel) }

// Read returns the file whose path has the longest end in common with a recorded path. Several that have it are an
// error. So is a file that is too long or is not text.
func (f *Finder) Read(ctx context.Context, name string) (*File, error) {
	if f == nil {
		return nil, ErrNotFound
	}
	for _, prefix := range f.Trim {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name = rest
			break
		}
	}
	m, err := f.find(ctx, name)
	if err != nil {
		return nil, err
	}
	in, modified, err := openBelow(m.root, m.rel)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	lines, err := readLines(in)
	if err != nil {
		return nil, err
	}
	return &File{Path: m.path(), Shown: m.shown(), ByName: m.common == 1 && len(parts(name)) > 1, Modified: modified,
		Lines: lines, rel: m.rel, root: m.root}, nil
}

func (f *Finder) find(ctx context.Context, name string) (*match, error) {
	wanted := parts(name)
	if len(wanted) == 0 {
		return nil, ErrNotFound
	}
	var best []match
	cut := ""
	for _, root := range f.Roots {
		t, err := f.tree(ctx, root)
		if err != nil {
			return nil, err
		}
		if t.cut {
			cut = root
		}
		for _, rel := range t.byName[wanted[len(wanted)-1]] {
			m := match{root: root, rel: rel, common: t.common(rel, wanted), whole: rel == strings.Join(wanted, "/")}
			if len(best) > 0 && (m.common < best[0].common || m.common == best[0].common && best[0].whole && !m.whole) {
				continue
			}
			if len(best) > 0 && (m.common > best[0].common || m.whole && !best[0].whole) {
				best = best[:0]
			}
			if !slices.ContainsFunc(best, func(o match) bool { return o.path() == m.path() }) {
				best = append(best, m)
			}
		}
	}
	switch {
	case len(best) > 1:
		return nil, ambiguous(best)
	case len(best) == 1:
		return &best[0], nil
	case cut != "":
		return nil, fmt.Errorf("is not among the first %d files of %s; name a directory closer to it", maxFiles, cut)
	}
	return nil, ErrNotFound
}

func ambiguous(list []match) error {
	const most = 4
	var paths []string
	for i := range list[:min(len(list), most)] {
		paths = append(paths, list[i].shown())
	}
	if len(list) > most {
		paths = append(paths, fmt.Sprintf("and %d more", len(list)-most))
	}
	return fmt.Errorf("could be several files: %s; name the directory of one of them", strings.Join(paths, ", "))
}

func parts(name string) []string {
	list := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(list, func(p string) bool { return p == "." })
}

// common counts the parts that a path below the tree and the parts of a name end with.
func (t *tree) common(rel string, name []string) int {
	all := append(slices.Clone(t.dir), strings.Split(rel, "/")...)
	n := 0
	for n < len(all) && n < len(name) && all[len(all)-1-n] == name[len(name)-1-n] {
		n++
	}
	return n
}

// tree lists the files below a directory, the first time. One that cannot be read has none.
func (f *Finder) tree(ctx context.Context, dir string) (*tree, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.trees[dir]; t != nil {
		return t, nil
	}
	t := &tree{byName: map[string][]string{}}
	if full, err := filepath.Abs(dir); err == nil {
		t.dir = parts(full)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return t, nil
	}
	defer root.Close()
	files := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // unreadable files are left out
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case files == maxFiles:
			t.cut = true
			return fs.SkipAll
		}
		files++
		t.byName[path.Base(name)] = append(t.byName[path.Base(name)], name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.trees == nil {
		f.trees = map[string]*tree{}
	}
	f.trees[dir] = t
	return t, nil
}

// openBelow opens a regular file of a root that is not too long, and none outside of it.
func openBelow(dir, rel string) (*os.File, time.Time, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, time.Time{}, ErrNotFound
	}
	defer root.Close()
	rel = filepath.FromSlash(rel)
	i, err := root.Stat(rel)
	if err != nil {
		return nil, time.Time{}, ErrNotFound
	}
	if !i.Mode().IsRegular() || i.Size() > maxLength {
		return nil, time.Time{}, errors.New("is no text file of up to 8 MiB")
	}
	in, err := root.Open(rel)
	return in, i.ModTime(), err
}

// readLines reads a text; long lines are cut.
func readLines(r io.Reader) ([]string, error) {
	lines := []string{}
	in := bufio.NewScanner(io.LimitReader(r, maxLength))
	in.Buffer(make([]byte, 0, 64<<10), maxLength)
	for in.Scan() {
		text := in.Text()
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, errors.New("is not text")
		}
		if utf8.RuneCountInString(text) > maxLineLength {
			text = string([]rune(text)[:maxLineLength]) + "…"
		}
		lines = append(lines, text)
	}
	return lines, in.Err()
}
