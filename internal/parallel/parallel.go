// Package parallel shares work among the cores that are there.
//
// No other package reads or sets a number of cores, and results never depend on it.
package parallel

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Workers is how many goroutines keep the machine busy: one for each core that Go may use.
func Workers() int { return runtime.GOMAXPROCS(0) }

// For calls f for 0 … n-1, in no order and several at a time, until ctx ends.
func For(ctx context.Context, n int, f func(i int)) error {
	workers := min(Workers(), n)
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	if workers <= 1 {
		work()
		return ctx.Err()
	}
	var wait sync.WaitGroup
	var caught Caught
	for range workers {
		wait.Go(func() { _ = caught.Do(func() error { work(); return nil }) })
	}
	wait.Wait()
	caught.Pass()
	return ctx.Err()
}

// Ranges calls f for the pieces of 0 … n-1 that have size numbers each, the last one
// fewer: for work so small that asking for every number would cost more than doing it.
func Ranges(ctx context.Context, n, size int, f func(from, to int)) error {
	return For(ctx, (n+size-1)/size, func(k int) { f(k*size, min((k+1)*size, n)) })
}

// Each is For with a value that belongs to one goroutine, such as buffers to use
// again. The first error ends it.
func Each[W any](ctx context.Context, n int, newWorker func() W, f func(ctx context.Context, w W, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	var caught Caught
	work := func() error {
		w := newWorker()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(ctx, w, i); err != nil {
				return err
			}
		}
		return nil
	}
	for range min(Workers(), n) {
		g.Go(func() error { return caught.Do(work) })
	}
	err := g.Wait()
	caught.Pass()
	return err
}

// Tasks calls f for 0 … n-1, several at a time. An error ends those with higher numbers; of several errors it returns
// that of the lowest number, whichever came first.
func Tasks(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	var mu sync.Mutex
	var failed error
	first, running := n, map[int]context.CancelFunc{}
	err := For(ctx, n, func(i int) {
		own, stop := context.WithCancel(ctx)
		defer stop()
		mu.Lock()
		if i > first {
			mu.Unlock()
			return
		}
		running[i] = stop
		mu.Unlock()
		err := f(own, i)
		mu.Lock()
		defer mu.Unlock()
		delete(running, i)
		if err == nil || i > first {
			return
		}
		first, failed = i, err
		for k, stop := range running {
			if k > i {
				stop()
			}
		}
	})
	return cmp.Or(failed, err)
}
