package local

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// A spool holds records of a fixed size in bounded memory: past limit they go to
// a file without name, in runs. sorted hands them out in order, each run sorted in
// memory and all merged. One goroutine at a time uses a spool.
type spool[T any] struct {
	dir   string
	limit int // records in memory
	buf   []T
	file  *os.File
	runs  []int // records in each run
}

func newSpool[T any](dir string, memory int64) *spool[T] {
	return &spool[T]{dir: dir, limit: int(max(memory/sizeOf[T](), 64))}
}

// Add appends a record.
func (s *spool[T]) Add(x T) error {
	if len(s.buf) >= s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, x)
	return nil
}

// Len is the number of records.
func (s *spool[T]) Len() int64 {
	n := int64(len(s.buf))
	for _, r := range s.runs {
		n += int64(r)
	}
	return n
}

func (s *spool[T]) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spool-")
		if err != nil {
			return err
		}
		s.file = f
		_ = os.Remove(f.Name()) // where the system allows; close removes it elsewhere
	}
	if _, err := s.file.WriteAt(bytesOf(s.buf), s.position(len(s.runs))); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	s.runs = append(s.runs, len(s.buf))
	s.buf = s.buf[:0]
	return nil
}

// position of run i in the file.
func (s *spool[T]) position(i int) int64 {
	n := int64(0)
	for _, r := range s.runs[:i] {
		n += int64(r)
	}
	return n * sizeOf[T]()
}

// each hands out the records as they came; f may change them.
func (s *spool[T]) each(f func(*T) error) error {
	own := s.buf
	for i, n := range s.runs {
		buf := make([]T, n)
		if err := s.load(buf, s.position(i)); err != nil {
			return err
		}
		if err := eachOf(buf, f); err != nil {
			return err
		}
	}
	return eachOf(own, f)
}

func eachOf[T any](items []T, f func(*T) error) error {
	for i := range items {
		if err := f(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *spool[T]) load(into []T, at int64) error {
	_, err := s.file.ReadAt(bytesOf(into), at)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read temporary file: %w", err)
	}
	return nil
}

// sorted hands out all records in order, equal ones as they came. prepare, which
// may be nil, changes each before it is compared.
func (s *spool[T]) sorted(prepare func(*T), compare func(a, b T) int, f func(*T) error) error {
	sortRun := func(run []T) {
		if prepare != nil {
			for i := range run {
				prepare(&run[i])
			}
		}
		if !slices.IsSortedFunc(run, compare) {
			slices.SortStableFunc(run, compare)
		}
	}
	if len(s.runs) == 0 {
		sortRun(s.buf)
		return eachOf(s.buf, f)
	}
	if len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	at := int64(0)
	for _, n := range s.runs {
		run := s.buf[:n]
		if err := s.load(run, at); err != nil {
			return err
		}
		sortRun(run)
		if _, err := s.file.WriteAt(bytesOf(run), at); err != nil {
			return fmt.Errorf("write temporary file: %w", err)
		}
		at += int64(n) * sizeOf[T]()
	}
	return s.merge(compare, f)
}

// reset empties the spool and keeps its memory.
func (s *spool[T]) reset() {
	s.buf, s.runs = s.buf[:0], s.runs[:0]
}

func (s *spool[T]) close() {
	s.buf, s.runs = nil, nil
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}
