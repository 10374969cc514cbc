package derived

import (
	"context"
	"reflect"
	"sync"

	"github.com/parallax-hpc/parallax/internal/memory"
)

// A Cache holds results of one open run in memory that may be needed again with other options: a tree that is drawn
// again, an index for the next window. It belongs to the opener of the run, and is closed with it. A nil Cache keeps
// nothing.
type Cache struct {
	budget *memory.Budget

	mu      sync.Mutex
	entries map[string]*entry
	closed  bool

	// of is the cache that a part of it belongs to, and name the prefix of its results' names there.
	of   *Cache
	name string
}

// Part returns a part of a cache, for results of the same run seen in another way.
func (c *Cache) Part(name string) *Cache {
	if c == nil {
		return nil
	}
	return &Cache{budget: c.budget, of: c, name: name + " "}
}

type entry struct {
	making sync.Mutex // held while it is made
	made   bool
	value  any
	held   *memory.Held // guarded by the cache; nil until it is made
}

// NewCache makes the cache of a run; that of no budget is nil.
func NewCache(b *memory.Budget) *Cache {
	if b == nil {
		return nil
	}
	return &Cache{budget: b, entries: map[string]*entry{}}
}

// Work returns a context for a computation about the run, within the budget; done must be
// called.
func (c *Cache) Work(ctx context.Context) (within context.Context, done func()) {
	if c == nil {
		return ctx, func() {}
	}
	return c.budget.Work(ctx)
}

// Close frees the results of a run.
func (c *Cache) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	entries := c.entries
	c.entries = map[string]*entry{}
	c.mu.Unlock()
	for _, e := range entries {
		e.held.Release()
	}
}

// Keep returns the result that a cache holds under a name, or makes it. Callers that ask for it meanwhile wait. It is
// for results of a part of a run, whose name says which part and begins with that of the view; those of a whole run
// are a Derived.
func Keep[V any](c *Cache, what string, bytes func(V) int64, make func() (V, error)) (V, error) {
	if c == nil {
		return make()
	}
	if c.of != nil {
		return Keep(c.of, c.name+what, bytes, make)
	}
	e := c.entry(what)
	e.making.Lock()
	defer e.making.Unlock()
	if e.made {
		return e.value.(V), nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	e.value, e.made = v, true
	c.hold(what, e, bytes(v))
	return v, nil
}

// Holds reports whether something was made and is still there.
func (c *Cache) Holds(what string) bool {
	if c == nil {
		return false
	}
	if c.of != nil {
		return c.of.Holds(c.name + what)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[what]
	return e != nil && e.held != nil
}

func (c *Cache) entry(what string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[what]
	if e == nil {
		e = &entry{}
		c.entries[what] = e
	}
	e.held.Touch()
	return e
}

// hold counts a new result.
func (c *Cache) hold(what string, e *entry, size int64) {
	if !c.has(what, e) {
		return // it was closed while it was made
	}
	held := c.budget.Hold(size, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.entries[what] == e {
			delete(c.entries, what)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[what] != e {
		held.Release()
		return
	}
	e.held = held
}

func (c *Cache) has(what string, e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		delete(c.entries, what)
	}
	return !c.closed && c.entries[what] == e
}

// Shared reports the addresses of results, so that they are not counted twice.
func (c *Cache) Shared(add func(at uintptr, h *memory.Held)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if e.held == nil {
			continue
		}
		if v := reflect.ValueOf(e.value); v.Kind() == reflect.Pointer {
			add(v.Pointer(), e.held)
		}
	}
}
