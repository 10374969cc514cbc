package receive

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Shown is the newest part of the log as a file system: each file as far as it is on disk
// for good, so that reading it never meets a request half written.
type Shown struct {
	files []segment
	// State changes when there is something new in it.
	State State
}

// A State distinguishes two Shown.
type State struct {
	First string // file
	Last  string
	Size  int64 // of the last
}

// Shown returns the newest part of the log: requests of at most so long ago, and at most so many bytes, in whole
// files; at least the newest.
func (r *Receiver) Shown(last time.Duration, most int64) Shown {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	var out Shown
	var sum int64
	for _, s := range slices.Backward(l.files) {
		if s.size == 0 {
			continue
		}
		if sum += s.size; len(out.files) > 0 && (sum > most || time.Since(s.newest) > last) {
			break
		}
		out.files = append(out.files, *s)
	}
	slices.Reverse(out.files)
	if n := len(out.files); n > 0 {
		out.State = State{out.files[0].path, out.files[n-1].path, out.files[n-1].size}
	}
	return out
}

// Empty reports whether there is nothing to read.
func (s Shown) Empty() bool { return len(s.files) == 0 }

// Open implements fs.FS.
func (s Shown) Open(name string) (fs.File, error) {
	if name == "." {
		return &shownDir{shown: s}, nil
	}
	for i := range s.files {
		if filepath.Base(s.files[i].path) != name {
			continue
		}
		f, err := os.Open(s.files[i].path)
		if err != nil {
			return nil, err
		}
		return &shownFile{io.NewSectionReader(f, 0, s.files[i].size), f, s.files[i]}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type shownFile struct {
	*io.SectionReader
	file *os.File
	of   segment
}

func (f *shownFile) Stat() (fs.FileInfo, error) { return shownInfo{f.of}, nil }
func (f *shownFile) Close() error               { return f.file.Close() }

// shownInfo describes a file, and is its entry in the directory.
type shownInfo struct{ of segment }

func (i shownInfo) Name() string               { return filepath.Base(i.of.path) }
func (i shownInfo) Size() int64                { return i.of.size }
func (i shownInfo) Mode() fs.FileMode          { return 0o600 }
func (i shownInfo) Type() fs.FileMode          { return 0 }
func (i shownInfo) ModTime() time.Time         { return i.of.newest }
func (i shownInfo) IsDir() bool                { return false }
func (i shownInfo) Sys() any                   { return nil }
func (i shownInfo) Info() (fs.FileInfo, error) { return i, nil }

type shownDir struct {
	shown Shown
	at    int
}

func (d *shownDir) Stat() (fs.FileInfo, error) { return dirInfo{}, nil }
func (d *shownDir) Read([]byte) (int, error)   { return 0, io.EOF }
func (d *shownDir) Close() error               { return nil }

func (d *shownDir) ReadDir(n int) (out []fs.DirEntry, err error) {
	for ; d.at < len(d.shown.files) && (n <= 0 || len(out) < n); d.at++ {
		out = append(out, shownInfo{d.shown.files[d.at]})
	}
	if n > 0 && len(out) == 0 {
		err = io.EOF
	}
	return out, err
}

type dirInfo struct{ shownInfo }

func (dirInfo) Name() string       { return "." }
func (dirInfo) Size() int64        { return 0 }
func (dirInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o700 }
func (dirInfo) ModTime() time.Time { return time.Time{} }
func (dirInfo) IsDir() bool        { return true }
