//go:build unix && !aix && !solaris

package local

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes a lock that ends with the file, or with the process.
func tryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
