package spool

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"unsafe"
)

// A Grouped collects records of a fixed size from many goroutines and yields them in an order that puts related
// ones together. Past its limit they go to a temporary file in sorted runs, which are merged at the end: memory is
// bounded, whatever the number of records. T must hold no pointers.
type Grouped[T any] struct {
	limit int // records in memory
	order Grouping[T]

	mu    sync.Mutex
	cur   blocks[T]
	free  [][]T
	err   error
	flows sync.Mutex // held while a run is written, so that only one is
	sort  groupSorter[T]
	out   []T // on its way to the file
	file  *os.File
	runs  []int64 // lengths
}

// blocks are records as they came, of blockRecords each but for those that were
// given short.
type blocks[T any] struct {
	list  [][]T
	count int
}

// blockRecords is how many records come at a time. The index of a record is the
// number of its block, and its own in that.
const (
	blockBits    = 12
	BlockRecords = 1 << blockBits
)

func (b *blocks[T]) at(index uint32) *T {
	return &b.list[index>>blockBits][index&(BlockRecords-1)]
}

// A Grouping is an order of records: by their hash, which is the same for records that belong together, then by
// their turn, then by compare, which orders completely, so that the result does not depend on the order of Add.
type Grouping[T any] struct {
	Hash    func(*T) (hash uint64, turn int64)
	Compare func(a, b *T) int
}

// NewGrouped makes a spool that holds a run while the one before is sorted.
func NewGrouped[T any](memory int64, order Grouping[T]) *Grouped[T] {
	var t T
	size := 2*int64(unsafe.Sizeof(t)) + groupBytes
	return &Grouped[T]{limit: int(min(max(memory/size, BlockRecords), 1<<31)), order: order}
}

// Mix spreads a number over all bits.
func Mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// Block returns an empty block to fill.
func (s *Grouped[T]) Block() []T {
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return make([]T, 0, BlockRecords)
}

// Add takes a block, which is no longer the caller's, and returns an empty one. The goroutine that fills a run
// sorts and writes it, while others go on.
func (s *Grouped[T]) Add(b []T) []T {
	if len(b) == 0 {
		return b
	}
	s.mu.Lock()
	s.cur.list = append(s.cur.list, b)
	s.cur.count += len(b)
	for s.cur.count >= s.limit && s.err == nil {
		s.mu.Unlock()
		s.flush()
		s.mu.Lock()
	}
	b = s.Block()
	s.mu.Unlock()
	return b
}

// flush writes a run, unless another goroutine just did.
func (s *Grouped[T]) flush() {
	s.flows.Lock()
	defer s.flows.Unlock()
	s.mu.Lock()
	full := s.cur
	if full.count < s.limit {
		s.mu.Unlock()
		return
	}
	s.cur = blocks[T]{}
	s.mu.Unlock()
	err := s.write(&full)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, err)
	for _, b := range full.list {
		s.free = append(s.free, b[:0])
	}
}

func (s *Grouped[T]) write(full *blocks[T]) error {
	if s.file == nil {
		f, err := os.CreateTemp("", "parallax-spool-")
		if err != nil {
			return fmt.Errorf("%w", err)
		}
		s.file = f
		os.Remove(f.Name()) // if the system allows; else close removes it
	}
	keys := s.sort.run(full, &s.order)
	for len(keys) > 0 {
		n := min(len(keys), BlockRecords)
		s.out = s.out[:0]
		for _, k := range keys[:n] {
			s.out = append(s.out, *full.at(k.index))
		}
		keys = keys[n:]
		if _, err := s.file.Write(BytesOf(s.out)); err != nil {
			return fmt.Errorf("write temporary file: %w", err)
		}
	}
	s.runs = append(s.runs, int64(full.count))
	return nil
}

// Close removes the temporary file.
func (s *Grouped[T]) Close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
	s.cur, s.free, s.out, s.sort = blocks[T]{}, nil, nil, groupSorter[T]{}
}

// A GroupedReader yields the records of a spool in order: a heap of runs by their next
// record, O(log runs) each.
type GroupedReader[T any] struct {
	s    *Grouped[T]
	runs []*groupedRun[T]
	used bool // the first of runs was handed out
}

type groupedRun[T any] struct {
	s     *Grouped[T]
	buf   []T
	keys  []groupKey // of those in memory, instead of buf
	pos   int
	at    int64 // byte in the file of the records that are not yet loaded
	left  int64 // records of it
	first *T    // the next record
	hash  uint64
	turn  int64
}

// Sorted begins to yield; it may be called again after the last record.
func (s *Grouped[T]) Sorted() (*GroupedReader[T], error) {
	if s.err != nil {
		return nil, s.err
	}
	var t T
	size := int64(unsafe.Sizeof(t))
	it := &GroupedReader[T]{s: s}
	at := int64(0)
	share := max(s.limit/(len(s.runs)+1), 64)
	for _, n := range s.runs {
		r := &groupedRun[T]{s: s, buf: make([]T, 0, min(int64(share), n)), at: at, left: n}
		at += n * size
		if err := r.load(); err != nil {
			return nil, err
		}
		r.look()
		it.runs = append(it.runs, r)
	}
	if s.cur.count > 0 {
		r := &groupedRun[T]{s: s, keys: s.sort.run(&s.cur, &s.order)}
		r.look()
		it.runs = append(it.runs, r)
	}
	for i := len(it.runs)/2 - 1; i >= 0; i-- {
		it.sink(i)
	}
	return it, nil
}

func (r *groupedRun[T]) load() error {
	n := min(int64(cap(r.buf)), r.left)
	r.buf, r.pos = r.buf[:n], 0
	b := BytesOf(r.buf)
	if m, err := r.s.file.ReadAt(b, r.at); err != nil && (err != io.EOF || m < len(b)) {
		return fmt.Errorf("read temporary file: %w", err)
	}
	r.at += int64(len(b))
	r.left -= n
	return nil
}

// look makes the record at pos the one that comes next.
func (r *groupedRun[T]) look() {
	if r.keys != nil {
		r.first = r.s.cur.at(r.keys[r.pos].index)
	} else {
		r.first = &r.buf[r.pos]
	}
	r.hash, r.turn = r.s.order.Hash(r.first)
}

// move goes past the record that was handed out; more is false after the last.
func (r *groupedRun[T]) move() (more bool, err error) {
	r.pos++
	if r.keys == nil && r.pos == len(r.buf) && r.left > 0 {
		if err := r.load(); err != nil {
			return false, err
		}
	}
	if r.pos >= max(len(r.buf), len(r.keys)) {
		return false, nil
	}
	r.look()
	return true, nil
}

// Next returns the next record, which is valid until the call after; nil at the end.
func (it *GroupedReader[T]) Next() (*T, error) {
	if it.used {
		more, err := it.runs[0].move()
		if err != nil {
			return nil, err
		}
		if n := len(it.runs) - 1; !more {
			it.runs[0] = it.runs[n]
			it.runs = it.runs[:n]
		}
		it.sink(0)
	}
	it.used = len(it.runs) > 0
	if !it.used {
		return nil, nil
	}
	return it.runs[0].first, nil
}

// sink moves a run down to its place.
func (it *GroupedReader[T]) sink(i int) {
	for {
		c := 2*i + 1
		if c+1 < len(it.runs) && it.before(c+1, c) {
			c++
		}
		if c >= len(it.runs) || !it.before(c, i) {
			return
		}
		it.runs[i], it.runs[c] = it.runs[c], it.runs[i]
		i = c
	}
}

func (it *GroupedReader[T]) before(i, k int) bool {
	a, b := it.runs[i], it.runs[k]
	switch {
	case a.hash != b.hash:
		return a.hash < b.hash
	case a.turn != b.turn:
		return a.turn < b.turn
	}
	return it.s.order.Compare(a.first, b.first) < 0
}
