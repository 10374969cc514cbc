package parallel

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Ordered runs produce for 0 … n-1 on several workers and consume for each result, in order, one at a time. At most
// a few results wait at once, so memory is bounded by theirs. newWorker makes the state that a worker keeps between
// results.
func Ordered[W, T any](ctx context.Context, n, workers int, newWorker func() W,
	produce func(context.Context, W, int) (T, error), consume func(T) error) error {
	var (
		next atomic.Int64 // to be produced

		mu        sync.Mutex
		turn      int // to be consumed
		waiting   = map[int]T{}
		consuming bool

		slots = make(chan struct{}, 2*workers)
	)
	// deliver consumes the results that are due, for all: a worker that comes meanwhile leaves its result there and
	// goes on. After an error none is consumed.
	deliver := func(i int, result T) error {
		mu.Lock()
		defer mu.Unlock()
		waiting[i] = result
		if consuming {
			return nil
		}
		consuming = true
		for {
			r, ok := waiting[turn]
			if !ok {
				consuming = false
				return nil
			}
			delete(waiting, turn)
			turn++
			if err := unlocked(&mu, func() error { return consume(r) }); err != nil {
				return err
			}
			<-slots
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	var caught Caught
	work := func() error {
		w := newWorker()
		for {
			// The slot comes before the number: the worker with the lowest number is at work, so that slots come
			// free.
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			i := int(next.Add(1)) - 1
			if i >= n {
				<-slots
				return nil
			}
			r, err := produce(ctx, w, i)
			if err != nil {
				return err
			}
			if err := deliver(i, r); err != nil {
				return err
			}
		}
	}
	for range min(workers, n) {
		g.Go(func() error { return caught.Do(work) })
	}
	err := g.Wait()
	caught.Pass()
	return err
}

// unlocked runs f without the lock, which is held again when it returns or panics.
func unlocked(mu *sync.Mutex, f func() error) error {
	mu.Unlock()
	defer mu.Lock()
	return f()
}
