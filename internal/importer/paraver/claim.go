package paraver

import (
	"bytes"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// claim takes every file that begins as a Paraver trace does, with the names that lie
// next to it under the same name.
func claim(s importer.Source) []importer.Run {
	known := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		known[f.Path] = true
	}
	var runs []importer.Run
	for _, f := range s.Files {
		if !isBody(s.Head(f.Path)) {
			continue
		}
		r := importer.Run{Files: []string{f.Path}}
		for _, ending := range []string{".pcf", ".row"} {
			for _, packed := range []string{"", ".gz"} {
				if name := stem(f.Path) + ending + packed; known[name] {
					r.Files = append(r.Files, name)
					break
				}
			}
		}
		runs = append(runs, r)
	}
	return runs
}

func isBody(head []byte) bool { return bytes.HasPrefix(head, []byte("#Paraver (")) }

// stem is the name of a trace without its endings.
func stem(file string) string {
	file = strings.TrimSuffix(file, ".gz")
	return strings.TrimSuffix(file, path.Ext(file))
}

// companions returns the .pcf and .row of a run; where only the body was named, those
// that lie next to it.
func companions(run importer.Run) (pcf, row string) {
	for _, f := range run.Files {
		switch path.Ext(strings.TrimSuffix(f, ".gz")) {
		case ".pcf":
			pcf = f
		case ".row":
			row = f
		}
	}
	find := func(ending string) string {
		for _, name := range []string{stem(run.Files[0]) + ending, stem(run.Files[0]) + ending + ".gz"} {
			if f, err := run.OpenRaw(name); err == nil {
				f.Close()
				return name
			}
		}
		return ""
	}
	if pcf == "" {
		pcf = find(".pcf")
	}
	if row == "" {
		row = find(".row")
	}
	return pcf, row
}
