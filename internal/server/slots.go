package server

import (
	"context"
	"math"
	"sync/atomic"
)

// Slots bound how much is computed at once. A few may wait; the rest are refused
// at once, which is kinder than a queue nobody sees the end of.
type slots struct {
	running chan struct{}
	waiting atomic.Int64
	queue   int64
}

func newSlots(workers, queue int) *slots {
	return &slots{running: make(chan struct{}, workers), queue: int64(queue)}
}

// do runs f in a slot. It gives errBusy where too many wait, or the context's
// cause where it ends first.
func (s *slots) do(ctx context.Context, f func() error) error { return s.run(ctx, s.queue, f) }

// finish is do for the last step of something computed already: it is not refused,
// since that would throw the work away. How many wait is bounded by the requests.
func (s *slots) finish(ctx context.Context, f func() error) error {
	return s.run(ctx, math.MaxInt64, f)
}

func (s *slots) run(ctx context.Context, queue int64, f func() error) error {
	select {
	case s.running <- struct{}{}:
	default:
		if err := s.wait(ctx, queue); err != nil {
			return err
		}
	}
	defer func() { <-s.running }()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f()
}

func (s *slots) wait(ctx context.Context, queue int64) error {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > queue {
		return errBusy
	}
	select {
	case s.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
