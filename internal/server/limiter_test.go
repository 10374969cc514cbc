package server

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func waiting(s *computeLimiter) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// hold takes a place until release is called.
func hold(t *testing.T, s *computeLimiter, name string) (release func()) {
	t.Helper()
	in, out, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = s.do(context.Background(), name, func() error { close(in); <-out; return errors.New("cost not to be learned") })
	}()
	within(t, name+" has a place", in)
	return sync.OnceFunc(func() { close(out); <-done })
}

func TestCheapComputationsRunBeforeExpensiveOnes(t *testing.T) {
	s := newComputeLimiter(2, 100)
	s.learn("slow", time.Second)
	s.learn("fast", time.Millisecond)
	defer hold(t, s, "slow")()
	slow := make(chan struct{})
	go func() { defer close(slow); s.do(context.Background(), "slow", func() error { return nil }) }()
	for waiting(s) < 1 { // the dear one may not have the last place
		time.Sleep(time.Millisecond)
	}
	defer hold(t, s, "new")()  // but one that nobody knows may
	defer hold(t, s, "fast")() // and a cheap one passes both
	select {
	case <-slow:
		t.Error("two dear computations have all the places")
	default:
	}
}

func TestPicturesDoNotWaitForLongComputations(t *testing.T) {
	s := newComputeLimiter(2, 100)
	s.learn("findings", time.Minute)
	s.learn("counts", time.Minute)
	s.learn("picture", time.Second)
	release := hold(t, s, "findings")
	counted := make(chan struct{})
	go func() { defer close(counted); s.do(context.Background(), "counts", func() error { return nil }) }()
	for waiting(s) < 1 { // one long computation at a time
		time.Sleep(time.Millisecond)
	}
	drawn := make(chan struct{})
	go func() { defer close(drawn); s.do(context.Background(), "picture", func() error { return nil }) }()
	within(t, "a picture of a second is computed beside the findings", drawn)
	release()
	within(t, "the counts follow the findings", counted)
}

func TestRunningComputationsFinishBesideOthers(t *testing.T) {
	s := newComputeLimiter(2, 100)
	defer hold(t, s, "one")()
	defer hold(t, s, "another")()
	done := make(chan struct{})
	go func() { defer close(done); s.finish(context.Background(), "drawn", func() error { return nil }) }()
	within(t, "a picture is drawn", done)
}

func TestScansOfALargeRunAreExpensiveFromTheFirst(t *testing.T) {
	s := newComputeLimiter(2, 100)
	s.expectScan("all of it", 1e8)
	s.expectScan("all of little", 1e3)
	s.learn("known", time.Millisecond)
	s.expectScan("known", 1e8)
	for name, want := range map[string]class{"all of it": long, "all of little": quick, "known": quick, "new": unknown} {
		if got := s.classOf(name); got != want {
			t.Errorf("%s is of class %d, want %d", name, got, want)
		}
	}
}

func TestWaitingComputationsAreOvertakenABoundedNumberOfTimes(t *testing.T) {
	s := newComputeLimiter(1, 1000)
	s.enter(unknown)
	s.enter(quick)
	slow := &waiter{class: dear, turn: make(chan struct{})}
	s.waiting = append(s.waiting, slow)
	for range 3 * mostPassed {
		s.waiting = append(s.waiting, &waiter{class: quick, turn: make(chan struct{})})
	}
	s.exit(unknown)
	for ended := 0; ; ended++ { // one after the other ends, and each lets in the next
		select {
		case <-slow.turn:
			if ended < mostPassed/2 || slow.passed > mostPassed+1 {
				t.Errorf("the dear one was passed by %d, after %d had ended", slow.passed, ended)
			}
			return
		default:
		}
		if s.running == 0 {
			t.Fatal("nothing is at work, and the dear one waits")
		}
		s.exit(quick)
	}
}

func TestCancelledRequestsLeaveTheQueue(t *testing.T) {
	s := newComputeLimiter(1, 10)
	release := hold(t, s, "new")
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() { gone <- s.do(ctx, "other", func() error { return nil }) }()
	for waiting(s) < 1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	release()
	if err := s.do(context.Background(), "other", func() error { return nil }); err != nil || s.running != 0 || s.slow != 0 {
		t.Errorf("%v, %d at work", err, s.running)
	}
}

func TestSlowFailuresCountAsExpensive(t *testing.T) {
	s := newComputeLimiter(2, 4)
	s.learnFrom("slow", dearFrom, false)
	if s.classOf("slow") != dear {
		t.Error("a computation that was stopped late is not known to be dear")
	}
	s.learnFrom("wrong", time.Millisecond, false)
	if s.classOf("wrong") != unknown {
		t.Error("a request that was wrong at once tells nothing of its cost")
	}
}
