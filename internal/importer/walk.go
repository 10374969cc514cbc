package importer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// directory makes a source of all regular files below dir. Links are followed;
// a directory that was met before, by whatever name, is not entered again, so
// that links in a circle end.
func directory(dir string) (Source, error) {
	w := walk{s: Source{FS: os.DirFS(dir), Name: dir, root: dir}}
	info, err := os.Stat(dir)
	if err != nil {
		return Source{}, openError(dir, err)
	}
	if err := w.enter(dir, ".", info); err != nil {
		return Source{}, openError(dir, err)
	}
	return w.s.ready(), nil
}

// A walk lists a directory. Its depth is bounded by the longest path the system
// allows, since every step lengthens the path and none repeats a directory.
type walk struct {
	s    Source
	seen []fs.FileInfo // directories; few next to the files in them
	ids  map[any]bool
}

// enter lists the directory at, which is below the root at rel.
func (w *walk) enter(at, rel string, info fs.FileInfo) error {
	if w.met(info) {
		w.skip(rel, listedAlready)
		return nil
	}
	entries, err := os.ReadDir(at)
	if err != nil && len(entries) == 0 {
		return err
	}
	for _, e := range entries {
		w.visit(filepath.Join(at, e.Name()), path.Join(rel, e.Name()))
	}
	return nil
}

func (w *walk) visit(at, rel string) {
	if strings.HasPrefix(path.Base(rel), ".") {
		w.skip(rel, hiddenFile)
		return
	}
	info, err := os.Stat(at)
	if err == nil && info.IsDir() {
		err = w.enter(at, rel, info)
	}
	switch {
	case err != nil:
		w.skip(rel, reason(err))
	case info.IsDir():
	case !info.Mode().IsRegular():
		w.skip(rel, "not a file but "+kindOf(info.Mode()))
	default:
		w.s.Files = append(w.s.Files, File{rel, info.Size()})
	}
}

func (w *walk) skip(rel, why string) { w.s.Skipped = append(w.s.Skipped, Skip{rel, why}) }

// met remembers a directory. If the system identifies directories by a number,
// that is used; else all met so far are compared.
func (w *walk) met(info fs.FileInfo) bool {
	if id, ok := identity(info); ok {
		if w.ids == nil {
			w.ids = map[any]bool{}
		}
		known := w.ids[id]
		w.ids[id] = true
		return known
	}
	for _, s := range w.seen {
		if os.SameFile(s, info) {
			return true
		}
	}
	w.seen = append(w.seen, info)
	return false
}

// hiddenFile is why files whose name begins with a dot are left alone: they are
// the system's and the editor's, never a trace.
const hiddenFile = "hidden"

// listedAlready is why a link to a directory is not followed; nothing is lost by it.
const listedAlready = "a link to a directory that is listed already"

// hidden reports whether a path has a hidden part.
func hidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// reason is the bare cause of a file system error.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}
