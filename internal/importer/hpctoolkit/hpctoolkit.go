// Package hpctoolkit reads databases of HPCToolkit: version 4 (meta.db, profile.db, trace.db) and
// the older experiment.xml with its metric-db files.
//
// The formats: FORMATS.md in every database of version 4 states each byte. meta.db holds the tree of
// calling contexts, metrics and names; profile.db holds, for each thread, values of metrics by
// context; trace.db holds, for each thread, which context a sample found it in. The older one has
// tree and names as XML and a table of values a thread.
//
// Terms: a thread's identifiers (node, rank, thread, GPU context, stream) are its path in the tree
// of locations. Functions and loops are regions of call paths; lines and instructions belong to the
// function or loop that holds them. A context's inclusive value is the one that HPCToolkit propagated
// over the whole execution; the exclusive value is the rest without the functions and loops below it.
// Traces are samples: they are on rows of their own, which count nowhere, and a context is shown until
// the next sample.
//
// Kept aside: statistics over threads, which follow from the threads (and cct.db, which holds
// the same values in another order). Metrics without values over the whole execution are counted.
package hpctoolkit

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is HPCToolkit's.
var Format = &importer.Format{Name: "hpctoolkit", Title: "HPCToolkit databases (v4, experiment.xml)", Claim: claim,
	Import: read}

// claim takes a database by its meta.db or experiment.xml, with the files next to it.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		head := s.Head(f.Path)
		v4 := bytes.HasPrefix(head, []byte(magic+"meta"))
		if !v4 && !isXML(head) {
			continue
		}
		dir := path.Dir(f.Path)
		run := importer.Run{Files: []string{f.Path}}
		if dir != "." {
			run.Name = path.Base(dir)
		}
		for _, other := range s.Files {
			switch ext := path.Ext(other.Path); {
			case other.Path == f.Path:
			case path.Dir(other.Path) != dir:
				if rest, ok := strings.CutPrefix(other.Path, strings.TrimPrefix(dir+"/", "./")); ok &&
					(strings.HasPrefix(rest, "metrics/") || strings.HasPrefix(rest, "src/")) {
					run.Companions = append(run.Companions, other.Path)
				}
			case v4 && ext == ".db" && bytes.HasPrefix(s.Head(other.Path), []byte(magic)):
				run.Files = append(run.Files, other.Path)
			case !v4 && ext == ".metric-db":
				run.Files = append(run.Files, other.Path)
			case path.Base(other.Path) == "FORMATS.md" || ext == ".mt":
				run.Companions = append(run.Companions, other.Path)
			}
		}
		slices.Sort(run.Files[1:])
		runs = append(runs, run)
	}
	return runs
}

func isXML(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 400)], []byte("<!DOCTYPE HPCToolkitExperiment")) ||
		bytes.Contains(head[:min(len(head), 400)], []byte("<HPCToolkitExperiment"))
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	if isXML(run.Source.Head(run.Files[0])) {
		return readXML(ctx, run, w)
	}
	return readDatabase(ctx, run, w)
}
