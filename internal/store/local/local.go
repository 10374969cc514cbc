// Package local keeps a trace in a directory of columns on the local disk.
//
// A store is a directory, RUN.plx: one file for each column, a raw little-endian
// array that is mapped into memory and read in place, and a manifest.json with the
// size and checksum of each. The tables are declared once, in schema.go.
//
//	Create ── records ──▶ temporary files, bounded memory
//	Finish ──▶ rows ──▶ indices and summaries ──▶ links ──▶ manifest, rename
//	Open   ──▶ maps; answers come from indices, never from a scan of everything
//
// Files are named for the stage they belong to, and one leads each family:
//
//	write.go   Each stream packs its records into small chunks, which go to one
//	           shared file, chained backwards.
//	finish.go  Finish replays them through trace.Builder, location by location on
//	           all cores, straight to the rows' final places.
//	index.go   A second pass derives everything else from the rows: prefix sums, the
//	           forest, groups. It is also what rebuilds an outdated summary.
//	read.go    Open and the queries.
//	schema.go  Every table and column. file_*.go: how files are written and mapped.
//
// Why raw columns and not a container format: rows are patched in place while
// they are written (an interval's duration is known only when it ends), a section
// is a file and can be replaced alone, and any language maps a column in a line.
package local

import (
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var (
	_ trace.Writer = (*Writer)(nil)
	_ store.Reader = (*Reader)(nil)
)

// Options say how a store is written.
type Options struct {
	// Memory is the budget for buffers, in bytes; 0 for 256 MiB. Definitions
	// (locations, regions, call paths) come on top.
	Memory int64
	// Summaries are kept in the forest.
	Summaries []trace.Summary
	// Digests are kept for each lane.
	Digests []trace.Digest
	// Sources and Format are kept as they are, for Info.
	Sources []string
	Format  string
	// Workers is how many goroutines Finish uses; 0 for one a core.
	Workers int
}

const (
	defaultMemory = 256 << 20
	minMemory     = 1 << 16
)

func (o Options) withDefaults() Options {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.Memory = max(o.Memory, minMemory)
	if o.Workers <= 0 {
		o.Workers = parallel.Workers()
	}
	return o
}

const manifestName = "manifest.json"

func manifestPath(dir string) string { return filepath.Join(dir, manifestName) }
