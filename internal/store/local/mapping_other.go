//go:build !unix && !windows

package local

import (
	"io"
	"os"
)

// Without memory maps a file is read whole; what is written to it is written back
// when the mapping is closed.
func mapSystem(f *os.File, size int64, writable bool) (*mapping, error) {
	b := bytesOf(make([]uint64, (size+7)/8))[:size]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), b); err != nil {
		return nil, err
	}
	return &mapping{bytes: b, drop: func() error {
		if writable {
			_, err := f.WriteAt(b, 0)
			return err
		}
		return nil
	}}, nil
}

func (m *mapping) release(from, to int64) {}
