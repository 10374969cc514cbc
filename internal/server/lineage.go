package server

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A lineage states which location or region of a live run is the same as one of an earlier
// state: ids follow the order of the tree, so that they move when others come or go.
// Locations are known by their paths, regions by name and category.
type lineage struct {
	mu        sync.Mutex
	locations identities
	regions   identities
	states    []ancestor // the newest last
}

// An ancestor holds the ids of an earlier state.
type ancestor struct {
	generation         uint64
	locations, regions []int32
}

// mostAncestors bounds how far back a page may have looked last.
const mostAncestors = 16

// identities number names for good.
type identities map[string]int32

func (n *identities) of(name string) int32 {
	if *n == nil {
		*n = identities{}
	}
	id, ok := (*n)[name]
	if !ok {
		id = int32(len(*n))
		(*n)[name] = id
	}
	return id
}

// mostNames bounds the numbers of one run; beyond, old ids are forgotten and begin anew.
const mostNames = 1 << 20

// add takes the ids of a new state.
func (l *lineage) add(r store.Reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.locations)+len(l.regions) > mostNames {
		l.locations, l.regions, l.states = nil, nil, nil
	}
	t, g := r.Locations(), r.Regions()
	a := ancestor{generation: r.Generation(), locations: make([]int32, t.Len()), regions: make([]int32, len(g))}
	for id := range a.locations {
		a.locations[id] = l.locations.of(t.Path(trace.LocationID(id)))
	}
	for id := range g {
		a.regions[id] = l.regions.of(g[id].Category + "\x00" + g[id].Name)
	}
	l.states = append(l.states, a)
	if len(l.states) > mostAncestors {
		l.states = l.states[1:]
	}
}

// since returns functions from the ids of one generation to those of another; ok is false if either is not known any
// more.
func (l *lineage) since(from, to uint64) (locations, regions func(int32) int32, ok bool) {
	if l == nil {
		return nil, nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var a, b *ancestor
	for i := range l.states {
		if l.states[i].generation == from {
			a = &l.states[i]
		}
		if l.states[i].generation == to {
			b = &l.states[i]
		}
	}
	if a == nil || b == nil {
		return nil, nil, false
	}
	return translate(a.locations, b.locations), translate(a.regions, b.regions), true
}

// translate returns the new id of an old one, or -1.
func translate(before, after []int32) func(int32) int32 {
	now := make(map[int32]int32, len(after))
	for id, n := range after {
		if _, there := now[n]; !there {
			now[n] = int32(id)
		}
	}
	return func(id int32) int32 {
		if id < 0 || int(id) >= len(before) {
			return -1
		}
		if at, ok := now[before[id]]; ok {
			return at
		}
		return -1
	}
}
