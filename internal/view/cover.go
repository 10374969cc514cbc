package view

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostChosen bounds how many locations a fact names: they travel, and choosing the
// fact puts them into the page's address.
const mostChosen = 10000

// Cover names locations in fewer words: a location above stands for all below it
// where each of those that hold values is among ids, which are ascending. O(locations).
func Cover(t *store.Tree, holds []bool, ids []trace.LocationID) []trace.LocationID {
	if len(ids) < 2 {
		return ids
	}
	inside := make([]bool, t.Len())
	for _, id := range ids {
		inside[id] = true
	}
	// For each subtree: how many hold values, and how many of those are meant.
	all, meant := make([]int32, t.Len()), make([]int32, t.Len())
	for id := t.Len() - 1; id >= 0; id-- {
		if holds[id] {
			all[id]++
			if inside[id] {
				meant[id]++
			}
		}
		if p := t.Parent[id]; p != trace.NoLocation {
			all[p] += all[id]
			meant[p] += meant[id]
		}
	}
	out := []trace.LocationID{}
	for id := 0; id < t.Len(); id++ {
		if meant[id] == 0 {
			id = int(t.Last[id])
			continue
		}
		if meant[id] == all[id] {
			out = append(out, trace.LocationID(id))
			id = int(t.Last[id])
		}
	}
	return out
}

// SetLocations lets choosing a fact select locations, ascending. Too many are cut off,
// and the fact's text says so.
func (f *Fact) SetLocations(t *store.Tree, holds []bool, ids []trace.LocationID) {
	f.Locations = Cover(t, holds, ids)
	if n := len(f.Locations); n > mostChosen {
		f.Locations = f.Locations[:mostChosen]
		f.Text = fmt.Sprintf("Choosing it selects the first %s of %s locations.", Thousands(mostChosen),
			Thousands(int64(n)))
	}
}
