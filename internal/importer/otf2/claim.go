package otf2

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// claim finds the archives of a source: every anchor, known by its content, with
// the files that are named after it.
func claim(s importer.Source) []importer.Run {
	var runs []importer.Run
	for _, f := range s.Files {
		if !isAnchor(s.Head(f.Path)) {
			continue
		}
		files := findFiles(s, f.Path)
		r := importer.Run{Files: files.all(), Companions: files.companions}
		if dir := path.Dir(f.Path); dir != "." {
			r.Name = path.Base(dir)
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return orphans(s)
	}
	return runs
}

// orphans claims files of an archive whose anchor is missing or damaged.
func orphans(s importer.Source) []importer.Run {
	var files []string
	events := false
	for _, f := range s.Files {
		ext := path.Ext(f.Path)
		if (ext == ".evt" || ext == ".def") && (isChunk(s.Head(f.Path)) || isPacked(s.Head(f.Path))) {
			files = append(files, f.Path)
			events = events || ext == ".evt"
		}
	}
	if !events {
		return nil
	}
	return []importer.Run{{Files: files}}
}

// isChunk reports whether a file that begins like this is one of definitions or
// events: they count from 1.
func isChunk(head []byte) bool {
	return new(chunks).plausible(head) && number(head[2:10], head[1] == bigEndian) == 1
}

// rootOf returns the name that the files of an archive share: X, if there are X.def
// and X/N.evt; "" for none.
func rootOf(files []string) string {
	for _, f := range files {
		if root := path.Dir(f); path.Ext(f) == ".evt" && slices.Contains(files, root+".def") {
			return root
		}
	}
	return ""
}

// archiveFiles are the files of one archive: X.otf2, X.def, X.marker and, in the
// directory X, N.def, N.evt and N.snap of location N.
type archiveFiles struct {
	anchor     string
	global     string
	marker     string
	events     map[uint64]string
	locals     map[uint64]string
	sizes      map[string]int64
	snapshots  int
	companions []string
}

// base is the name that all files of an archive begin with.
func base(anchor string) string { return strings.TrimSuffix(anchor, path.Ext(anchor)) }

// findFiles lists the files of an archive. If a user names the anchor alone,
// the source does not list the others, but they are next to it.
func findFiles(s importer.Source, anchor string) archiveFiles {
	a := archiveFiles{anchor: anchor, events: map[uint64]string{}, locals: map[uint64]string{},
		sizes: map[string]int64{}}
	root := base(anchor)
	for _, f := range s.Files {
		a.take(root, f.Path, f.Size)
	}
	if a.global == "" {
		a.look(s.FS, root)
	}
	return a
}

// take sorts one file of the source in, if it belongs to the archive.
func (a *archiveFiles) take(root, file string, size int64) {
	switch {
	case file == root+".def":
		a.global = file
	case file == root+".marker":
		a.marker = file
	case path.Dir(file) == root:
		ext := path.Ext(file)
		id, err := strconv.ParseUint(strings.TrimSuffix(path.Base(file), ext), 10, 64)
		switch {
		case err != nil:
			return
		case ext == ".evt":
			a.events[id] = file
		case ext == ".def":
			a.locals[id] = file
		case ext == ".snap":
			a.snapshots++
			a.companions = append(a.companions, file)
		default:
			return
		}
	case path.Dir(file) == path.Dir(root) && companion(path.Base(file)):
		a.companions = append(a.companions, file)
	case strings.HasPrefix(file, root+".") && path.Ext(file) == ".thumb":
		a.companions = append(a.companions, file)
	default:
		return
	}
	a.sizes[file] = size
}

// companion reports whether a file is one that Score-P leaves next to a trace.
func companion(name string) bool {
	switch name {
	case "scorep.cfg", "scorep.filter", "profile.cubex", "MANIFEST.md":
		return true
	}
	return strings.HasPrefix(name, "scorep.score")
}

// look searches the file system where the source lists the anchor alone.
func (a *archiveFiles) look(fsys fs.FS, root string) {
	for _, name := range []string{root + ".def", root + ".marker"} {
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			a.take(root, name, info.Size())
		}
	}
	entries, err := fs.ReadDir(fsys, root)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			a.take(root, path.Join(root, e.Name()), info.Size())
		}
	}
}

// all lists the files that are read: the anchor first, then by location.
func (a *archiveFiles) all() []string {
	list := []string{a.anchor}
	for _, f := range []string{a.global, a.marker} {
		if f != "" {
			list = append(list, f)
		}
	}
	for _, m := range []map[uint64]string{a.locals, a.events} {
		for _, id := range sortedKeys(m) {
			list = append(list, m[id])
		}
	}
	return slices.Clip(list)
}
