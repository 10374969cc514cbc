// Package partial looks after directories that are not whole yet: stores, exports and lakes while they are written.
// They are locked, made durable, and removed by the next writer if theirs was killed.
package partial

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A directory has a temporary name until it is whole. A program that is killed leaves it behind; a later writer next
// to it removes it. Each such directory holds a file that its writer keeps locked: the system releases the lock when
// the process ends, for any reason.
const (
	PartMark = ".part-"
	TempName = "temporary" // within, for files that are removed when the directory is whole
	LockName = "lock"
	// unlockedAge is how old a directory without a lock must be to be given up:
	// its writer may be about to make one, or to give the directory its name.
	unlockedAge = 24 * time.Hour
)

// RemoveStale removes the leftovers of killed writers from a directory, and returns their number. Files of running
// programs stay, as do any whose names are not ours.
func RemoveStale(dir string) int {
	ours := func(name string) bool { return strings.HasPrefix(name, ".") && strings.Contains(name, PartMark) }
	return RemoveStaleIn(dir, ours, TempName)
}

// RemoveStaleIn removes directories by their names; within is where their locks lie.
func RemoveStaleIn(dir string, ours func(name string) bool, within string) int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	removed := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && ours(e.Name()) && stale(path, within) && os.RemoveAll(path) == nil {
			removed++
		}
	}
	return removed
}

// stale reports whether a directory has no writer any more.
func stale(dir, within string) bool {
	path := filepath.Join(dir, within, LockName)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		defer f.Close()
		return TryLock(f) == nil && isAt(f, path)
	}
	info, err := os.Stat(dir)
	return err == nil && time.Since(info.ModTime()) > unlockedAge
}

// isAt reports whether a file still has its name: its writer may have given up the lock since it was opened.
func isAt(f *os.File, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(held, named)
}

// A Lock marks a directory as being written.
type Lock struct {
	file *os.File
	path string
}

// LockDir marks a directory as being written until the lock is closed. The file gets its name only when it is locked:
// else a process that looks for leftovers could lock it first.
func LockDir(dir string) (*Lock, error) {
	path := filepath.Join(dir, LockName)
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	_ = TryLock(f) // a file system without locks: the age decides
	if os.Rename(f.Name(), path) == nil {
		return &Lock{f, path}, nil
	}
	// Some systems cannot rename open files.
	f.Close()
	_ = os.Remove(f.Name())
	if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	_ = TryLock(f)
	return &Lock{f, path}, nil
}

// Close gives up the lock. Its file is removed before that: else a process that looks for leftovers could lock it, and
// remove a directory that is about to get its name. Systems that cannot remove open files leave it there.
func (l *Lock) Close() error {
	if l == nil {
		return nil
	}
	_ = os.Remove(l.path)
	return l.file.Close()
}
