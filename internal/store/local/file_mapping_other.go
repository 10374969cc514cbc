//go:build !unix && !windows

package local

import (
	"io"
	"os"
)

// Without memory maps a file is read whole. Writable maps are temporary files: what
// is written to them need not come back.
func mapSystem(f *os.File, size int64, _ bool) (*mapping, error) {
	b := bytesOf(make([]uint64, (size+7)/8))[:size]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), b); err != nil {
		return nil, err
	}
	return &mapping{bytes: b}, nil
}

func (m *mapping) release(from, to int64) {}
