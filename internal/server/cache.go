package server

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A cache stores computed results by their request and joins equal requests in flight. It stops a computation when no
// request waits for it any more. The least recently used entry is dropped first.
type cache struct {
	base       context.Context
	work       *sync.WaitGroup
	maxResults int
	budget     *memory.Budget // counts stored results, with those of views

	mu      sync.Mutex
	entries map[string]*entry
	order   *list.List // of finished entries, the one used last at the front
}

// An entry is one computation and its value. T is not a parameter because one
// budget serves all kinds of values.
type entry struct {
	key    string
	runs   []*run // its input; kept open until it is done
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are set
	value  any
	err    error

	// Guarded by the cache.
	waiters int
	place   *list.Element
	held    *memory.Held
}

// A made value has its size in memory, and the part of it that is counted elsewhere.
type made struct {
	value any
	bytes int64
	on    []*memory.Held
}

func newCache(base context.Context, work *sync.WaitGroup, results int, budget *memory.Budget) *cache {
	return &cache{base: base, work: work, maxResults: results, budget: budget, entries: map[string]*entry{},
		order: list.New()}
}

// get returns the value of key, computing it where needed.
func (c *cache) get(ctx context.Context, key string, runs []*run, compute func(context.Context) (made, error)) (*entry,
	error) {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		if c.base.Err() != nil {
			c.mu.Unlock()
			return nil, context.Cause(c.base)
		}
		e = c.start(key, runs, compute)
	} else if e.place != nil {
		c.order.MoveToFront(e.place)
		e.held.Touch()
	}
	e.waiters++
	c.mu.Unlock()
	defer c.leave(e)
	select {
	case <-e.done:
		return e, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// start begins a computation; c.mu is held.
func (c *cache) start(key string, runs []*run, compute func(context.Context) (made, error)) *entry {
	ctx, cancel := context.WithCancel(c.base)
	e := &entry{key: key, runs: runs, cancel: cancel, done: make(chan struct{})}
	c.entries[key] = e
	for _, x := range runs {
		x.retain()
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		defer cancel()
		defer func() {
			for _, x := range runs {
				x.release()
			}
		}()
		m, err := bounded(ctx, c.budget.Work, compute)
		var much *memory.Exceeded
		if errors.As(err, &much) && much.Beside { // other computations may have taken too much
			m, err = bounded(ctx, c.budget.WorkAlone, compute)
		}
		c.finish(e, m, err)
	}()
	return e
}

// bounded computes in a context that ends if there is no memory left.
func bounded(ctx context.Context, work func(context.Context) (context.Context, func()),
	compute func(context.Context) (made, error)) (made, error) {
	ctx, done := work(ctx)
	defer done()
	m, err := compute(ctx)
	var much *memory.Exceeded
	if errors.As(context.Cause(ctx), &much) {
		return made{}, much
	}
	return m, err
}

// finish keeps a value, and an empty selection, which is an answer too; other
// errors are forgotten so that asking again tries again.
func (c *cache) finish(e *entry, m made, err error) {
	c.mu.Lock()
	e.value, e.err = m.value, err
	close(e.done)
	var empty *view.EmptyError
	if err != nil && !errors.As(err, &empty) && c.entries[e.key] == e {
		delete(c.entries, e.key)
	}
	wanted := c.entries[e.key] == e // else it was removed while it was computed
	if wanted {
		e.place = c.order.PushFront(e)
		for c.order.Len() > c.maxResults {
			c.remove(c.order.Back().Value.(*entry))
		}
	}
	c.mu.Unlock()
	if wanted {
		c.hold(e, m)
	}
}

// hold counts the bytes of an entry. The caller must not hold c.mu: the budget may drop entries of this cache to make
// room.
func (c *cache) hold(e *entry, m made) {
	held := c.budget.Hold(m.bytes+int64(len(e.key)), func() { // a key may name ten thousand locations
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.entries[e.key] == e {
			c.remove(e)
		}
	}, m.on...)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[e.key] != e {
		held.Release()
		return
	}
	e.held = held
}

// grow counts further bytes of an entry.
func (c *cache) grow(e *entry, bytes int64) {
	c.mu.Lock()
	held := e.held
	c.mu.Unlock()
	held.Grow(bytes)
}

// remove forgets an entry; c.mu is held.
func (c *cache) remove(e *entry) {
	delete(c.entries, e.key)
	e.held.Release()
	if e.place != nil {
		c.order.Remove(e.place)
		e.place = nil
	}
}

// leave ends a computation when no request waits for it.
func (c *cache) leave(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.waiters--
	if e.waiters > 0 {
		return
	}
	select {
	case <-e.done:
	default:
		e.cancel()
		if c.entries[e.key] == e {
			delete(c.entries, e.key)
		}
	}
}

// drop forgets everything about a run and stops computations on it.
func (c *cache) drop(x *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if slices.Contains(e.runs, x) {
			e.cancel()
			c.remove(e)
		}
	}
}

// forget drops the stored results of a run. Computations in flight go on for the requests that wait, and their results
// are not stored.
func (c *cache) forget(x *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if slices.Contains(e.runs, x) {
			c.remove(e)
		}
	}
}
