package otf2

import (
	"container/heap"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"unsafe"
)

// A spool collects records of a fixed size from many goroutines and hands them
// out sorted. Past its limit they go to a temporary file in sorted runs, which are
// merged at the end: memory is bounded, whatever the number of records. T must
// hold no pointers, and less must order records completely, so that the result
// does not depend on who added first.
type spool[T any] struct {
	limit   int // records in memory
	compare func(a, b *T) int

	mu   sync.Mutex
	buf  []T
	file *os.File
	runs []int64 // lengths
	err  error
}

func newSpool[T any](memory int64, compare func(a, b *T) int) *spool[T] {
	var t T
	return &spool[T]{limit: int(max(memory/int64(unsafe.Sizeof(t)), 1024)), compare: compare}
}

// add takes records; the slice stays the caller's.
func (s *spool[T]) add(list []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(list) > 0 && s.err == nil {
		n := min(len(list), s.limit-len(s.buf))
		s.buf = append(s.buf, list[:n]...)
		list = list[n:]
		if len(s.buf) >= s.limit {
			s.err = s.flush()
		}
	}
}

func (s *spool[T]) sort() {
	slices.SortFunc(s.buf, func(a, b T) int { return s.compare(&a, &b) })
}

// flush writes a run.
func (s *spool[T]) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "parallax-otf2-")
		if err != nil {
			return fmt.Errorf("match messages: %w", err)
		}
		s.file = f
		os.Remove(f.Name()) // where the system allows; close removes it elsewhere
	}
	s.sort()
	if _, err := s.file.Write(bytesOf(s.buf)); err != nil {
		return fmt.Errorf("match messages: write temporary file: %w", err)
	}
	s.runs = append(s.runs, int64(len(s.buf)))
	s.buf = s.buf[:0]
	return nil
}

// bytesOf is the memory of records, for a temporary file of this process.
func bytesOf[T any](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// close removes the temporary file.
func (s *spool[T]) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
	s.buf = nil
}

// A sorted hands out the records of a spool in order.
type sorted[T any] struct {
	s    *spool[T]
	runs []*sortedRun[T]
	head *T
}

type sortedRun[T any] struct {
	s    *spool[T]
	buf  []T
	pos  int
	at   int64 // byte in the file of what is not yet loaded
	left int64 // records of it
}

// sorted begins to hand out; it may be called again after the last record.
func (s *spool[T]) sorted() (*sorted[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	s.sort()
	var t T
	size := int64(unsafe.Sizeof(t))
	it := &sorted[T]{s: s}
	at := int64(0)
	share := max(s.limit/(len(s.runs)+1), 64)
	for _, n := range s.runs {
		r := &sortedRun[T]{s: s, buf: make([]T, 0, min(int64(share), n)), at: at, left: n}
		at += n * size
		if err := r.load(); err != nil {
			return nil, err
		}
		it.runs = append(it.runs, r)
	}
	if len(s.buf) > 0 {
		it.runs = append(it.runs, &sortedRun[T]{s: s, buf: s.buf})
	}
	heap.Init(it)
	return it, nil
}

func (r *sortedRun[T]) load() error {
	n := min(int64(cap(r.buf)), r.left)
	r.buf, r.pos = r.buf[:n], 0
	b := bytesOf(r.buf)
	if m, err := r.s.file.ReadAt(b, r.at); err != nil && (err != io.EOF || m < len(b)) {
		return fmt.Errorf("match messages: read temporary file: %w", err)
	}
	r.at += int64(len(b))
	r.left -= n
	return nil
}

// next gives the next record, which is valid until the call after; nil at the end.
func (it *sorted[T]) next() (*T, error) {
	if len(it.runs) == 0 {
		return nil, nil
	}
	r := it.runs[0]
	if it.head == nil {
		it.head = new(T)
	}
	*it.head = r.buf[r.pos]
	r.pos++
	if r.pos == len(r.buf) && r.left > 0 {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	if r.pos == len(r.buf) {
		heap.Pop(it)
	} else if len(it.runs) > 1 {
		heap.Fix(it, 0)
	}
	return it.head, nil
}

// The order of runs by their first record, for package heap.
func (it *sorted[T]) Len() int      { return len(it.runs) }
func (it *sorted[T]) Swap(i, j int) { it.runs[i], it.runs[j] = it.runs[j], it.runs[i] }
func (it *sorted[T]) Push(any)      {}
func (it *sorted[T]) Less(i, j int) bool {
	a, b := it.runs[i], it.runs[j]
	return it.s.compare(&a.buf[a.pos], &b.buf[b.pos]) < 0
}
func (it *sorted[T]) Pop() any {
	n := len(it.runs) - 1
	r := it.runs[n]
	it.runs = it.runs[:n]
	return r
}
