package write

import "strings"

// arenaBlock is how much an arena allocates at a time.
const arenaBlock = 1 << 16

// An arena keeps copies of many short strings in few blocks of memory: a million
// small objects would cost their rounding up and the collector's time.
type arena struct{ block strings.Builder }

// keep copies a string.
func (a *arena) keep(s string) string {
	if len(s) > arenaBlock/16 {
		return strings.Clone(s)
	}
	if a.block.Cap()-a.block.Len() < len(s) {
		a.block.Reset()
		a.block.Grow(arenaBlock)
	}
	at := a.block.Len()
	a.block.WriteString(s)
	return a.block.String()[at:]
}

// An IdTable finds numbers by the hash of their keys, which are stored elsewhere: 8 bytes for each slot, of which a
// quarter to five eighths are free. A map that holds the strings takes several times as much for each of a million
// definitions.
type IdTable struct {
	slots []idSlot // open addressing; length 0 or a power of two
	count int
}

type idSlot struct{ hash, next uint32 } // next is the number plus one, 0 for a free slot

// Find returns the number that has this hash and is the same; O(1).
func (t *IdTable) Find(hash uint32, same func(id uint32) bool) (uint32, bool) {
	if t.count == 0 {
		return 0, false
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.next == 0 {
			return 0, false
		}
		if s.hash == hash && same(s.next-1) {
			return s.next - 1, true
		}
	}
}

// Add puts in a number that find did not give.
func (t *IdTable) Add(hash, id uint32) {
	if 4*(t.count+1) > 3*len(t.slots) {
		old := t.slots
		t.slots = make([]idSlot, max(2*len(old), 16))
		for _, s := range old {
			if s.next != 0 {
				t.put(s)
			}
		}
	}
	t.put(idSlot{hash, id + 1})
	t.count++
}

func (t *IdTable) put(s idSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].next != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}
