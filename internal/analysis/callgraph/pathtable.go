package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A pathTable numbers call paths: path i is a call of Region[i] from path Parent[i], -1 at the top. Parents
// come before their callees. The zero table is empty.
type pathTable struct {
	Parent []int32
	Region []trace.RegionID
	// slots is a table with open addressing: a path + 1; 0: free. The paths themselves
	// are elsewhere, so that it stays small.
	slots []int32
}

func pathKey(parent int32, region trace.RegionID) uint64 {
	return uint64(uint32(parent+1))<<32 | uint64(uint32(region))
}

func (t *pathTable) reset() {
	t.Parent, t.Region = t.Parent[:0], t.Region[:0]
	clear(t.slots)
}

// is reports whether a path, -1 for none, is that of a call from another.
func (t *pathTable) is(path, parent int32, region trace.RegionID) bool {
	return path >= 0 && t.Parent[path] == parent && t.Region[path] == region
}

// child returns the path of a call from another, numbered anew where it is new.
func (t *pathTable) child(parent int32, region trace.RegionID) int32 {
	if 2*len(t.Parent) >= len(t.slots) {
		t.grow()
	}
	key := pathKey(parent, region)
	mask := uint64(len(t.slots) - 1)
	for h := hash(key) >> 16; ; h++ {
		id := t.slots[h&mask] - 1
		if id < 0 {
			id = int32(len(t.Parent))
			t.Parent, t.Region = append(t.Parent, parent), append(t.Region, region)
			t.slots[h&mask] = id + 1
			return id
		}
		if t.Region[id] == region && t.Parent[id] == parent {
			return id
		}
	}
}

func (t *pathTable) grow() {
	t.slots = make([]int32, max(64, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for id := range t.Parent {
		key := pathKey(t.Parent[id], t.Region[id])
		h := hash(key) >> 16
		for t.slots[h&mask] > 0 {
			h++
		}
		t.slots[h&mask] = int32(id + 1)
	}
}
