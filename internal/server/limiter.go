package server

import (
	"context"
	"math"
	"sync"
	"time"
)

// Slots bound the computations that run at once, and run fast ones first. Those that took long the last time may not
// occupy every slot; quick ones have one more slot and go first among those that wait. Those that take many seconds,
// such as the findings of a large run, leave a slot to pictures that take a moment. A few may wait; the rest are
// refused at once, which is better than a long queue.
type computeLimiter struct {
	workers int
	queue   int

	mu      sync.Mutex
	running int
	slow    int // of those running: dear ones
	long    int // of those running
	waiting []*waiter
	cost    map[string]time.Duration // of computations, by name
}

type waiter struct {
	class  class
	passed int           // how often one that came later went first
	turn   chan struct{} // closed when it is its turn
}

// A class is the known cost of a computation.
type class uint8

const (
	quick class = iota
	unknown
	dear
	long
)

const (
	// dearFrom is the time from which a computation counts as expensive.
	dearFrom = 250 * time.Millisecond
	// longFrom is the time from which it counts as long.
	longFrom = 3 * time.Second
	// mostPassed is how often one that waits is passed before it goes first.
	mostPassed = 32
	maxCosts   = 4096
	// scanned estimates the cost of one interval in a computation that reads each of them.
	scanned = 300 * time.Nanosecond
)

func newComputeLimiter(workers, queue int) *computeLimiter {
	return &computeLimiter{workers: workers, queue: queue, cost: map[string]time.Duration{}}
}

// do runs f in a slot. It returns errBusy if too many wait, or the context's cause if that ends first. Computations of
// the same name are taken to cost the same.
func (s *computeLimiter) do(ctx context.Context, name string, f func() error) error {
	return s.run(ctx, s.queue, name, unknown, f)
}

// finish is do for the last step of something computed already: it is not refused, since that would throw the work
// away. The number of requests bounds the queue. It is taken to be quick until it was not: pictures that are there do
// not wait for those that are still computed.
func (s *computeLimiter) finish(ctx context.Context, name string, f func() error) error {
	return s.run(ctx, math.MaxInt, name, quick, f)
}

// run takes a computation of unknown cost to be of the class first.
func (s *computeLimiter) run(ctx context.Context, queue int, name string, first class, f func() error) error {
	s.mu.Lock()
	c := s.classOf(name)
	if c == unknown {
		c = first
	}
	if len(s.waiting) == 0 && s.fits(c) {
		s.enter(c)
		s.mu.Unlock()
	} else if err := s.wait(ctx, queue, c); err != nil {
		return err
	}
	defer s.leave(c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	begun := time.Now()
	err := f()
	s.learnFrom(name, time.Since(begun), err == nil)
	return err
}

func (s *computeLimiter) classOf(name string) class {
	switch cost, known := s.cost[name]; {
	case !known:
		return unknown
	case cost >= longFrom:
		return long
	case cost >= dearFrom:
		return dear
	}
	return quick
}

// fits reports whether there is a place for one more; s.mu is held.
func (s *computeLimiter) fits(c class) bool {
	if c == quick {
		return s.running <= s.workers
	}
	return s.running < s.workers && s.allowed(c)
}

// allowed reports whether the class may have one more place. A slot is left to those of unknown cost, and one dear
// computation may use it while long ones have the others.
func (s *computeLimiter) allowed(c class) bool {
	free := s.slow+s.long < max(1, s.workers-1)
	switch c {
	case dear:
		return free || s.slow == 0
	case long:
		return free && s.long < max(1, s.workers/2)
	}
	return true
}

func (s *computeLimiter) enter(c class) {
	s.running++
	switch c {
	case dear:
		s.slow++
	case long:
		s.long++
	}
}

// wait is called with s.mu held, and gives it up.
func (s *computeLimiter) wait(ctx context.Context, queue int, c class) error {
	if len(s.waiting) >= queue {
		s.mu.Unlock()
		return errBusy
	}
	w := &waiter{class: c, turn: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.admit() // a quick one may have a place while others wait
	s.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.waiting {
		if x == w {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return context.Cause(ctx)
		}
	}
	s.exit(c) // it was let in at the same time
	return context.Cause(ctx)
}

// admit lets in whom there is room for: the cheapest first, then who came first, but who
// was passed too often before all. s.mu is held.
func (s *computeLimiter) admit() {
	for {
		best := -1
		for i, w := range s.waiting {
			if w.passed >= mostPassed && s.allowed(w.class) && !s.fits(w.class) {
				return // the next place is kept for it
			}
			if s.fits(w.class) && (best < 0 || w.before(s.waiting[best])) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := s.waiting[best]
		for _, x := range s.waiting[:best] {
			x.passed++
		}
		s.waiting = append(s.waiting[:best], s.waiting[best+1:]...)
		s.enter(w.class)
		close(w.turn)
	}
}

func (w *waiter) before(o *waiter) bool {
	if late := w.passed >= mostPassed; late != (o.passed >= mostPassed) {
		return late
	}
	return w.class < o.class
}

func (s *computeLimiter) leave(c class) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exit(c)
}

func (s *computeLimiter) exit(c class) {
	s.running--
	switch c {
	case dear:
		s.slow--
	case long:
		s.long--
	}
	s.admit()
}

// expectScan predicts the cost of a computation that never ran from the intervals it reads. On a large run it is
// expensive from the first time on, and the first views do not wait for it.
func (s *computeLimiter) expectScan(name string, intervals int64) {
	s.mu.Lock()
	_, known := s.cost[name]
	s.mu.Unlock()
	if !known {
		s.learn(name, time.Duration(intervals)*scanned)
	}
}

// learnFrom remembers the cost of a computation; one that failed or was stopped cost at least that.
func (s *computeLimiter) learnFrom(name string, cost time.Duration, whole bool) {
	s.mu.Lock()
	known, seen := s.cost[name]
	s.mu.Unlock()
	if whole || cost >= dearFrom && (!seen || cost > known) {
		s.learn(name, cost)
	}
}

func (s *computeLimiter) learn(name string, cost time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cost) >= maxCosts {
		clear(s.cost)
	}
	s.cost[name] = cost
}
