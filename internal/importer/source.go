package importer

import (
	"io"
	"io/fs"
	"sync/atomic"
)

// A Source is a set of files with one root: a file, a directory, an archive.
// It is a small value that may be copied; copies share what was read.
type Source struct {
	FS    fs.FS
	Name  string // as the user gave it
	Files []File // all regular files below the root, sorted by path
	heads *headCache
}

// A File is one file of a source.
type File struct {
	Path string // slash-separated, relative to the root
	Size int64  // packed size in bytes
}

// Head gives up to the first 64 KiB of a file, unpacked where the file is gzip,
// zstd, xz or bzip2 whatever its name says. It is read once and kept.
func (s Source) Head(path string) []byte { return s.heads.get(s.FS, path) }

// Open opens a file of the run and unpacks it on the fly. Reading counts towards
// the run's progress in packed bytes.
func (r Run) Open(path string) (io.ReadCloser, error) { return openUnpacked(r, path) }

// OpenRaw opens a file as it is. Where the source is a directory the file is
// also an io.ReaderAt.
func (r Run) OpenRaw(path string) (fs.File, error) { return r.Source.FS.Open(path) }

// Label names a file of the run for messages: the source's name and the path inside.
func (r Run) Label(path string) string {
	if path == "" || path == "." {
		return r.Source.Name
	}
	return r.Source.Name + "/" + path
}

// Progress counts packed bytes as they are read, for a progress bar elsewhere.
type Progress struct {
	Total int64
	done  atomic.Int64
}

// Add counts n bytes as read; a nil Progress ignores it.
func (p *Progress) Add(n int64) {
	if p != nil {
		p.done.Add(n)
	}
}

// Done is the number of bytes read so far.
func (p *Progress) Done() int64 { return p.done.Load() }
