package local

import (
	"fmt"
	"io"
	"os"
)

// A spill is bytes that are appended and later read once, in bounded memory: past
// limit they go to a temporary file.
type spill struct {
	dir   string
	limit int
	buf   []byte
	file  *os.File
	size  int64 // in the file
}

func (s *spill) write(b []byte) error {
	if len(s.buf)+len(b) > s.limit && len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, b...)
	return nil
}

func (s *spill) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spill-")
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
	s.buf = s.buf[:0]
	return nil
}

// drain hands out all bytes in order, in pieces, and empties the spill.
func (s *spill) drain(f func([]byte) error) error {
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
	s.buf = s.buf[:0]
	return err
}

func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
	s.buf, s.size = nil, 0
}
