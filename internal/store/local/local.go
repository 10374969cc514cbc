// Package local keeps a trace in a directory of columns on the local disk.
//
// A store is a directory, RUN.plx: one file for each column, a raw little-endian
// array that is mapped into memory and read in place, and a manifest.json with the
// size and checksum of each. This package is the interface; the packages behind it
// are, in the order of the data:
//
//	write   takes a trace: each stream packs its records into small chunks, which go
//	        to one shared temporary file, in bounded memory.
//	finish  replays them through trace.Builder, location by location on all cores,
//	        straight to the rows' final places; then links, profiles, the manifest.
//	index   derives from the rows the tables that answer queries without them: prefix
//	        sums, the summary tree, groups, digests. It also rebuilds an outdated summary.
//	read    opens a store and answers; never by a scan of everything.
//	rows    the mapped tables, lane by lane, which index, finish and read share.
//	rename  writes a store again with other names.
//	disk    the bytes: every table and column, declared once, the manifest, files.
//
// Columns are raw, not in a container format, for three reasons. Rows are patched in place while they are written (an
// interval's duration is known only when it ends). A section is a file and can be replaced alone. Any language maps a
// column in a line.
package local

import (
	"context"
	"time"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/finish"
	"github.com/parallax-hpc/parallax/internal/store/local/read"
	"github.com/parallax-hpc/parallax/internal/store/local/rename"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

var (
	_ trace.Writer = (*Writer)(nil)
	_ store.Reader = (*Reader)(nil)
)

type (
	// Options say how a store is written.
	Options = write.Options
	// A Reader answers for one store.
	Reader = read.Reader
	// A Remote holds the files of a store as blocks.
	Remote = disk.Remote
	// A Piece is a block of a file, and where it goes.
	Piece = disk.Piece
	// A SourceFile is a file of a source.
	SourceFile = disk.SourceFile
	// A Told is what a part of a run told for its end.
	Told = write.Told
	// A MissingParts is a run of which parts are still to come.
	MissingParts = disk.MissingParts
	// A VersionError is a store of another version.
	VersionError = disk.VersionError
)

// ErrDamaged reports a store whose bytes are not as written.
var ErrDamaged = disk.ErrDamaged

// A Writer writes a store. Create makes one; Finish or Abort ends it.
type Writer struct{ *write.Writer }

// Create starts a store that will be at path. Its files are next to it under a temporary name until Finish. A store
// already at path is replaced then; anything else there is refused.
func Create(path string, o Options) (*Writer, error) {
	w, err := write.Create(path, o)
	if err != nil {
		return nil, err
	}
	return &Writer{w}, nil
}

// Finish ends the trace and puts the store at its path. After an error nothing is
// left on the disk.
func (w *Writer) Finish(ctx context.Context) error {
	if w.Opt.Shared {
		return finish.Record(ctx, w.Writer)
	}
	return finish.Run(ctx, w.Writer)
}

// Join makes a store of the parts in a directory, see Options.Parts. A part that is still to come is a MissingParts.
// It returns false if another process has made the store.
func Join(ctx context.Context, dir string, o Options) (mine bool, err error) {
	return finish.Join(ctx, dir, o)
}

// HasParts reports whether a directory holds parts of a run that are not joined.
func HasParts(dir string) bool { return disk.HasParts(dir) }

// PartName returns the directory of a part.
func PartName(part int) string { return disk.PartName(part) }

// Open opens the store at path. Summaries and digests that the store does not hold,
// or holds in another version, are built from its intervals, and saved with it
// where the directory can be written.
//
// If the directory holds the parts of a run, they are joined first.
func Open(path string, summaries []trace.Summary, digests ...trace.Digest) (*Reader, error) {
	if disk.HasParts(path) {
		if _, err := Join(context.Background(), path, Options{Summaries: summaries, Digests: digests}); err != nil {
			return nil, err
		}
	}
	return read.Open(path, summaries, digests...)
}

// OpenFrom opens a remote store, whose files are blocks, by its manifest; timeout is that of one request. Missing
// sections are built from its intervals and live as long as the Reader.
func OpenFrom(from Remote, manifest []byte, timeout time.Duration, summaries []trace.Summary,
	digests ...trace.Digest) (*Reader, error) {
	return read.OpenFrom(from, manifest, timeout, summaries, digests...)
}

// A File is one of a store, cut into the blocks that have a checksum each.
type File struct {
	Name                    string
	Size, BlockSize, Blocks int64
}

// FilesOf lists the files that a manifest names.
func FilesOf(manifest []byte) ([]File, error) {
	m, err := disk.ParseManifest(manifest)
	if err != nil {
		return nil, err
	}
	out := make([]File, len(m.Files))
	for i, e := range m.Files {
		size := e.Size
		if e.Blocks != "" {
			size = disk.BlockSizeOf(e.Size)
		}
		out[i] = File{Name: e.Name, Size: e.Size, BlockSize: size, Blocks: (e.Size + max(size, 1) - 1) / max(size, 1)}
	}
	return out, nil
}

// Rename writes the open store at from to another path with its definitions passed through a writer that changes
// names; rows are copied as they are. The new store names source as its source.
func Rename(ctx context.Context, r *Reader, from, to, source string, through func(trace.Writer) trace.Writer) error {
	return rename.Run(ctx, r, from, to, source, through)
}

// RemoveStale removes the leftovers of dead writers from a directory, and returns how many there were.
func RemoveStale(dir string) int { return partial.RemoveStale(dir) }

// An Examination reports which parts of a store are as written.
type Examination = read.Examination

// Examine reads every file of a store and reports damage, and the queries that can still be answered.
func Examine(ctx context.Context, path string) (*Examination, error) {
	return read.Examine(ctx, path)
}
