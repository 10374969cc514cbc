package importer

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// NewSource opens a user's input: a file, a directory, an archive (tar, plain or
// packed, or zip; told by content), or several of these as one source. The
// caller closes it.
//
// One path becomes the root itself. Several become one tree under the nearest
// directory that holds them all, with only the named files listed.
func NewSource(paths ...string) (Source, error) {
	switch len(paths) {
	case 0:
		return Source{}, &Error{File: "source", Cause: "no file or directory named", Kind: ErrNotFound}
	case 1:
		return newSource(paths[0])
	}
	return newSources(paths)
}

// NewSourceFS makes a source of all files in fsys: of a demo, an upload, a test.
func NewSourceFS(name string, fsys fs.FS) (Source, error) {
	s := Source{FS: fsys, Name: name, root: name}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			s.Skipped = append(s.Skipped, Skip{p, err.Error()})
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			s.Skipped = append(s.Skipped, Skip{p, "not a regular file"})
			return nil
		}
		s.Files = append(s.Files, File{p, info.Size()})
		return nil
	})
	if err != nil {
		return Source{}, openError(name, err)
	}
	return s.ready(), nil
}

// ready completes a source whose files are known.
func (s Source) ready() Source {
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	s.heads = newHeadCache(s.Files)
	return s
}

// newSource opens one path.
func newSource(name string) (Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		if s, ok, err := withinArchive(name); ok || err != nil {
			return s, err
		}
		return Source{}, openError(name, err)
	}
	switch {
	case info.IsDir():
		return directory(name)
	case !info.Mode().IsRegular():
		return Source{},
			&Error{File: name, Cause: "not a file or directory but " + kindOf(info.Mode()),
				Hint: "save its content to a file first", Kind: ErrUnsupported}
	case info.Size() == 0 && ofKernel(name):
		return Source{}, &Error{File: name, Cause: "a file of the kernel, whose content is made while it is read",
			Hint: "save its content to a file first", Kind: ErrUnsupported}
	}
	archive, ok, err := openArchive(name, info.Size())
	if err == nil && ok {
		return archive.inner(info.Size(), deepestArchive)
	}
	if err != nil {
		return archive, err
	}
	dir, base := filepath.Split(name)
	dir = cmp.Or(dir, ".")
	s := Source{FS: os.DirFS(dir), Name: name, alone: true, Files: []File{{base, info.Size()}}}
	return s.ready(), nil
}

// withinArchive opens one entry or folder of an archive, named as messages name it: the archive's path,
// then the path within it. It says false if nothing above name is an archive.
func withinArchive(name string) (Source, bool, error) {
	at, inside := archiveAbove(name)
	if at == "" {
		return Source{}, false, nil
	}
	s, err := entries(at, []string{inside})
	s.Name = name
	return s, err == nil, err
}

// archiveAbove splits the path of an entry of an archive into the archive's path and the path within it; "" if no
// regular file is above it.
func archiveAbove(name string) (at, inside string) {
	if _, err := os.Stat(name); err == nil {
		return "", ""
	}
	for at := filepath.Dir(name); at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			continue
		}
		inside, err := filepath.Rel(at, name)
		if !info.Mode().IsRegular() || err != nil {
			break
		}
		return at, filepath.ToSlash(inside)
	}
	return "", ""
}

// entries opens some entries and folders of an archive.
func entries(archive string, inside []string) (Source, error) {
	s, err := newSource(archive)
	if err != nil {
		return Source{}, err
	}
	found := make([]bool, len(inside))
	wanted := func(path string) bool {
		any := false
		for i, dir := range inside {
			if within(path, dir) {
				any, found[i] = true, true
			}
		}
		return any
	}
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return s.alone || !wanted(f.Path) })
	if i := slices.Index(found, false); i >= 0 {
		s.Close()
		return Source{}, &Error{File: filepath.Join(archive, inside[i]),
			Cause: "nothing of that name in the archive " + archive, Kind: ErrNotFound}
	}
	s.Skipped = slices.DeleteFunc(s.Skipped, func(k Skip) bool { return !wanted(k.Path) })
	return s, nil
}

// within reports whether p is dir or is in it.
func within(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// newSources opens several paths as one tree, an archive once for all its entries.
func newSources(paths []string) (Source, error) {
	var roots []string
	inside := map[string][]string{}
	for _, p := range paths {
		at, entry := archiveAbove(p)
		if at == "" {
			roots = append(roots, p)
			continue
		}
		if inside[at] == nil {
			roots = append(roots, at)
		}
		inside[at] = append(inside[at], entry)
	}
	full := make([]string, len(roots))
	for i, p := range roots {
		abs, err := filepath.Abs(p)
		if err != nil {
			return Source{}, openError(p, err)
		}
		full[i] = filepath.ToSlash(abs)
	}
	root := commonDirectory(full)
	all := Source{Name: fmt.Sprintf("%s and %d more", paths[0], len(paths)-1), root: rootLabel(roots, full, root)}
	tree := mounts{}
	for i, p := range roots {
		var s Source
		var err error
		if list := inside[p]; list != nil {
			s, err = entries(p, list)
		} else {
			s, err = newSource(p)
		}
		if err != nil {
			all.Close()
			return Source{}, err
		}
		at := strings.TrimPrefix(strings.TrimPrefix(full[i], root), "/")
		if s.alone {
			at = path.Dir(at)
		}
		tree = append(tree, mount{at, s.FS})
		all.add(s, at)
	}
	all.FS = tree
	slices.SortFunc(all.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	all.Files = slices.Compact(all.Files) // the same file named twice
	return all.ready(), nil
}

// add lists the files of s below at.
func (all *Source) add(s Source, at string) {
	for _, f := range s.Files {
		all.Files = append(all.Files, File{path.Join(at, f.Path), f.Size})
	}
	for _, k := range s.Skipped {
		all.Skipped = append(all.Skipped, Skip{path.Join(at, k.Path), k.Why})
	}
	all.close = append(all.close, s.close...)
}

// commonDirectory is the nearest directory above all paths.
func commonDirectory(paths []string) string {
	dir := path.Dir(paths[0])
	for _, p := range paths[1:] {
		for dir != "/" && dir != "." && !strings.HasPrefix(p, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return dir
}

// rootLabel says the root in the user's own words where all paths agree on them.
func rootLabel(paths, full []string, root string) string {
	inside := strings.TrimPrefix(full[0], root)
	label, ok := strings.CutSuffix(filepath.ToSlash(paths[0]), inside)
	if !ok && path.Clean(filepath.ToSlash(paths[0])) == strings.TrimPrefix(inside, "/") {
		return ""
	}
	if !ok {
		return strings.TrimSuffix(root, "/")
	}
	return label
}

// mounts is a tree put together from several.
type mounts []mount

type mount struct {
	at   string // "." for the root
	fsys fs.FS
}

func (m mounts) Open(name string) (fs.File, error) {
	for _, t := range m {
		inside, ok := name, t.at == "."
		if !ok {
			inside, ok = strings.CutPrefix(name, t.at+"/")
		}
		if !ok {
			continue
		}
		if f, err := t.fsys.Open(inside); err == nil || !os.IsNotExist(err) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ofKernel reports whether a file without a size is in a file system of the kernel: reading one may wait for ever.
func ofKernel(name string) bool {
	full, err := filepath.Abs(name)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	return err == nil && (strings.HasPrefix(full, "/proc/") || strings.HasPrefix(full, "/sys/"))
}

// kindOf names the kind of an entry that is not a file.
func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// readAtCloser is the input of archives.
type readAtCloser interface {
	io.ReaderAt
	io.Closer
}
