package parallel

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Ordered runs produce for 0 … n-1 on several workers and consume for each
// result, in order, one at a time. At most a few results wait at once, so memory
// is bounded by theirs. newWorker makes what a worker keeps between results.
func Ordered[W, T any](ctx context.Context, n, workers int, newWorker func() W, produce func(context.Context, W, int) (T, error), consume func(T) error) error {
	var (
		mu      sync.Mutex
		next    int // to be produced
		turn    int // to be consumed
		waiting = map[int]T{}
		slots   = make(chan struct{}, 2*workers)
	)
	// deliver consumes what is due. Whoever holds the lock does it for all.
	deliver := func(i int, result T) error {
		mu.Lock()
		defer mu.Unlock()
		waiting[i] = result
		for {
			r, ok := waiting[turn]
			if !ok {
				return nil
			}
			delete(waiting, turn)
			turn++
			if err := consume(r); err != nil {
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
			// The slot comes before the number: whoever has the lowest number
			// is at work, so that slots come free.
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			mu.Lock()
			i := next
			next++
			mu.Unlock()
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
