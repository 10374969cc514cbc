package disk

import (
	"context"
	"sync"
)

// asking are the queries under way. Blocks are fetched for all of them together, so that a request ends early only
// when all of them have been cancelled.
type asking struct {
	mu      sync.Mutex
	queries map[*context.Context]struct{}
	ctx     context.Context // of requests; nil before any, and after all were cancelled
	cancel  context.CancelFunc
}

// While says that a query is under way until the function that it gives is called. Nil: the store is on this machine.
func (f *Fetcher) While(ctx context.Context) (end func()) {
	if f == nil {
		return func() {}
	}
	a, key := &f.asking, &ctx
	a.mu.Lock()
	if a.queries == nil {
		a.queries = map[*context.Context]struct{}{}
	}
	a.queries[key] = struct{}{}
	a.mu.Unlock()
	stop := context.AfterFunc(ctx, a.cancelled)
	return func() {
		stop()
		a.mu.Lock()
		delete(a.queries, key)
		a.mu.Unlock()
	}
}

// cancelled ends requests where no query is left that was not cancelled.
func (a *asking) cancelled() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil && (len(a.queries) == 0 || a.gone() != nil) {
		a.cancel()
		a.ctx, a.cancel = nil, nil
	}
}

// gone returns the context of a query where all that are under way were cancelled, nil where one was not or there is
// none.
func (a *asking) gone() (ctx context.Context) {
	for q := range a.queries {
		if ctx = *q; ctx.Err() == nil {
			return nil
		}
	}
	return ctx
}

// context returns the context of requests. A request that begins after all its queries were cancelled cannot be
// cancelled.
func (a *asking) context() context.Context {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx := a.gone(); ctx != nil {
		return ctx
	}
	if a.ctx == nil {
		a.ctx, a.cancel = context.WithCancel(context.Background())
	}
	return a.ctx
}
