// Package disktest makes disks that are soon full.
package disktest

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// Small makes a directory the root of a disk of its own of that size. The test is skipped where that may not be done.
func Small(tb testing.TB, dir string, size string) {
	tb.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		tb.Skipf("a small disk cannot be made here: %v", err)
	}
	tb.Cleanup(func() {
		err := syscall.Unmount(dir, 0)
		for until := time.Now().Add(time.Minute); err == syscall.EBUSY && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond) // a process that was killed still ends
			err = syscall.Unmount(dir, 0)
		}
		if err != nil {
			tb.Error(err)
		}
	})
}

// Fill takes all room of a small disk with a file, which the caller removes.
func Fill(tb testing.TB, file string) {
	tb.Helper()
	f, err := os.Create(file)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		tb.Fatal(err)
	}
}
