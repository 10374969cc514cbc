package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// StartWriting asks the system to begin to write part of a file to the disk, and
// does not wait: so that the sync at the end has little left to do.
func StartWriting(f *os.File, at, size int64) {
	_ = unix.SyncFileRange(int(f.Fd()), at, size, unix.SYNC_FILE_RANGE_WRITE)
}
