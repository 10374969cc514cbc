package spool

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapSystem(f *os.File, size int64, writable bool) (*Mapping, error) {
	protect, access := uint32(windows.PAGE_READONLY), uint32(windows.FILE_MAP_READ)
	if writable {
		protect, access = windows.PAGE_READWRITE, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE
	}
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, protect, uint32(size>>32), uint32(size), nil)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	defer windows.CloseHandle(h)
	address, err := windows.MapViewOfFile(h, access, 0, 0, uintptr(size))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	// The address comes from the system, not from Go's heap: read it as a pointer.
	b := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size)
	return &Mapping{Bytes: b, drop: func() error { return windows.UnmapViewOfFile(address) }}, nil
}

func (m *Mapping) Release(from, to int64) {}

func reserve(size int64) (*Mapping, error) {
	address,
		err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes: %w", size, err)
	}
	b := unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size)
	return &Mapping{Bytes: b, drop: func() error { return windows.VirtualFree(address, 0, windows.MEM_RELEASE) }}, nil
}
