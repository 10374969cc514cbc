package view

import "sync"

// A Memory bounds what views keep of all open runs together: it is the one budget.
type Memory struct {
	most int64

	mu    sync.Mutex
	used  int64
	clock int64
	kept  map[*kept]bool
}

// A Cache holds what views computed of one open run and may need again with other
// options: a tree that is painted anew, an index for the next window. It belongs to
// whoever opened the run, and is closed with it. A nil Cache keeps nothing.
type Cache struct {
	memory  *Memory
	entries map[string]*kept // guarded by the memory, as all of a cache
	closed  bool
}

type kept struct {
	cache *Cache
	what  string
	size  int64 // 0 until it is made
	used  int64 // when it was asked for last

	making sync.Mutex // held while it is made
	made   bool
	value  any
}

// NewMemory makes a budget of so many bytes. What is larger by itself is kept alone.
func NewMemory(most int64) *Memory { return &Memory{most: most, kept: map[*kept]bool{}} }

// NewCache makes the cache of a run; that of no memory is nil.
func (m *Memory) NewCache() *Cache {
	if m == nil {
		return nil
	}
	return &Cache{memory: m, entries: map[string]*kept{}}
}

// Used is how many bytes are kept, and how many may be.
func (m *Memory) Used() (used, most int64) {
	if m == nil {
		return 0, 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.most
}

// Close frees what is kept of a run.
func (c *Cache) Close() {
	if c == nil {
		return
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.closed = true
	for _, e := range c.entries {
		c.memory.drop(e)
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
	c.memory.add(e, bytes(v))
	return v, nil
}

func (c *Cache) entry(what string) *kept {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.clock++
	e := c.entries[what]
	if e == nil {
		e = &kept{cache: c, what: what}
		c.entries[what] = e
	}
	e.used = c.memory.clock
	return e
}

// add counts what was made, and drops what was asked for least recently until the rest
// fits, never the newest.
func (m *Memory) add(newest *kept, size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newest.cache.closed || newest.cache.entries[newest.what] != newest {
		return // it was dropped while it was made
	}
	newest.size = size
	m.used += size
	m.kept[newest] = true
	for m.used > m.most && len(m.kept) > 1 {
		var oldest *kept
		for e := range m.kept {
			if e != newest && (oldest == nil || e.used < oldest.used) {
				oldest = e
			}
		}
		m.drop(oldest)
	}
}

func (m *Memory) drop(e *kept) {
	if m.kept[e] {
		delete(m.kept, e)
		m.used -= e.size
	}
	delete(e.cache.entries, e.what)
}
