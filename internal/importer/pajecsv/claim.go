package pajecsv

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A kind is the content of a file.
type kind uint8

const (
	other    kind = iota
	dump          // lines of pj_dump, without a header
	records       // a table of such lines, with a header
	entities      // containers and their content
	tasks         // StarPU's record of its tasks
	graph         // edges between tasks
)

// sniff returns the kind of a file by its first line.
func sniff(head []byte) kind {
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !whole && len(head) >= 1<<10 {
		return other
	}
	fields := split(string(bytes.TrimRight(line, "\r")), nil)
	has := func(names ...string) bool {
		for _, n := range names {
			if !slices.Contains(fields, n) {
				return false
			}
		}
		return true
	}
	switch {
	case len(fields) < 2:
		return other
	case fields[0] == "Nature" && has("Type", "Start") && (has("ResourceId") || has("Container")):
		return records
	case fields[0] == "Parent" && has("Name", "Type", "Nature"):
		return entities
	case has("JobId", "Dependent"):
		return graph
	case has("JobId", "SubmitOrder", "SubmitTime"):
		return tasks
	case isDump(fields):
		return dump
	}
	return other
}

// isDump recognises a line of pj_dump by its first word and its numbers.
func isDump(fields []string) bool {
	layout, ok := dumped[fields[0]]
	if !ok || len(fields) < len(layout) {
		return false
	}
	for i, name := range layout {
		switch name {
		case "Start", "End", "Duration", "Depth":
			if _, ok := parseTime(fields[i], 9); !ok {
				return false
			}
		}
	}
	return true
}

// claim takes the tables of a directory as one run, if some hold records, and each
// dump as its own.
func claim(s importer.Source) []importer.Run {
	var runs []importer.Run
	tables := map[string][]string{}
	whole := map[string]bool{}
	for _, f := range s.Files {
		switch k := sniff(s.Head(f.Path)); k {
		case other:
		case dump:
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		default:
			dir := path.Dir(f.Path)
			tables[dir] = append(tables[dir], f.Path)
			whole[dir] = whole[dir] || k == records
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(tables)) {
		if !whole[dir] {
			continue
		}
		r := importer.Run{Files: tables[dir]}
		if dir != "." {
			r.Name = path.Base(dir)
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b importer.Run) int { return strings.Compare(a.Files[0], b.Files[0]) })
	return runs
}
