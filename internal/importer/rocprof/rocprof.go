// Package rocprof reads the output of AMD's rocprofv3 (rocprofiler-sdk): results as JSON
// (--output-format json), as an SQLite database (rocpd, its default) and as CSV, a file for each
// sort of record; and the results.csv of the first rocprof.
//
// The formats: the JSON file is an object `rocprofiler-sdk-tool` with one member a process:
// metadata, agents (CPUs and GPUs), strings (names of operations by kind), kernel_symbols, and
// buffer_records, a list for each kind of record. A rocpd database has the same as tables whose
// names end in an id of the process. Both name things by numbers that other parts define.
//
// Terms: host / process / threads for API calls and markers; process / GPU / queue for
// dispatches and copies, with the stream as an attribute. A dispatch is linked with the call of
// the same correlation id. Allocations and scratch memory are counters of bytes in use.
//
// Kept aside, and counted: samples of program counters, counters collected for dispatches, and
// records of kinds that are not known.
package rocprof

import (
	"bytes"
	"context"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the results of rocprofv3.
var Format = &importer.Format{Name: "rocprof", Title: "ROCm profiles (rocprofv3: JSON, rocpd, CSV; rocprof: CSV)",
	Claim: claim, Import: read}

// claim takes every file for itself. Processes of one job write a file each; without a word in
// them that says so they are runs of their own.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		if head := s.Head(f.Path); isResults(head) || isDatabase(head) {
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		}
	}
	return append(runs, claimCSV(s)...)
}

// isResults: the first member of the object is the tool's name.
func isResults(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"rocprofiler-sdk-tool"`))
}

// isDatabase: the schema of a database is text in its first pages.
func isDatabase(head []byte) bool {
	return bytes.HasPrefix(head, []byte(sqlitefile.Magic)) && bytes.Contains(head, []byte("rocpd_info_"))
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	head := run.Source.Head(run.Files[0])
	switch {
	case isDatabase(head):
		return readDatabase(ctx, run, run.Files[0], w)
	case sheetOf(head) != noSheet:
		return readCSV(ctx, run, w)
	}
	return readResults(ctx, run, run.Files[0], w)
}
