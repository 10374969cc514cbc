package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// Punch returns bytes [from, to) of a file to the file system, whole pages of it; they read as 0 from then on. If
// the file system cannot, they stay.
func Punch(f *os.File, from, to int64) {
	page := int64(os.Getpagesize())
	if from, to = (from+page-1)/page*page, to/page*page; from < to {
		_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
	}
}
