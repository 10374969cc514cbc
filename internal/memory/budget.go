// Package memory is the one budget of a program. Kept values count in it and are dropped when room is needed;
// computations are watched, and stopped if the budget cannot be kept otherwise. It handles bytes, not their meaning.
package memory

import "sync"

// A Budget bounds the memory of a program. Half of it may be kept for later; the other half is for computations. A
// nil Budget bounds nothing and keeps nothing.
type Budget struct {
	most int64

	mu    sync.Mutex
	used  int64
	clock int64
	held  map[*Held]bool

	working
}

// A Held is something kept, until it is dropped to make room or released by its owner.
type Held struct {
	budget *Budget
	drop   func()
	on     []*Held // values it is a part of: it goes with any of them

	// Guarded by the budget.
	size int64
	used int64 // when it was asked for last
}

// New makes a budget of so many bytes.
func New(most int64) *Budget { return &Budget{most: most, held: map[*Held]bool{}} }

// NewUnwatched returns a budget for a part of a program. It bounds the values kept there and never stops work,
// since the memory in use by the whole program says nothing of the part.
func NewUnwatched(most int64) *Budget {
	b := New(most)
	b.measured = func() use { return use{} }
	return b
}

// Most returns the whole budget in bytes; 0 if there is none.
func (b *Budget) Most() int64 {
	if b == nil {
		return 0
	}
	return b.most
}

// Kept is the number of bytes that are kept, and how many may be.
func (b *Budget) Kept() (used, most int64) {
	if b == nil {
		return 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.most / 2
}

// Hold counts a kept value. The values used longest ago are dropped until the rest fits, never the newest: drop is
// called once, with no lock of ours held. A value that refers to others without counting them again names them in
// on, and is dropped with them.
func (b *Budget) Hold(size int64, drop func(), on ...*Held) *Held {
	h := &Held{budget: b, drop: drop, on: on, size: size}
	b.mu.Lock()
	b.clock++
	h.used = b.clock
	b.held[h] = true
	b.used += size
	gone := b.makeRoom(h)
	for _, o := range on {
		if !b.held[o] && b.held[h] { // it went while this was made
			gone = append(gone, b.forget(h)...)
		}
	}
	b.mu.Unlock()
	dropAll(gone)
	return h
}

// Size is how many bytes it counts for.
func (h *Held) Size() int64 {
	if h == nil {
		return 0
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	return h.size
}

// Touch marks the value as used now.
func (h *Held) Touch() {
	if h == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.budget.clock++
	h.used = h.budget.clock
	for _, o := range h.on {
		o.used = h.budget.clock
	}
}

// Grow counts additional bytes.
func (h *Held) Grow(bytes int64) {
	if h == nil {
		return
	}
	b := h.budget
	b.mu.Lock()
	var gone []*Held
	if b.held[h] {
		h.size += bytes
		b.used += bytes
		gone = b.makeRoom(h)
	}
	b.mu.Unlock()
	dropAll(gone)
}

// Release is for the owner that no longer needs the value; drop is not called.
func (h *Held) Release() {
	if h == nil {
		return
	}
	h.budget.mu.Lock()
	h.drop = nil
	gone := h.budget.forget(h)
	h.budget.mu.Unlock()
	dropAll(gone)
}

// DropAll frees all that is kept.
func (b *Budget) DropAll() { b.Shrink(0) }

// Shrink drops the oldest until at most so many bytes are kept.
func (b *Budget) Shrink(most int64) {
	b.mu.Lock()
	gone := b.fit(max(most, 0), nil)
	b.mu.Unlock()
	dropAll(gone)
}

// makeRoom forgets the oldest, except the newest and the values it is a part of; b.mu is held.
func (b *Budget) makeRoom(newest *Held) []*Held { return b.fit(b.most/2, newest) }

// fit forgets the oldest until no more than most are kept, but not the newest; b.mu is held.
func (b *Budget) fit(most int64, newest *Held) (gone []*Held) {
	for b.used > most {
		var oldest *Held
		for h := range b.held {
			if h != newest && (newest == nil || !partOf(newest, h)) && (oldest == nil || h.used < oldest.used) {
				oldest = h
			}
		}
		if oldest == nil {
			return gone
		}
		gone = append(gone, b.forget(oldest)...)
	}
	return gone
}

func partOf(h, whole *Held) bool {
	for _, o := range h.on {
		if o == whole {
			return true
		}
	}
	return false
}

// forget removes a value and all that are part of it from the count; b.mu is held.
func (b *Budget) forget(h *Held) []*Held {
	if !b.held[h] {
		return nil
	}
	delete(b.held, h)
	b.used -= h.size
	gone := []*Held{h}
	for other := range b.held {
		if partOf(other, h) {
			gone = append(gone, b.forget(other)...)
		}
	}
	return gone
}

func dropAll(gone []*Held) {
	for _, h := range gone {
		if h.drop != nil {
			h.drop()
		}
	}
}
