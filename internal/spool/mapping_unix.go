//go:build unix

package spool

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func mapSystem(f *os.File, size int64, writable bool) (*Mapping, error) {
	access := unix.PROT_READ
	if writable {
		access |= unix.PROT_WRITE
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), access, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return &Mapping{Bytes: b, drop: func() error { return unix.Munmap(b) }}, nil
}

// Release tells the system that pages of a mapping will not be used soon, so
// that they do not count as this process's memory.
func (m *Mapping) Release(from, to int64) {
	page := int64(os.Getpagesize())
	from, to = (from+page-1)/page*page, to/page*page
	if m == nil || to > int64(len(m.Bytes)) || from >= to {
		return
	}
	_ = unix.Madvise(m.Bytes[from:to], unix.MADV_DONTNEED)
}

func reserve(size int64) (*Mapping, error) {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|reserveFlags)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", size, err)
	}
	adviseReserved(b)
	return &Mapping{Bytes: b, drop: func() error { return unix.Munmap(b) }}, nil
}
