package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// Ahead asks the system for the pages of a stretch that will be read, all at once:
// that takes a fraction of what they cost one fault after the other. Older systems
// do not know how, and nothing is lost.
func (m *Mapping) Ahead(from, to int64) {
	page := int64(os.Getpagesize())
	from, to = from/page*page, min((to+page-1)/page*page, int64(len(m.Bytes)))
	if from < to {
		_ = unix.Madvise(m.Bytes[from:to], unix.MADV_POPULATE_READ)
	}
}
