package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A sourceFinder finds files of a program below directories. The names of a directory are listed once.
type sourceFinder struct {
	mu    sync.Mutex
	trees map[string]*sourceTree // by directory
}

// A sourceTree is the files below a directory.
type sourceTree struct {
	dir    []string            // parts of its own path
	byName map[string][]string // paths below it by the last part, with slashes
	cut    bool                // there are more files than mostSourceFiles
}

// mostSourceFiles bounds how many files of a directory are listed.
const mostSourceFiles = 200_000

// A sourceMatch is a file that may be the one that a trace names.
type sourceMatch struct {
	root, rel string
	common    int  // parts at the end of both paths that are the same
	whole     bool // the name is its path from the root
}

func (m *sourceMatch) path() string { return filepath.Join(m.root, filepath.FromSlash(m.rel)) }

// shown returns the path from the name of the root on: where that lies is the server's own affair.
func (m *sourceMatch) shown() string { return path.Join(filepath.Base(m.root), m.rel) }

// find returns the file whose path has the longest end in common with a name. Several that have it are an error. A link
// out of its root and a file that is too long are not opened.
func (s *sourceFinder) find(ctx context.Context, roots []string, name string) (*os.File, *sourceMatch, error) {
	parts := pathParts(name)
	if len(parts) == 0 {
		return nil, nil, fs.ErrNotExist
	}
	var best []sourceMatch
	cut := ""
	for _, root := range roots {
		t, err := s.tree(ctx, root)
		if err != nil {
			return nil, nil, err
		}
		if t.cut {
			cut = root
		}
		for _, rel := range t.byName[parts[len(parts)-1]] {
			m := sourceMatch{root: root, rel: rel, common: t.common(rel, parts), whole: rel == strings.Join(parts, "/")}
			if len(best) > 0 && (m.common < best[0].common || m.common == best[0].common && best[0].whole && !m.whole) {
				continue
			}
			if len(best) > 0 && (m.common > best[0].common || m.whole && !best[0].whole) {
				best = best[:0]
			}
			if !slices.ContainsFunc(best, func(o sourceMatch) bool { return o.path() == m.path() }) {
				best = append(best, m)
			}
		}
	}
	switch {
	case len(best) > 1:
		return nil, nil, ambiguous(name, best)
	case len(best) == 1:
		f, err := openBelow(best[0].root, best[0].rel)
		return f, &best[0], err
	case cut != "":
		return nil, nil,
			fmt.Errorf("%s is not among the first %d files of %s; name a directory closer to it", name, mostSourceFiles,
				cut)
	}
	return nil, nil, fs.ErrNotExist
}

// An ambiguity is an error for people: which files could be meant.
type ambiguity struct{ error }

func ambiguous(name string, list []sourceMatch) error {
	const most = 4
	var paths []string
	for i := range list[:min(len(list), most)] {
		paths = append(paths, list[i].shown())
	}
	if len(list) > most {
		paths = append(paths, fmt.Sprintf("and %d more", len(list)-most))
	}
	return ambiguity{fmt.Errorf("several files could be %s: %s; name the directory of one of them", name,
		strings.Join(paths, ", "))}
}

func pathParts(name string) []string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.DeleteFunc(parts, func(p string) bool { return p == "." })
}

// common counts the parts that a path below the tree and the parts of a name end with.
func (t *sourceTree) common(rel string, name []string) int {
	all := append(slices.Clone(t.dir), strings.Split(rel, "/")...)
	n := 0
	for n < len(all) && n < len(name) && all[len(all)-1-n] == name[len(name)-1-n] {
		n++
	}
	return n
}

// tree lists the files below a directory, the first time. One that cannot be read has none.
func (s *sourceFinder) tree(ctx context.Context, dir string) (*sourceTree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[dir]; t != nil {
		return t, nil
	}
	t := &sourceTree{byName: map[string][]string{}}
	if full, err := filepath.Abs(dir); err == nil {
		t.dir = pathParts(full)
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
		case files == mostSourceFiles:
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
	if s.trees == nil {
		s.trees = map[string]*sourceTree{}
	}
	s.trees[dir] = t
	return t, nil
}

// openBelow opens a file of a root that is not too long, and none outside of it.
func openBelow(dir, rel string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel = filepath.FromSlash(rel)
	if i, err := root.Stat(rel); err != nil {
		return nil, err
	} else if !i.Mode().IsRegular() || i.Size() > maxSourceLen {
		return nil, errors.New("no text file of up to 8 MiB")
	}
	return root.Open(rel)
}
