package view

import (
	"context"
	"reflect"
	"sync"

	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
)

// A Cache holds what views computed of one open run and may need again with other
// options: a tree that is painted anew, an index for the next window. It belongs to
// whoever opened the run, and is closed with it. A nil Cache keeps nothing.
type Cache struct {
	budget *memory.Budget

	mu      sync.Mutex
	entries map[string]*kept
	closed  bool
}

type kept struct {
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
	return &Cache{budget: b, entries: map[string]*kept{}}
}

// Work gives a context for a computation about the run, within the budget; done must be
// called.
func (c *Cache) Work(ctx context.Context) (within context.Context, done func()) {
	if c == nil {
		return ctx, func() {}
	}
	return c.budget.Work(ctx)
}

// Close frees what is kept of a run.
func (c *Cache) Close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.closed = true
	entries := c.entries
	c.entries = map[string]*kept{}
	c.mu.Unlock()
	for _, e := range entries {
		e.held.Release()
	}
}

// Keep gives what a cache holds under a name, or makes it. Who asks for it meanwhile
// waits. Names begin with that of the view.
func Keep[V any](c *Cache, what string, bytes func(V) int64, make func() (V, error)) (V, error) {
	if c == nil {
		return make()
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
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[what]
	return e != nil && e.held != nil
}

func (c *Cache) entry(what string) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[what]
	if e == nil {
		e = &kept{}
		c.entries[what] = e
	}
	e.held.Touch()
	return e
}

// hold counts what was made.
func (c *Cache) hold(what string, e *kept, size int64) {
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

func (c *Cache) has(what string, e *kept) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		delete(c.entries, what)
	}
	return !c.closed && c.entries[what] == e
}

// shared is where what is kept lies.
func (c *Cache) shared(add func(at uintptr, h *memory.Held)) {
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

var (
	readerType = reflect.TypeFor[store.Reader]()
	cacheType  = reflect.TypeFor[*Cache]()
	viewType   = reflect.TypeFor[*View]()
)

// HeldBy is how many bytes a result holds on to beside its runs, and what it shares with
// the caches of these: that is counted there, and when it goes, the result must go too.
func HeldBy(q *Request, r Result) (bytes int64, on []*memory.Held) {
	s := memory.Sizer{
		Shared: map[uintptr]*memory.Held{},
		Stop: func(t reflect.Type) bool {
			return t == cacheType || t == viewType || t.Implements(readerType)
		},
	}
	for _, run := range q.Runs {
		if run.Store != nil {
			s.Ignore(run.Store.Locations(), run.Store.Regions(), run.Store.Counters())
		}
		run.Cache.shared(func(at uintptr, h *memory.Held) { s.Shared[at] = h })
	}
	bytes = s.Of(r)
	return bytes, s.Found
}

// A Lister is a result that knows how many rows its table has before it makes it: whoever
// asks can tell whether there is memory for them. One that does not is taken to be written
// out at some times its own size.
type Lister interface{ Rows() int }

// rowBytes is about what a row of a table takes while it is made.
const rowBytes = 640

// ToList is about how many bytes making the table of a result takes, which writes out what
// the result holds in short; held is how many that are.
func ToList(r Result, held int64) int64 {
	if l, ok := r.(Lister); ok {
		return int64(l.Rows()) * rowBytes
	}
	return 4 * held
}

// ToStream is ToList of the JSON twin as it is written, which is never one text.
func ToStream(r Result, held int64) int64 { return ToList(r, held) / 2 }

// ToTell is ToList of the JSON twin as one text, which is copied as it grows.
func ToTell(r Result, held int64) int64 {
	if l, ok := r.(Lister); ok {
		return int64(l.Rows()) * rowBytes * 2
	}
	return 6 * held
}
