package runfacts

import (
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// Blocks are parts of a list of locations that are compared where likeness distinguishes none: machines or clusters
// of the tree, or runs of neighbours.
type Blocks struct {
	Of      []int32   // of each location: its block
	Members [][]int32 // of each block: places in the list, ascending
	Names   []string
	Level   bool // they are places of the tree, not runs of neighbours
}

// MakeBlocks cuts locations into two to most blocks: those of the deepest level of the
// tree with no more than that, or else equal runs of a power of two. O(locations × levels).
func MakeBlocks(t *store.Tree, ids []trace.LocationID, names []string, most int) *Blocks {
	if b := levelBlocks(t, ids, most); b != nil {
		return b
	}
	size := (len(ids) + most - 1) / max(most, 1)
	size = max(1, 1<<bits.Len(uint(max(size-1, 0))))
	b := &Blocks{Of: make([]int32, len(ids))}
	for i := range ids {
		k := i / size
		if k == len(b.Members) {
			b.Members = append(b.Members, nil)
		}
		b.Members[k] = append(b.Members[k], int32(i))
		b.Of[i] = int32(k)
	}
	for _, m := range b.Members {
		name := words.NameList(names, m, 3)
		if first, last := names[m[0]], names[m[len(m)-1]]; len(m) > 2 &&
			len([]rune(name)) > len([]rune(first))+len([]rune(last))+3 {
			name = first + " – " + last
		}
		b.Names = append(b.Names, name)
	}
	return b
}

// levelBlocks takes the nodes of a level; nil if no level has two to limit of them.
func levelBlocks(t *store.Tree, ids []trace.LocationID, limit int) (best *Blocks) {
	deepest := int32(0)
	for _, id := range ids {
		deepest = max(deepest, int32(t.Level[id]))
	}
	for level := range deepest {
		at := map[trace.LocationID]int32{}
		b := &Blocks{Level: true, Of: make([]int32, len(ids))}
		var nodes []trace.LocationID
		for i, id := range ids {
			for int32(t.Level[id]) > level {
				id = t.Parent[id]
			}
			k, ok := at[id]
			if !ok {
				if k = int32(len(nodes)); int(k) == limit {
					return best
				}
				at[id] = k
				nodes = append(nodes, id)
				b.Members = append(b.Members, nil)
			}
			b.Of[i] = k
			b.Members[k] = append(b.Members[k], int32(i))
		}
		most := 0
		for _, m := range b.Members {
			most = max(most, len(m))
		}
		if len(nodes) < 2 || 4*most > 3*len(ids) { // one place that holds nearly all compares nothing
			continue
		}
		b.Names = ShortNames(t, nodes)
		best = b
	}
	return best
}
