package spool

// A runReader reads one sorted run of a spool.
type runReader[T any] struct {
	buf   []T
	next  int
	at    int64 // where the file goes on
	from  int64 // the bytes before were returned to the file system
	left  int   // records not read yet
	order int   // of the run: equal records come out in this order
	key   int64 // of the next record
}

func (r *runReader[T]) fill(s *Spool[T]) error {
	n := min(cap(r.buf), r.left)
	r.buf = r.buf[:n]
	r.next = 0
	if n == 0 {
		return nil
	}
	if err := s.load(r.buf, r.at); err != nil {
		return err
	}
	if s.prepare != nil {
		for i := range r.buf {
			s.prepare(&r.buf[i])
		}
	}
	r.at += int64(n) * SizeOf[T]()
	r.left -= n
	if s.once {
		Punch(s.file, r.from, r.at)
		r.from = max(r.from, r.at&^4095) // the page that is left, but not the part of it that another run has
	}
	return nil
}

// lead returns the number of records of r that come before those of the other runs, at least one; r is the first of a
// heap.
func (r *runReader[T]) lead(heap []*runReader[T], by *Order[T]) int {
	next := heap[min(1, len(heap)-1)]
	if len(heap) > 2 && heap[2].before(next, by) {
		next = heap[2]
	}
	ahead := func(i int) bool { return r.aheadOf(i, by.Key(&r.buf[i]), next, by) }
	all := len(r.buf) - r.next
	if len(heap) == 1 || ahead(len(r.buf)-1) {
		return all
	}
	n := 1
	for step := 1; n+step < all && ahead(r.next+n+step-1); step *= 2 {
		n += step
	}
	for n < all && ahead(r.next+n) {
		n++
	}
	return n
}

func (r *runReader[T]) before(o *runReader[T], by *Order[T]) bool {
	return r.aheadOf(r.next, r.key, o, by)
}

// aheadOf reports whether record i of r, which has this key, comes before the next of o.
func (r *runReader[T]) aheadOf(i int, key int64, o *runReader[T], by *Order[T]) bool {
	if key != o.key {
		return key < o.key
	}
	c := 0
	if by.Ties != nil {
		c = by.Ties(&r.buf[i], &o.buf[o.next])
	}
	return c < 0 || c == 0 && r.order < o.order
}

// merge yields the records of all runs in order, up to most at a time: a heap of runs by their next record,
// O(log runs) per record. If runs follow each other, as those of records that came in order, their blocks are
// handed out as they are.
func (s *Spool[T]) merge(by Order[T], most int, f func([]T) error) error {
	heap, err := s.openRuns(&by)
	if err != nil {
		return err
	}
	less := func(a, b *runReader[T]) bool { return a.before(b, &by) }
	for i := len(heap)/2 - 1; i >= 0; i-- {
		Sink(heap, i, less)
	}
	out := make([]T, 0, most)
	give := func(next int) error { // makes room for the next
		if len(out)+next <= cap(out) {
			return nil
		}
		err := f(out)
		out = out[:0]
		return err
	}
	for len(heap) > 0 {
		r := heap[0]
		n := min(r.lead(heap, &by), most)
		if 8*n >= most && n > 1 {
			if err = give(most); err == nil {
				err = f(r.buf[r.next : r.next+n])
			}
		} else if err = give(n); err == nil {
			out = append(out, r.buf[r.next:r.next+n]...)
		}
		if err != nil {
			return err
		}
		if r.next += n; r.next == len(r.buf) {
			if err := r.fill(s); err != nil {
				return err
			}
			if len(r.buf) == 0 {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
				Sink(heap, 0, less)
				continue
			}
		}
		r.key = by.Key(&r.buf[r.next])
		Sink(heap, 0, less)
	}
	return give(most)
}

// openRuns begins to read all runs.
func (s *Spool[T]) openRuns(by *Order[T]) ([]*runReader[T], error) {
	s.buf, s.spare, s.Sorter = nil, nil, Sorter[T]{} // the readers take their memory
	heap := make([]*runReader[T], 0, len(s.runs))
	each := max(s.limit/len(s.runs), 16)
	at := int64(0)
	for i, n := range s.runs {
		r := &runReader[T]{buf: make([]T, min(each, n)), at: at, from: at, left: n, order: i}
		if err := r.fill(s); err != nil {
			return nil, err
		}
		at += int64(n) * SizeOf[T]()
		r.key = by.Key(&r.buf[0])
		heap = append(heap, r)
	}
	return heap, nil
}

// Sink moves heap[i] down to its place in a heap with the least first.
func Sink[T any](heap []T, i int, less func(a, b T) bool) {
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
