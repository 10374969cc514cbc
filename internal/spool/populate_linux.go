package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// Ahead asks the system for the pages of a range that will be read, all at once: that takes a fraction of the time
// of one page fault after the other. On systems that cannot do so it does nothing.
func (m *Mapping) Ahead(from, to int64) {
	page := int64(os.Getpagesize())
	from, to = from/page*page, min((to+page-1)/page*page, int64(len(m.Bytes)))
	if from < to {
		_ = unix.Madvise(m.Bytes[from:to], unix.MADV_POPULATE_READ)
	}
}
