package otf2

import (
	"cmp"
	"fmt"
	"io"
	"os"
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

	mu    sync.Mutex
	cur   blocks[T]
	free  [][]T
	err   error
	flows sync.Mutex // held while a run is written, so that only one is
	sort  sorter[T]
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
	blockRecords = 1 << blockBits
)

func (b *blocks[T]) at(index uint32) *T {
	return &b.list[index>>blockBits][index&(blockRecords-1)]
}

// An ordering says how records are sorted: by their digest, which is the same for
// records that belong together, then by their turn, then as compare says, which
// orders completely, so that the result does not depend on who added first.
type ordering[T any] struct {
	digest  func(*T) (digest uint64, turn int64)
	compare func(a, b *T) int
}

// newSpool makes a spool that holds a run while the one before is sorted.
func newSpool[T any](memory int64, order ordering[T]) *spool[T] {
	var t T
	size := 2*int64(unsafe.Sizeof(t)) + sortBytes
	return &spool[T]{limit: int(min(max(memory/size, blockRecords), 1<<31)), order: order}
}

// mix spreads a number over all bits.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// block gives an empty block to fill.
func (s *spool[T]) block() []T {
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	return make([]T, 0, blockRecords)
}

// add takes a block, which is no longer the caller's, and gives an empty one. Who
// fills a run sorts and writes it, while others go on.
func (s *spool[T]) add(b []T) []T {
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
	b = s.block()
	s.mu.Unlock()
	return b
}

// flush writes a run, unless somebody else just did.
func (s *spool[T]) flush() {
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

func (s *spool[T]) write(full *blocks[T]) error {
	if s.file == nil {
		f, err := os.CreateTemp("", "parallax-otf2-")
		if err != nil {
			return fmt.Errorf("match messages: %w", err)
		}
		s.file = f
		os.Remove(f.Name()) // where the system allows; close removes it elsewhere
	}
	keys := s.sort.run(full, &s.order)
	for len(keys) > 0 {
		n := min(len(keys), blockRecords)
		s.out = s.out[:0]
		for _, k := range keys[:n] {
			s.out = append(s.out, *full.at(k.index))
		}
		keys = keys[n:]
		if _, err := s.file.Write(bytesOf(s.out)); err != nil {
			return fmt.Errorf("match messages: write temporary file: %w", err)
		}
	}
	s.runs = append(s.runs, int64(full.count))
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
	s.cur, s.free, s.out, s.sort = blocks[T]{}, nil, nil, sorter[T]{}
}

// A sorted hands out the records of a spool in order: a heap of runs by their next
// record, O(log runs) each.
type sorted[T any] struct {
	s    *spool[T]
	runs []*sortedRun[T]
	used bool // the first of runs was handed out
}

type sortedRun[T any] struct {
	s      *spool[T]
	buf    []T
	keys   []sortKey // of those in memory, instead of buf
	pos    int
	at     int64 // byte in the file of what is not yet loaded
	left   int64 // records of it
	first  *T    // what comes next
	digest uint64
	turn   int64
}

// sorted begins to hand out; it may be called again after the last record.
func (s *spool[T]) sorted() (*sorted[T], error) {
	if s.err != nil {
		return nil, s.err
	}
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
		r.look()
		it.runs = append(it.runs, r)
	}
	if s.cur.count > 0 {
		r := &sortedRun[T]{s: s, keys: s.sort.run(&s.cur, &s.order)}
		r.look()
		it.runs = append(it.runs, r)
	}
	for i := len(it.runs)/2 - 1; i >= 0; i-- {
		it.sink(i)
	}
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

// look makes the record at pos the one that comes next.
func (r *sortedRun[T]) look() {
	if r.keys != nil {
		r.first = r.s.cur.at(r.keys[r.pos].index)
	} else {
		r.first = &r.buf[r.pos]
	}
	r.digest, r.turn = r.s.order.digest(r.first)
}

// move goes past the record that was handed out; more is false after the last.
func (r *sortedRun[T]) move() (more bool, err error) {
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

// next gives the next record, which is valid until the call after; nil at the end.
func (it *sorted[T]) next() (*T, error) {
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
func (it *sorted[T]) sink(i int) {
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

func (it *sorted[T]) before(i, k int) bool {
	a, b := it.runs[i], it.runs[k]
	switch {
	case a.digest != b.digest:
		return a.digest < b.digest
	case a.turn != b.turn:
		return a.turn < b.turn
	}
	return it.s.order.compare(a.first, b.first) < 0
}
