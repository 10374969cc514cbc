package spool

import (
	"fmt"
	"io"
	"os"
)

// A Spill is bytes that are appended and later read once, in bounded memory: past
// limit they go to a temporary file. Spills of one goroutine may share a limit.
type Spill struct {
	Dir   string
	Limit int
	Share *int // bytes left for all that share it; nil for a limit of its own
	buf   []byte
	file  *os.File
	size  int64 // in the file
}

// leastSpill is how much a spill may hold whatever others do.
const leastSpill = 1 << 10

func (s *Spill) Write(b []byte) error {
	full := len(s.buf)+len(b) > s.Limit
	if s.Share != nil {
		full = len(b) > *s.Share && len(s.buf) >= leastSpill
	}
	if full && len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, b...)
	if s.Share != nil {
		*s.Share -= len(b)
	}
	return nil
}

// empty discards the bytes in memory.
func (s *Spill) empty() {
	if s.Share != nil {
		*s.Share += len(s.buf)
	}
	s.buf = s.buf[:0]
}

func (s *Spill) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.Dir, "spill-")
		if err != nil {
			return err
		}
		s.file = f
		_ = os.Remove(f.Name())
	}
	if _, err := s.file.WriteAt(s.buf, s.size); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	s.size += int64(len(s.buf))
	s.empty()
	return nil
}

// Drain yields all bytes in order, in pieces, and empties the spill.
func (s *Spill) Drain(f func([]byte) error) error {
	if s.size > 0 {
		piece := make([]byte, min(s.size, 1<<18))
		r := io.NewSectionReader(s.file, 0, s.size)
		for {
			n, err := io.ReadFull(r, piece)
			if n > 0 {
				if err := f(piece[:n]); err != nil {
					return err
				}
			}
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			}
			if err != nil {
				return fmt.Errorf("read temporary file: %w", err)
			}
		}
		s.size = 0
	}
	var err error
	if len(s.buf) > 0 {
		err = f(s.buf)
	}
	s.empty()
	return err
}

func (s *Spill) Close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
	s.buf, s.size = nil, 0
}
