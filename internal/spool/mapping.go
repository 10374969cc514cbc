package spool

import (
	"errors"
	"fmt"
	"os"
)

// A Mapping is a file in memory. Its bytes stay valid until close.
type Mapping struct {
	Bytes []byte
	drop  func() error
}

// MapFile maps size bytes of a file, for reading. The length is checked first:
// touching a page past the end of a file would end the process.
func MapFile(path string, size int64) (*Mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, fmt.Errorf("%s has %d bytes, want %d", path, info.Size(), size)
	}
	return MapOpen(f, size, false)
}

// MapOpen maps an open file; the file may be closed afterwards.
func MapOpen(f *os.File, size int64, writable bool) (*Mapping, error) {
	if size == 0 {
		return &Mapping{}, nil
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%s: too large for this machine", f.Name())
	}
	return mapSystem(f, size, writable)
}

func (m *Mapping) Close() error {
	if m == nil || m.drop == nil {
		return nil
	}
	err := m.drop()
	m.Bytes, m.drop = nil, nil
	return err
}

// MapWhole maps a file of any length; one that does not exist is empty.
func MapWhole(path string) (*Mapping, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Mapping{}, nil
	}
	if err != nil {
		return nil, err
	}
	return MapFile(path, info.Size())
}

// Reserve returns so many bytes of memory, all 0. They take space only once they are written, and return it on
// Release, which may clear them.
func Reserve(size int64) (*Mapping, error) {
	if size == 0 {
		return &Mapping{}, nil
	}
	if size < 0 || int64(int(size)) != size {
		return nil, fmt.Errorf("%d bytes are too many for this machine", size)
	}
	return reserve(size)
}
