//go:build unix && !aix && !solaris

package partial

import (
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes a lock that ends with the file, or with the process.
func TryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
