//go:build !unix && !windows

package spool

import (
	"io"
	"os"
)

// Without memory maps a file is read whole. Writable maps are temporary files: bytes that are written to them need
// not come back.
func mapSystem(f *os.File, size int64, _ bool) (*Mapping, error) {
	b := BytesOf(make([]uint64, (size+7)/8))[:size]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), b); err != nil {
		return nil, err
	}
	return &Mapping{Bytes: b}, nil
}

func (m *Mapping) Release(from, to int64) {}

func reserve(size int64) (*Mapping, error) {
	return &Mapping{Bytes: BytesOf(make([]uint64, (size+7)/8))[:size]}, nil
}
