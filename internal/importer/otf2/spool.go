package otf2

import (
	"bufio"
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"unsafe"
)

// A spool collects records of a fixed size from many goroutines and hands them
// out in an order that puts together what has something in common. Past its limit
// they go to a temporary file in sorted runs, which are merged at the end: memory
// is bounded, whatever the number of records. T must hold no pointers.
type spool[T any] struct {
	limit int // records in memory
	order ordering[T]

	mu     sync.Mutex
	blocks [][]T // of blockRecords each, but for those that were given short
	free   [][]T
	count  int // records in blocks
	keys   []sortKey
	file   *os.File
	runs   []int64 // lengths
	err    error
}

// blockRecords is how many records come at a time. A sortKey's index is the
// number of the block, and of the record in it.
const (
	blockBits    = 12
	blockRecords = 1 << blockBits
)

// An ordering says how records are sorted: by their digest, which is the same for
// records that belong together, then by their turn, then as compare says, which
// orders completely, so that the result does not depend on who added first.
type ordering[T any] struct {
	digest  func(*T) (digest uint64, turn int64)
	compare func(a, b *T) int
}

// A sortKey is what decides nearly always, small enough to be moved about.
type sortKey struct {
	digest uint64
	turn   int64
	index  uint32
}

func newSpool[T any](memory int64, order ordering[T]) *spool[T] {
	var t T
	size := int64(unsafe.Sizeof(t)) + int64(unsafe.Sizeof(sortKey{}))
	return &spool[T]{limit: int(min(max(memory/size, blockRecords), 1<<31)), order: order}
}

// mix spreads a number over all bits.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// block gives an empty block to fill.
func (s *spool[T]) block() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return make([]T, 0, blockRecords)
}

// add takes a block, which is no longer the caller's, and gives an empty one.
func (s *spool[T]) add(b []T) []T {
	if len(b) == 0 {
		return b
	}
	s.mu.Lock()
	s.blocks = append(s.blocks, b)
	s.count += len(b)
	if s.count >= s.limit && s.err == nil {
		s.err = s.flush()
	}
	s.mu.Unlock()
	return s.block()
}

func (s *spool[T]) at(index uint32) *T {
	return &s.blocks[index>>blockBits][index&(blockRecords-1)]
}

// sort orders keys; the records stay where they are.
func (s *spool[T]) sort() {
	s.keys = slices.Grow(s.keys[:0], s.count)
	for k, b := range s.blocks {
		for i := range b {
			digest, turn := s.order.digest(&b[i])
			s.keys = append(s.keys, sortKey{digest, turn, uint32(k<<blockBits | i)})
		}
	}
	slices.SortFunc(s.keys, func(a, b sortKey) int {
		switch {
		case a.digest != b.digest:
			return cmp.Compare(a.digest, b.digest)
		case a.turn != b.turn:
			return cmp.Compare(a.turn, b.turn)
		}
		return s.order.compare(s.at(a.index), s.at(b.index))
	})
}

// before orders records of different runs.
func (s *spool[T]) before(a, b *T) bool {
	da, ta := s.order.digest(a)
	db, tb := s.order.digest(b)
	switch {
	case da != db:
		return da < db
	case ta != tb:
		return ta < tb
	}
	return s.order.compare(a, b) < 0
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
	out := bufio.NewWriterSize(s.file, 1<<18)
	for i := range s.keys {
		k := s.keys[i].index
		b := s.blocks[k>>blockBits]
		out.Write(bytesOf(b[k&(blockRecords-1):][:1]))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("match messages: write temporary file: %w", err)
	}
	s.runs = append(s.runs, int64(s.count))
	for _, b := range s.blocks {
		s.free = append(s.free, b[:0])
	}
	s.blocks, s.count = s.blocks[:0], 0
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
	s.blocks, s.free, s.keys, s.count = nil, nil, nil, 0
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
	keys []sortKey // of those in memory, instead of buf
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
	if s.count > 0 {
		it.runs = append(it.runs, &sortedRun[T]{s: s, keys: s.keys})
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

// first is the record that comes next.
func (r *sortedRun[T]) first() *T {
	if r.keys != nil {
		return r.s.at(r.keys[r.pos].index)
	}
	return &r.buf[r.pos]
}

func (r *sortedRun[T]) len() int { return max(len(r.buf), len(r.keys)) }

// next gives the next record, which is valid until the call after; nil at the end.
func (it *sorted[T]) next() (*T, error) {
	if len(it.runs) == 0 {
		return nil, nil
	}
	r := it.runs[0]
	if it.head == nil {
		it.head = new(T)
	}
	*it.head = *r.first()
	r.pos++
	if r.pos == r.len() && r.left > 0 {
		if err := r.load(); err != nil {
			return nil, err
		}
	}
	if r.pos == r.len() {
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
	return it.s.before(it.runs[i].first(), it.runs[j].first())
}
func (it *sorted[T]) Pop() any {
	n := len(it.runs) - 1
	r := it.runs[n]
	it.runs = it.runs[:n]
	return r
}
