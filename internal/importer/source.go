package importer

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"sync/atomic"
)

// A Source is a set of files with one root: a file, a directory, an archive, or
// several of these. It is a small value that may be copied; copies share the
// data read. NewSource and NewSourceFS make one.
type Source struct {
	FS    fs.FS
	Name  string // as the user gave it
	Files []File // all regular files below the root, sorted by path
	// Skipped are entries below the root that are not files to read: devices,
	// links in a circle, folders without permission, hidden files.
	Skipped []Skip

	root  string // prefix of the labels of files
	alone bool   // the source is one plain file, whose label is Name
	heads *headCache
	at    *atomic.Int64 // number of the file whose head a claim asked for last
	close []func() error
}

// A File is one file of a source.
type File struct {
	Path string // slash-separated, relative to the root
	Size int64  // bytes that reading it from FS gives: packed, where it is packed
}

// A Skip is an entry of a source that is left alone, and why.
type Skip struct {
	Path string
	Why  string
}

// Head returns up to the first 64 KiB of a file, unpacked where the file is gzip,
// zstd or bzip2 whatever its name says; nil if it cannot be read. It is read
// once and kept. In sources of more than 2,048 files heads are shorter, at least
// 1 KiB, so that all together stay within 128 MiB.
func (s Source) Head(path string) []byte {
	data, _ := s.heads.get(s.FS, path, s.at)
	return data
}

// Read opens a file of the source and unpacks it, for a claim that must look past the
// head. The caller bounds the bytes it reads.
func (s Source) Read(path string) (io.ReadCloser, error) {
	f, err := s.FS.Open(path)
	if err != nil {
		return nil, err
	}
	r, closer, err := unpack(f, lengthOf(f))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &unpackedFile{r, f, closer}, nil
}

// unpackedFile closes both the unpacker and the packed file.
type unpackedFile struct {
	io.Reader
	file   io.Closer
	closer func()
}

func (u *unpackedFile) Close() error {
	u.closer()
	return u.file.Close()
}

// Size is the number of bytes in all files.
func (s Source) Size() int64 {
	var n int64
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Label names a file of the source for messages, as the user would find it.
func (s Source) Label(file string) string {
	switch {
	case file == "" || file == "." || s.alone:
		return s.Name
	case s.root == "":
		return file
	}
	return path.Join(s.root, file)
}

// Close ends the use of a source: archives are closed, and files unpacked into a temporary directory are removed.
func (s Source) Close() error {
	var errs []error
	for _, f := range s.close {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// Open opens a file of the run and unpacks it on the fly, ahead of the reader on
// a goroutine of its own; Close ends that. Reading counts towards the run's
// progress in packed bytes. If packed data is damaged, all that could be
// unpacked is read before the error, which is an *Error.
func (r Run) Open(path string) (io.ReadCloser, error) { return openUnpacked(r, path) }

// OpenRaw opens a file as it is. If the source is a directory or a plain tar,
// the file is also an io.ReaderAt.
func (r Run) OpenRaw(path string) (fs.File, error) {
	f, err := r.Source.FS.Open(path)
	if err != nil {
		return nil, openError(r.Label(path), err)
	}
	return f, nil
}

// Label names a file of the run for messages.
func (r Run) Label(path string) string { return r.Source.Label(path) }

// Size is the number of packed bytes in the files that Import reads.
func (r Run) Size() int64 {
	sizes := make(map[string]int64, len(r.Source.Files))
	for _, f := range r.Source.Files {
		sizes[f.Path] = f.Size
	}
	var n int64
	for _, f := range r.Files {
		n += sizes[f]
	}
	return n
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
