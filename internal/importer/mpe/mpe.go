// Package mpe reads the logs of MPE, the logging library of MPICH: CLOG, CLOG-2 and SLOG-2.
//
// The formats: a CLOG file is blocks of 64 KiB, a CLOG-2 file a text preamble of 1 KiB and blocks of a size stated
// there. A block is records until an end mark: a time in seconds, a process and thread, a type, and the fields of the
// type. States are defined by their two event numbers, often only at the end of the log, so it is read twice. A
// SLOG-2 file is the input of Jumpshot: a tree of time intervals whose nodes hold drawables (states, arrows, events),
// found through a directory at the end; a table of categories names them, a table of lines gives their rows. Numbers
// are big-endian, in CLOG-2 as the preamble says. Described by the source of MPE: logging/include/clog_*.h and
// slog2sdk/src/{base,logformat}.
//
// Terms: a rank of MPI_COMM_WORLD is a process, threads are below it where there are any. A state is an interval,
// found as MPE does: its end closes the last begin of the same state. Solo events are instants, sends and receives
// (or arrows) are messages. Values packed into an event by a format are attributes.
//
// Kept aside, and counted: records of collectives and places in the source, which are MPE's own; values given at the
// end of a state; previews of SLOG-2, which sum up the nodes below them.
package mpe

import (
	"bytes"
	"context"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is logs of MPE.
var Format = &importer.Format{Name: "mpe", Title: "MPE logs (CLOG, CLOG-2, SLOG-2)", Claim: claim, Import: read}

// claim takes every log. A SLOG-2 file that lies next to the log of its name was made of it: it is a companion.
func claim(s importer.Source) (runs []importer.Run) {
	logs := map[string]int{}
	var converted []string
	for _, f := range s.Files {
		head := s.Head(f.Path)
		switch {
		case isCLOG2(head), isCLOG(head):
			logs[stem(f.Path)] = len(runs)
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		case isSLOG2(head):
			converted = append(converted, f.Path)
		}
	}
	for _, file := range converted {
		if i, ok := logs[stem(file)]; ok {
			runs[i].Companions = append(runs[i].Companions, file)
		} else {
			runs = append(runs, importer.Run{Files: []string{file}})
		}
	}
	return runs
}

// stem is a path without its endings.
func stem(file string) string {
	dir, name := path.Split(file)
	name, _, _ = strings.Cut(name, ".")
	return dir + name
}

func isCLOG2(head []byte) bool { return bytes.HasPrefix(head, []byte("CLOG-0")) }

func isSLOG2(head []byte) bool { return len(head) > 8 && string(head[2:8]) == "SLOG 2" }

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	trace.SortRegions(w)
	for _, file := range run.Companions {
		w.Report(trace.Redundant, "SLOG-2 files beside the logs that they were made of", 1, run.Label(file))
	}
	file := run.Files[0]
	if isSLOG2(run.Source.Head(file)) {
		return readSLOG2(ctx, run, file, w)
	}
	return readCLOG(ctx, run, file, w)
}
