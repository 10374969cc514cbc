// Package spool keeps records outside memory: appended in bounded memory, sorted in
// runs and merged, read in place through maps.
//
// A Spool sorts records of one size, a Spill passes bytes on, a Mapping is a file in memory. The package knows
// nothing of traces, so any package that writes more than fits may use it.
package spool

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
)

// A Spool holds records of a fixed size in bounded memory: past limit they go to
// a file without name, in runs. sorted yields them in order, each run sorted in
// memory and all merged. One goroutine at a time uses a spool.
type Spool[T any] struct {
	dir   string
	limit int // records in memory
	buf   []T
	file  *os.File
	runs  []int // records in each run
	once  bool  // records that were handed out are not asked for again
	Sorter[T]

	// If the order is known from the start, runs are sorted as they fill, while the next one does: ahead returns
	// the memory, or the error.
	by    *Order[T]
	ahead chan error
	spare []T

	prepare func(*T) // changes records that are read from runs, while they are merged
}

func NewSpool[T any](dir string, memory int64) *Spool[T] {
	each := SizeOf[T]() + 2*SizeOf[SortKey]()
	return &Spool[T]{dir: dir, limit: int(max(memory/each, 64))}
}

// NewSortedSpool makes a spool whose records are sorted as they come; sorted must
// be called with the same order, and with a prepare only as SortedAs says.
func NewSortedSpool[T any](dir string, memory int64, by Order[T]) *Spool[T] {
	each := 2*SizeOf[T]() + 2*SizeOf[SortKey]()
	return &Spool[T]{dir: dir, limit: int(max(memory/each, 64)), by: &by}
}

// Add appends a record.
func (s *Spool[T]) Add(x T) error {
	if len(s.buf) >= s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, x)
	return nil
}

// AddAll appends records.
func (s *Spool[T]) AddAll(list []T) error {
	for len(list) > 0 {
		n := min(len(list), s.limit-len(s.buf))
		if n <= 0 {
			if err := s.flush(); err != nil {
				return err
			}
			continue
		}
		if len(s.buf)+n > cap(s.buf) {
			// twice as much: append adds a quarter where there is much, and copies five times as often
			s.buf = slices.Grow(s.buf, min(max(len(s.buf), n, 64), s.limit-len(s.buf)))
		}
		s.buf = append(s.buf, list[:n]...)
		list = list[n:]
	}
	return nil
}

// Next appends a record that is filled in place, all of it, before anything else is
// done with the spool.
func (s *Spool[T]) Next() (*T, error) {
	n := len(s.buf)
	if n >= s.limit {
		if err := s.flush(); err != nil {
			return nil, err
		}
		n = len(s.buf)
	}
	if n == cap(s.buf) {
		s.buf = slices.Grow(s.buf, min(max(n, 64), s.limit-n))
	}
	s.buf = s.buf[:n+1]
	return &s.buf[n], nil
}

// Once declares that records are handed out in order for the last time: their space is freed as they are.
func (s *Spool[T]) Once() { s.once = true }

// Len is the number of records.
func (s *Spool[T]) Len() int64 {
	n := int64(len(s.buf))
	for _, r := range s.runs {
		n += int64(r)
	}
	return n
}

func (s *Spool[T]) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "spool-")
		if err != nil {
			return err
		}
		s.file = f
		_ = os.Remove(f.Name()) // if the system allows; else close removes it
	}
	at := s.position(len(s.runs))
	s.runs = append(s.runs, len(s.buf))
	if s.by == nil {
		err := s.store(s.buf, at)
		s.buf = s.buf[:0]
		return err
	}
	if err := s.wait(); err != nil {
		return err
	}
	run := s.buf
	if s.spare == nil {
		s.spare = make([]T, 0, len(run))
	}
	s.buf, s.spare = s.spare[:0], run
	s.ahead = make(chan error, 1)
	go func(done chan<- error) {
		s.Sort(run, *s.by)
		done <- s.store(run, at)
	}(s.ahead)
	return nil
}

// wait waits for the run that is being sorted.
func (s *Spool[T]) wait() error {
	if s.ahead == nil {
		return nil
	}
	err := <-s.ahead
	s.ahead = nil
	return err
}

func (s *Spool[T]) store(run []T, at int64) error {
	if _, err := s.file.WriteAt(BytesOf(run), at); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	return nil
}

// position of run i in the file.
func (s *Spool[T]) position(i int) int64 {
	n := int64(0)
	for _, r := range s.runs[:i] {
		n += int64(r)
	}
	return n * SizeOf[T]()
}

// Each yields the records as they came; f may change them.
func (s *Spool[T]) Each(f func(*T) error) error {
	if err := s.wait(); err != nil {
		return err
	}
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

func (s *Spool[T]) load(into []T, at int64) error {
	_, err := s.file.ReadAt(BytesOf(into), at)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read temporary file: %w", err)
	}
	return nil
}

// An Order sorts records by key, if these are equal by ties, which may be nil, and then as they came.
type Order[T any] struct {
	Key  func(*T) int64
	Ties func(a, b *T) int
}

// Compare is by key, then by ties.
func (o *Order[T]) Compare(a, b *T) int {
	if x, y := o.Key(a), o.Key(b); x != y {
		return cmp.Compare(x, y)
	}
	if o.Ties == nil {
		return 0
	}
	return o.Ties(a, b)
}

// Sorted yields all records in order. prepare, which may be nil, changes each
// before it is compared.
func (s *Spool[T]) Sorted(prepare func(*T), by Order[T], f func(*T) error) error {
	return s.SortedBlocks(prepare, by, mergeBlock, func(block []T) error { return eachOf(block, f) })
}

// SortedAs is SortedBlocks of a spool that was sorted as it was filled. If prepare keeps the order, runs are only
// merged: they are read once, and not written again.
func (s *Spool[T]) SortedAs(prepare func(*T), keeps bool, most int, f func([]T) error) error {
	by := *s.by
	if !keeps || len(s.runs) == 0 {
		if err := s.wait(); err != nil {
			return err
		}
		s.by = nil
	} else {
		s.prepare, prepare = prepare, nil
	}
	return s.SortedBlocks(prepare, by, most, f)
}

// mergeBlock is the number of records that are merged before they are handed out.
const mergeBlock = 256

// SortedBlocks yields all records in order, up to most at a time; f may change them.
func (s *Spool[T]) SortedBlocks(prepare func(*T), by Order[T], most int, f func([]T) error) error {
	if len(s.runs) == 0 {
		return s.inOrder(s.buf, prepare, by, most, f)
	}
	if len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.by != nil {
		if err := s.wait(); err != nil {
			return err
		}
		return s.merge(by, most, f)
	}
	at := int64(0)
	for _, n := range s.runs {
		run := slices.Grow(s.buf[:0], n)[:n]
		if err := s.load(run, at); err != nil {
			return err
		}
		err := s.inOrder(run, prepare, by, storeBlock, func(block []T) error {
			err := s.store(block, at)
			at += int64(len(block)) * SizeOf[T]()
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.merge(by, most, f)
}

// storeBlock is how many records of a sorted run are written at a time.
const storeBlock = 1 << 12

// inOrder sorts a run and yields it. Records that are equal where nothing else decides, as they mostly are that came
// one after the other, are moved together, and once.
func (s *Spool[T]) inOrder(run []T, prepare func(*T), by Order[T], most int, f func([]T) error) error {
	if prepare != nil {
		for i := range run {
			prepare(&run[i])
		}
	}
	if arrangeTies(run, by) {
		return chunks(run, most, f)
	}
	if s.group(run, by) {
		return s.gather(run, by, most, f)
	}
	s.scatter(run, by)
	return chunks(run, most, f)
}

func chunks[T any](run []T, most int, f func([]T) error) error {
	for block := range slices.Chunk(run, most) {
		if err := f(block); err != nil {
			return err
		}
	}
	return nil
}

// Reset empties the spool and keeps its memory.
func (s *Spool[T]) Reset() {
	s.buf, s.runs = s.buf[:0], s.runs[:0]
}

func (s *Spool[T]) Close() {
	_ = s.wait()
	s.buf, s.spare, s.runs, s.Sorter = nil, nil, nil, Sorter[T]{}
	if s.file != nil {
		s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}
