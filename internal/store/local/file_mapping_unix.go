//go:build unix

package local

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func mapSystem(f *os.File, size int64, writable bool) (*mapping, error) {
	access := unix.PROT_READ
	if writable {
		access |= unix.PROT_WRITE
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), access, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return &mapping{bytes: b, drop: func() error { return unix.Munmap(b) }}, nil
}

// release tells the system that pages of a mapping will not be used soon, so
// that they do not count as this process's memory.
func (m *mapping) release(from, to int64) {
	page := int64(os.Getpagesize())
	from, to = (from+page-1)/page*page, to/page*page
	if m == nil || to > int64(len(m.bytes)) || from >= to {
		return
	}
	_ = unix.Madvise(m.bytes[from:to], unix.MADV_DONTNEED)
}
