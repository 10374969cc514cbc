package gotrace

import (
	"slices"

	xtrace "golang.org/x/exp/trace"
)

// A herd finds the goroutines that live by their ids. Ids are given in order, so
// those that live at one time rarely share a place of near: most goroutines are born
// and end there, and only the others are in the map.
type herd struct {
	near [herdSize]*goroutine
	far  map[xtrace.GoID]*goroutine
}

const herdSize = 1 << 12

func (h *herd) at(id xtrace.GoID) **goroutine { return &h.near[uint64(id)%herdSize] }

// get returns a goroutine that lives; nil for others.
func (h *herd) get(id xtrace.GoID) *goroutine {
	if g := *h.at(id); g != nil && g.id == id {
		return g
	}
	if len(h.far) == 0 {
		return nil
	}
	return h.far[id]
}

// put adds one that is not there.
func (h *herd) put(g *goroutine) {
	if place := h.at(g.id); *place == nil {
		*place = g
		return
	}
	if h.far == nil {
		h.far = map[xtrace.GoID]*goroutine{}
	}
	h.far[g.id] = g
}

// remove takes out one that is there.
func (h *herd) remove(g *goroutine) {
	if place := h.at(g.id); *place == g {
		*place = nil
		return
	}
	delete(h.far, g.id)
}

// all returns those that live, by id.
func (h *herd) all() (list []*goroutine) {
	for _, g := range h.near {
		if g != nil {
			list = append(list, g)
		}
	}
	for _, g := range h.far {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *goroutine) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

// find returns a goroutine that lives, or one that was not seen before.
func (c *actors) find(id xtrace.GoID) *goroutine {
	g := c.g.get(id)
	if g == nil {
		g = c.newGoroutine(id)
		c.g.put(g)
	}
	return g
}

// running returns the goroutine that an event happened on; nil for none.
func (c *actors) running(id xtrace.GoID) *goroutine {
	if id == xtrace.NoGoroutine {
		return nil
	}
	return c.g.get(id)
}

// forget takes out a goroutine that has ended.
func (c *actors) forget(g *goroutine) {
	c.g.remove(g)
	if g.held == 0 {
		c.spare = append(c.spare, g)
	}
}
