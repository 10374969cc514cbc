package local

// A runReader reads one sorted run of a spool.
type runReader[T any] struct {
	buf   []T
	next  int
	at    int64 // where the file goes on
	left  int   // records not read yet
	order int   // of the run: equal records come out in this order
	key   int64 // of the next record
}

func (r *runReader[T]) fill(s *spool[T]) error {
	n := min(cap(r.buf), r.left)
	r.buf = r.buf[:n]
	r.next = 0
	if n == 0 {
		return nil
	}
	if err := s.load(r.buf, r.at); err != nil {
		return err
	}
	r.at += int64(n) * sizeOf[T]()
	r.left -= n
	return nil
}

// merge hands out the records of all runs in order: a heap of runs by their next
// record, O(log runs) a record.
func (s *spool[T]) merge(by order[T], f func(*T) error) error {
	s.buf, s.spare, s.sorter = nil, nil, sorter[T]{} // the readers take their memory
	heap := make([]*runReader[T], 0, len(s.runs))
	each := max(s.limit/len(s.runs), 16)
	at := int64(0)
	for i, n := range s.runs {
		r := &runReader[T]{buf: make([]T, min(each, n)), at: at, left: n, order: i}
		if err := r.fill(s); err != nil {
			return err
		}
		at += int64(n) * sizeOf[T]()
		r.key = by.key(&r.buf[0])
		heap = append(heap, r)
	}
	less := func(a, b *runReader[T]) bool {
		if a.key != b.key {
			return a.key < b.key
		}
		c := 0
		if by.ties != nil {
			c = by.ties(&a.buf[a.next], &b.buf[b.next])
		}
		return c < 0 || c == 0 && a.order < b.order
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		sink(heap, i, less)
	}
	for len(heap) > 0 {
		r := heap[0]
		if err := f(&r.buf[r.next]); err != nil {
			return err
		}
		if r.next++; r.next == len(r.buf) {
			if err := r.fill(s); err != nil {
				return err
			}
			if len(r.buf) == 0 {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
				sink(heap, 0, less)
				continue
			}
		}
		r.key = by.key(&r.buf[r.next])
		sink(heap, 0, less)
	}
	return nil
}

// sink moves heap[i] down to its place in a heap with the least first.
func sink[T any](heap []T, i int, less func(a, b T) bool) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && less(heap[c+1], heap[c]) {
			c++
		}
		if !less(heap[c], heap[i]) {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}
