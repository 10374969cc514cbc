package local

import (
	"errors"
	"fmt"
	"os"
)

// A mapping is a file in memory. Its bytes stay valid until close.
type mapping struct {
	bytes []byte
	drop  func() error
}

// mapFile maps size bytes of a file, for reading. The length is checked first:
// touching a page past the end of a file would end the process.
func mapFile(path string, size int64) (*mapping, error) {
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
	return mapOpen(f, size, false)
}

// mapOpen maps an open file; the file may be closed afterwards.
func mapOpen(f *os.File, size int64, writable bool) (*mapping, error) {
	if size == 0 {
		return &mapping{}, nil
	}
	if int64(int(size)) != size {
		return nil, fmt.Errorf("%s: too large for this machine", f.Name())
	}
	return mapSystem(f, size, writable)
}

func (m *mapping) close() error {
	if m == nil || m.drop == nil {
		return nil
	}
	err := m.drop()
	m.bytes, m.drop = nil, nil
	return err
}

// mapWhole maps a file of any length; one that does not exist is empty.
func mapWhole(path string) (*mapping, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &mapping{}, nil
	}
	if err != nil {
		return nil, err
	}
	return mapFile(path, info.Size())
}
