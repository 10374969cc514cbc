//go:build unix

package benchtest

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// OnDisk is what a file or a directory takes of the disk; holes take nothing.
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

// WatchDisk looks again and again what a directory takes; who calls the result ends that and learns the most.
func WatchDisk(dir string, every time.Duration) func() int64 {
	end, most := make(chan struct{}), make(chan int64)
	go func() {
		var n int64
		for {
			n = max(n, OnDisk(dir))
			select {
			case <-end:
				most <- max(n, OnDisk(dir))
				return
			case <-time.After(every):
			}
		}
	}()
	return func() int64 { close(end); return <-most }
}
