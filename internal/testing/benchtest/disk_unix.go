//go:build unix

package benchtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// OnDisk returns the disk space of a file or a directory; holes take nothing.
func OnDisk(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone by now
		}
		if info, err := d.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok && !d.IsDir() {
				n += s.Blocks * 512
			}
		}
		return nil
	})
	return n
}

// nameless returns the disk space of this process's open files that were in a directory and have no name any more,
// if the system lists them.
func nameless(dir string) (n int64) {
	const open = "/proc/self/fd"
	list, _ := os.ReadDir(open)
	for _, d := range list {
		path := filepath.Join(open, d.Name())
		name, err := os.Readlink(path)
		if err != nil || !strings.HasSuffix(name, " (deleted)") || !strings.HasPrefix(name, dir+"/") {
			continue
		}
		var s syscall.Stat_t
		if syscall.Stat(path, &s) == nil {
			n += s.Blocks * 512
		}
	}
	return n
}

// WatchDisk measures the disk space of a directory repeatedly, with nameless temporary files of this process. The
// function it returns ends that and returns the maximum.
func WatchDisk(dir string, every time.Duration) func() int64 {
	end, most := make(chan struct{}), make(chan int64)
	take := func() int64 { return nameless(dir) + OnDisk(dir) }
	go func() {
		var n int64
		for {
			n = max(n, take())
			select {
			case <-end:
				most <- max(n, take())
				return
			case <-time.After(every):
			}
		}
	}()
	return func() int64 { close(end); return <-most }
}
