package view

import (
	"runtime"
	"sync"
	"weak"

	"github.com/parallax-hpc/parallax/internal/store"
)

// A Keep holds what a view computed of runs and may need again with other options:
// a tree that is painted anew, an index for the next window. What was used least
// recently goes when there is no room; closing a run frees what was kept of it.
type Keep[V any] struct {
	most  int64
	bytes func(V) int64

	mu      sync.Mutex
	entries map[keepKey]*kept[V]
	clock   int64
}

// A keepKey names a run by its tree of locations, held weakly.
type keepKey struct {
	run  weak.Pointer[store.Tree]
	what string
}

type kept[V any] struct {
	mu    sync.Mutex // held while it is made
	made  bool
	value V
	size  int64 // 0 until it is made; guarded by the Keep
	used  int64
}

// NewKeep holds values of at most so many bytes together; one that is larger by
// itself is kept alone.
func NewKeep[V any](most int64, bytes func(V) int64) *Keep[V] {
	return &Keep[V]{most: most, bytes: bytes, entries: map[keepKey]*kept[V]{}}
}

// Get gives what is kept of a run, or makes it. Who asks for it meanwhile waits.
func (k *Keep[V]) Get(r store.Reader, what string, make func() (V, error)) (V, error) {
	e := k.entry(r.Locations(), what)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.made {
		return e.value, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	e.value, e.made = v, true
	k.trim(e, k.bytes(v))
	return v, nil
}

func (k *Keep[V]) entry(tree *store.Tree, what string) *kept[V] {
	key := keepKey{weak.Make(tree), what}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock++
	e := k.entries[key]
	if e == nil {
		e = &kept[V]{}
		k.entries[key] = e
		runtime.AddCleanup(tree, k.drop, key)
	}
	e.used = k.clock
	return e
}

func (k *Keep[V]) drop(key keepKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.entries, key)
}

// trim drops the oldest until the rest fits, never the newest.
func (k *Keep[V]) trim(newest *kept[V], size int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	newest.size = size
	for {
		total := int64(0)
		var oldest keepKey
		var found *kept[V]
		for key, e := range k.entries {
			total += e.size
			if e != newest && e.size > 0 && (found == nil || e.used < found.used) {
				oldest, found = key, e
			}
		}
		if total <= k.most || found == nil {
			return
		}
		delete(k.entries, oldest)
	}
}
