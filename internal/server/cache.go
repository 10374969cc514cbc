package server

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/view"
)

// A cache keeps what was computed by the request that asked for it, joins equal
// requests in flight, and stops a computation when nobody waits for it any more.
// What was used longest ago goes first.
type cache struct {
	base       context.Context
	work       *sync.WaitGroup
	maxResults int
	maxBytes   int64

	mu      sync.Mutex
	entries map[string]*entry
	order   *list.List // of finished entries, the one used last at the front
	bytes   int64
}

// An entry is one computation and its value. T is not a parameter because one
// budget serves all kinds of values.
type entry struct {
	key    string
	runs   []*run // what it is computed from; kept open until it is done
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are set
	value  any
	err    error

	// Guarded by the cache.
	waiters int
	place   *list.Element
	bytes   int64
}

func newCache(base context.Context, work *sync.WaitGroup, results int, bytes int64) *cache {
	return &cache{base: base, work: work, maxResults: results, maxBytes: bytes, entries: map[string]*entry{}, order: list.New()}
}

// get gives the value of key, computing it where needed. The size of the value
// is what compute says, in bytes.
func (c *cache) get(ctx context.Context, key string, runs []*run, compute func(context.Context) (any, int64, error)) (*entry, error) {
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
func (c *cache) start(key string, runs []*run, compute func(context.Context) (any, int64, error)) *entry {
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
		value, bytes, err := compute(ctx)
		c.finish(e, value, bytes, err)
	}()
	return e
}

// finish keeps a value, and an empty selection, which is an answer too; other
// errors are forgotten so that asking again tries again.
func (c *cache) finish(e *entry, value any, bytes int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.value, e.err = value, err
	close(e.done)
	if c.entries[e.key] != e {
		return // removed while it was computed
	}
	var empty *view.EmptyError
	if err != nil && !errors.As(err, &empty) {
		delete(c.entries, e.key)
		return
	}
	e.bytes, e.place = bytes+int64(len(e.key)), c.order.PushFront(e) // a key may name ten thousand locations
	c.bytes += e.bytes
	c.evict()
}

// grow counts what an entry has taken in addition.
func (c *cache) grow(e *entry, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.place != nil {
		e.bytes += bytes
		c.bytes += bytes
		c.evict()
	}
}

func (c *cache) evict() {
	for c.order.Len() > c.maxResults || c.bytes > c.maxBytes && c.order.Len() > 1 {
		c.remove(c.order.Back().Value.(*entry))
	}
}

func (c *cache) remove(e *entry) {
	delete(c.entries, e.key)
	if e.place != nil {
		c.order.Remove(e.place)
		c.bytes -= e.bytes
		e.place = nil
	}
}

// leave ends a computation that nobody waits for.
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

// drop forgets everything about a run and stops what is being computed from it.
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
