package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A pathTable numbers call paths: path i is a call of Region[i] from path Parent[i],
// -1 at the top. Parents come before what they call. The zero table is empty.
type pathTable struct {
	Parent []int32
	Region []trace.RegionID
	slots  []pathSlot // open addressing
}

type pathSlot struct {
	key uint64
	id  int32 // + 1; 0: free
}

func pathKey(parent int32, region trace.RegionID) uint64 {
	return uint64(uint32(parent+1))<<32 | uint64(uint32(region))
}

func (t *pathTable) reset() {
	t.Parent, t.Region = t.Parent[:0], t.Region[:0]
	clear(t.slots)
}

// child gives the path of a call from another, numbered anew where it is new.
func (t *pathTable) child(parent int32, region trace.RegionID) int32 {
	if 2*len(t.Parent) >= len(t.slots) {
		t.grow()
	}
	key := pathKey(parent, region)
	mask := uint64(len(t.slots) - 1)
	for h := hash(key) >> 16; ; h++ {
		s := &t.slots[h&mask]
		if s.key == key && s.id > 0 {
			return s.id - 1
		}
		if s.id == 0 {
			id := int32(len(t.Parent))
			t.Parent, t.Region = append(t.Parent, parent), append(t.Region, region)
			*s = pathSlot{key, id + 1}
			return id
		}
	}
}

func (t *pathTable) grow() {
	t.slots = make([]pathSlot, max(64, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for id := range t.Parent {
		key := pathKey(t.Parent[id], t.Region[id])
		h := hash(key) >> 16
		for t.slots[h&mask].id > 0 {
			h++
		}
		t.slots[h&mask] = pathSlot{key, int32(id + 1)}
	}
}
