package importer

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
)

// openArchive opens a zip or a tar, plain or packed, as a source. It says false
// for any other file, and for a tar that is itself the file of a format.
func openArchive(name string, size int64) (Source, bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return Source{}, false, openError(name, err)
	}
	s, ok, err := archiveOf(f, name, size)
	if !ok || err != nil {
		f.Close()
		return Source{}, false, err
	}
	return s, true, nil
}

func archiveOf(f *os.File, name string, size int64) (Source, bool, error) {
	begin := make([]byte, tarBlock)
	n, _ := f.ReadAt(begin, 0)
	begin = begin[:n]
	switch {
	case strings.HasPrefix(string(begin), "PK\x03\x04"):
		return zipSource(f, name, size)
	case isTar(begin):
		return tarSource(f, name, size)
	}
	if p := packingOf(begin); p != nil && p.open != nil {
		return packedTarSource(f, name, size)
	}
	return Source{}, false, nil
}

// deepestArchive bounds how many archives are opened one within the other.
const deepestArchive = 3

// inner opens the one archive that another holds, as downloads of build artifacts do, at most size bytes times
// mostRatio long; any other source stays.
func (s Source) inner(size int64, depth int) (Source, error) {
	if len(s.Files) != 1 || depth == 0 {
		return s, nil
	}
	head := s.Head(s.Files[0].Path)
	if !strings.HasPrefix(string(head), "PK\x03\x04") && !isTar(head) {
		return s, nil
	}
	dir, err := os.MkdirTemp("", "parallax-unpacked-*")
	if err != nil {
		return s, fmt.Errorf("unpack %s: %w", s.Name, err)
	}
	file := filepath.Join(dir, "inner")
	var in Source
	ok := false
	f, err := s.FS.Open(s.Files[0].Path)
	if err == nil {
		_, err = writeMember(f, file, max(leastLimit, mostRatio*size))
		f.Close()
	}
	if err == nil {
		in, ok, err = openArchive(file, s.Files[0].Size)
	}
	if err != nil || !ok { // the file of a format, such as a Cube profile, or damaged
		os.RemoveAll(dir)
		return s, nil
	}
	in.Name, in.root = s.Name, s.Name
	in.Skipped = append(in.Skipped, s.Skipped...)
	in.close = append(append(in.close, s.close...), func() error { return os.RemoveAll(dir) })
	return in.inner(size, depth-1)
}

// --- zip

func zipSource(f readAtCloser, name string, size int64) (Source, bool, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return Source{}, false,
			&Error{File: name, Cause: "zip archive: " + err.Error(), Hint: "copy it again", Kind: ErrMalformed}
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	files := zipFS{}
	s := Source{FS: files, Name: name, root: name, close: []func() error{f.Close}}
	for _, e := range z.File {
		path := memberName(strings.ReplaceAll(e.Name, "\\", "/")) // as Windows writes them
		switch {
		case path == "" || strings.HasSuffix(e.Name, "/") || strings.HasSuffix(e.Name, "\\"): // a folder
		case hidden(path):
			s.Skipped = append(s.Skipped, Skip{e.Name, hiddenFile})
		case !e.Mode().IsRegular():
			s.Skipped = append(s.Skipped, Skip{e.Name, "not a regular file"})
		case e.Flags&1 != 0:
			s.Skipped = append(s.Skipped, Skip{e.Name, "encrypted"})
		case files[path] != nil:
			s.Skipped = append(s.Skipped, Skip{e.Name, sameName})
		default:
			files[path] = e
			s.Files = append(s.Files, File{path, int64(e.UncompressedSize64)})
		}
	}
	return s.ready(), true, nil
}

// sameName is why a member is left alone whose place another one has taken.
const sameName = "an entry of the same name comes before it"

// zipFS is a zip as a file system of its regular files, by names that are made whole:
// archive/zip opens none that begins with a slash or has one twice.
type zipFS map[string]*zip.File

func (z zipFS) Open(name string) (fs.File, error) {
	e := z[name]
	if e == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := e.Open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &zipFile{r, e.FileInfo()}, nil
}

// zipFile is one open member.
type zipFile struct {
	io.ReadCloser
	info fs.FileInfo
}

func (f *zipFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// --- tar

const tarBlock = 512

// isTar looks for the word that POSIX and GNU tar write into every header.
func isTar(begin []byte) bool {
	return len(begin) >= tarBlock && string(begin[257:262]) == "ustar"
}

// tarSource indexes a plain tar by offsets: nothing is copied. A tar that cannot
// be indexed, or that is a Cube profile, is left to the formats as a file.
func tarSource(f readAtCloser, name string, size int64) (Source, bool, error) {
	t, skipped, err := indexTar(f, size)
	if err != nil && len(t.members) == 0 {
		return Source{}, false, nil
	}
	if _, cube := t.members["anchor.xml"]; cube {
		return Source{}, false, nil
	}
	if err != nil {
		skipped = append(skipped, Skip{".", "the archive ends early: " + err.Error()})
	}
	s := Source{FS: t, Name: name, root: name, Skipped: skipped, close: []func() error{f.Close}}
	for p, m := range t.members {
		s.Files = append(s.Files, File{p, m.size})
	}
	return s.ready(), true, nil
}

// linkInTar is why a symbolic link of a tar is left alone: what it points to may be outside.
const linkInTar = "a link; `tar -h` packs the file itself"

// tarFS is a plain tar as a file system of its regular files.
type tarFS struct {
	r       io.ReaderAt
	members map[string]tarMember
}

type tarMember struct {
	offset, size int64
	modified     time.Time
}

func indexTar(r io.ReaderAt, size int64) (tarFS, []Skip, error) {
	t := tarFS{r, map[string]tarMember{}}
	var skipped []Skip
	at := io.NewSectionReader(r, 0, size)
	for tr := tar.NewReader(at); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return t, skipped, nil
		}
		if err != nil {
			return t, skipped, err
		}
		name := memberName(h.Name)
		switch {
		case h.Typeflag == tar.TypeDir || name == "":
		case hidden(name):
			skipped = append(skipped, Skip{name, hiddenFile})
		case h.Typeflag == tar.TypeSymlink:
			skipped = append(skipped, Skip{name, linkInTar})
		case !plainMember(h):
			skipped = append(skipped, Skip{name, "not a regular file"})
		default:
			// The tar reader reads whole headers and no further, so it is at the member's data.
			offset, _ := at.Seek(0, io.SeekCurrent)
			if offset+h.Size > size {
				return t, append(skipped, Skip{name, "cut off"}), io.ErrUnexpectedEOF
			}
			if _, taken := t.members[name]; taken { // tar appends newer members
				skipped = append(skipped, Skip{name, "an entry of the same name comes after it"})
			}
			t.members[name] = tarMember{offset, h.Size, h.ModTime}
		}
	}
}

// plainMember reports whether a member's bytes are in the archive in one piece.
func plainMember(h *tar.Header) bool {
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return false
		}
	}
	return h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeRegA //nolint:staticcheck // old archives
}

// memberName makes a member's name a path below the root, whatever it says.
func memberName(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

func (t tarFS) Open(name string) (fs.File, error) {
	m, ok := t.members[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &tarFile{io.NewSectionReader(t.r, m.offset, m.size), name, m}, nil
}

// tarFile is one open member; it can also be read at random.
type tarFile struct {
	*io.SectionReader
	name string
	tarMember
}

func (f *tarFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *tarFile) Close() error               { return nil }
func (f *tarFile) Name() string               { return path.Base(f.name) }
func (f *tarFile) Size() int64                { return f.size }
func (f *tarFile) Mode() fs.FileMode          { return 0o444 }
func (f *tarFile) ModTime() time.Time         { return f.modified }
func (f *tarFile) IsDir() bool                { return false }
func (f *tarFile) Sys() any                   { return nil }

// --- packed tar

const (
	// A packed tar is unpacked to at most mostRatio times its size, or leastLimit
	// where that is more: traces shrink to a tenth or a fiftieth, bombs to a thousandth.
	mostRatio   = 200
	leastLimit  = 1 << 30
	mostMembers = 1 << 20
)

// packedTarSource unpacks a packed tar into a temporary directory that Close
// removes, since its members are read many at a time and in any order.
func packedTarSource(f *os.File, name string, size int64) (Source, bool, error) {
	u, closer, err := unpack(f, math.MaxInt64)
	if err != nil {
		return Source{}, false, nil // not a sound archive; a format may say more
	}
	defer closer()
	begin := make([]byte, tarBlock)
	n, _ := io.ReadFull(u, begin)
	if !isTar(begin[:n]) {
		return Source{}, false, nil
	}
	dir, err := os.MkdirTemp("", "parallax-unpacked-*")
	if err != nil {
		return Source{}, false, fmt.Errorf("unpack %s: %w", name, err)
	}
	limit := max(leastLimit, mostRatio*size)
	skipped, err := unpackTar(io.MultiReader(strings.NewReader(string(begin)), u), dir, limit)
	if err == nil {
		var s Source
		if s, err = directory(dir); err == nil {
			f.Close()
			s.Name, s.root = name, name
			s.Skipped = append(s.Skipped, skipped...)
			s.close = []func() error{func() error { return os.RemoveAll(dir) }}
			return s, true, nil
		}
	}
	os.RemoveAll(dir)
	return Source{}, false,
		&Error{File: name, Cause: "unpack: " + err.Error(), Hint: "unpack it yourself and name the directory",
			Kind: ErrMalformed}
}

// unpackTar writes the regular members below dir, limit bytes at most. If an
// archive ends early, the members before the end are unpacked.
func unpackTar(r io.Reader, dir string, limit int64) ([]Skip, error) {
	var skipped []Skip
	members := 0
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			if members == 0 {
				return nil, err
			}
			return append(skipped, Skip{".", "the archive ends early: " + err.Error()}), nil
		}
		name := memberName(h.Name)
		if h.Typeflag == tar.TypeDir || name == "" {
			continue
		}
		if !plainMember(h) {
			why := "not a regular file"
			if h.Typeflag == tar.TypeSymlink {
				why = linkInTar
			}
			skipped = append(skipped, Skip{name, why})
			continue
		}
		if members++; members > mostMembers {
			return nil, fmt.Errorf("more than %d files", mostMembers)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			skipped = append(skipped, Skip{name, "an entry of the same name comes after it"})
		}
		n, err := writeMember(tr, filepath.Join(dir, filepath.FromSlash(name)), limit)
		limit -= n
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return append(skipped, Skip{name, "cut off: the archive ends early"}), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func writeMember(r io.Reader, file string, limit int64) (int64, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(r, limit+1))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil && n > limit {
		err = fmt.Errorf("more than %d times its packed size", mostRatio)
	}
	return n, err
}
