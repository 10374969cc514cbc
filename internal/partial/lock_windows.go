package partial

import (
	"os"

	"golang.org/x/sys/windows"
)

// TryLock takes a lock that ends with the file, or with the process.
func TryLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
}
