package local

import (
	"cmp"
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
	keys  []sortKey
}

func newSpool[T any](dir string, memory int64) *spool[T] {
	each := sizeOf[T]() + sizeOf[sortKey]()
	return &spool[T]{dir: dir, limit: int(max(memory/each, 64))}
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

// An order is how records are sorted: by key, where that is equal by ties, which
// may be nil, where that is equal as they came.
type order[T any] struct {
	key  func(*T) int64
	ties func(a, b *T) int
}

func (o *order[T]) compare(a, b *T) int {
	if x, y := o.key(a), o.key(b); x != y {
		return cmp.Compare(x, y)
	}
	if o.ties == nil {
		return 0
	}
	return o.ties(a, b)
}

// sorted hands out all records in order. prepare, which may be nil, changes each
// before it is compared.
func (s *spool[T]) sorted(prepare func(*T), by order[T], f func(*T) error) error {
	sortRun := func(run []T) {
		if prepare != nil {
			for i := range run {
				prepare(&run[i])
			}
		}
		s.sort(run, by)
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
	return s.merge(by, f)
}

// A sortKey stands for a record while it is sorted: small, and with no equal.
type sortKey struct {
	key   int64
	index uint32
}

// sort sorts a run in memory: first small keys, then each record goes to its place
// once. A stable sort of the records themselves took several times as long.
func (s *spool[T]) sort(run []T, by order[T]) {
	sorted := true
	for i := 1; i < len(run) && sorted; i++ {
		sorted = by.compare(&run[i-1], &run[i]) <= 0
	}
	if sorted {
		return
	}
	keys := s.keys[:0]
	for i := range run {
		keys = append(keys, sortKey{by.key(&run[i]), uint32(i)})
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if by.ties != nil {
			if c := by.ties(&run[a.index], &run[b.index]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a.index, b.index)
	})
	const placed = ^uint32(0)
	for i := range keys { // follow each cycle of the permutation
		if keys[i].index == placed {
			continue
		}
		first, at := run[i], i
		for {
			from := int(keys[at].index)
			keys[at].index = placed
			if from == i {
				run[at] = first
				break
			}
			run[at] = run[from]
			at = from
		}
	}
	s.keys = keys
}

// reset empties the spool and keeps its memory.
func (s *spool[T]) reset() {
	s.buf, s.runs = s.buf[:0], s.runs[:0]
}

func (s *spool[T]) close() {
	s.buf, s.runs, s.keys = nil, nil, nil
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}
