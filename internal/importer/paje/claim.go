package paje

import (
	"bytes"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// claim takes every file that begins with the definition of an event of Paje's.
// Files that another one names are part of its run.
func claim(s importer.Source) []importer.Run {
	known := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		known[f.Path] = true
	}
	var found []string
	parts := map[string][]string{}
	owner := map[string]string{} // the file that names a part
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if !isPaje(head) {
			continue
		}
		found = append(found, f.Path)
		for _, p := range partsIn(head) {
			p = path.Join(path.Dir(f.Path), p)
			if _, taken := owner[p]; known[p] && !taken && !within(owner, f.Path, p) {
				owner[p] = f.Path
				parts[f.Path] = append(parts[f.Path], p)
			}
		}
	}
	var runs []importer.Run
	for _, f := range found {
		if _, part := owner[f]; !part {
			runs = append(runs, importer.Run{Files: append([]string{f}, below(f, parts)...)})
		}
	}
	return runs
}

// within reports whether file is p or a part of it, however deep.
func within(owner map[string]string, file, p string) bool {
	for file != p {
		up, ok := owner[file]
		if !ok {
			return false
		}
		file = up
	}
	return true
}

// below lists the parts of a file, and their parts.
func below(file string, parts map[string][]string) (all []string) {
	for todo := parts[file]; len(todo) > 0; todo = todo[1:] {
		all = append(all, todo[0])
		todo = append(todo[:len(todo):len(todo)], parts[todo[0]]...)
	}
	return all
}

// isPaje reports whether the first line that is neither blank nor a comment begins
// a definition of one of Paje's events.
func isPaje(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if line[0] != '%' {
			return false
		}
		w, rest := nextWord(bytes.TrimLeft(line, "% \t"))
		name, _ := nextWord(rest)
		return string(w) == "EventDef" && bytes.HasPrefix(name, []byte("Paje"))
	}
	return false
}

// partsIn finds the files that the beginning of a trace names.
func partsIn(head []byte) (names []string) {
	if !bytes.Contains(head, []byte("ile")) { // Filename, FileName
		return nil
	}
	h := header{now: &layouts{}}
	var f fields
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if definitionAt(line) == 0 {
			h.line(line)
			continue
		}
		id, _, _ := word(line, 0)
		l := h.now.find(id)
		if l == nil || l.op != opTraceFile && l.op != opCreate {
			continue
		}
		f = fields{}
		f.cut(l, line)
		if name := string(f.of[fieldFilename]); name != "" {
			names = append(names, strings.TrimPrefix(strings.ReplaceAll(name, "\\", "/"), "./"))
		}
	}
	return names
}
