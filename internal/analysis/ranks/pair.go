package ranks

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Pairing says which location of a second run each location of the first is.
type Pairing struct {
	To []trace.LocationID // NoLocation if there is none
	// By is the reason for the pairing: rank, coordinates, place among the ranks, or path.
	By string
}

// Pair finds for each location of a run the one of another that does the same: by rank if
// both have as many, else by coordinates, else by its place among the ranks; locations
// without rank by their path. O(locations).
func Pair(first, second store.Reader) *Pairing {
	a, b := first.Locations(), second.Locations()
	p := &Pairing{To: make([]trace.LocationID, a.Len()), By: "path"}
	paths := make(map[string]trace.LocationID, b.Len())
	for id := range b.Len() {
		paths[b.Path(trace.LocationID(id))] = trace.LocationID(id)
	}
	for id := range p.To {
		p.To[id] = trace.NoLocation
		if to, ok := paths[a.Path(trace.LocationID(id))]; ok {
			p.To[id] = to
		}
	}
	here, there := byRank(a), byRank(b)
	if len(here.ranks) == 0 || len(there.ranks) == 0 {
		return p
	}
	to := func(i int) int32 { return there.ranks[(2*i+1)*len(there.ranks)/(2*len(here.ranks))] }
	p.By = "place"
	if len(here.ranks) == len(there.ranks) {
		p.By = "rank"
	} else if at := sameCoordinates(first, second, here, there); at != nil {
		p.By, to = "coordinates", at
	}
	for i, rank := range here.ranks {
		for key, id := range here.of[rank] {
			if other, ok := there.of[to(i)][key]; ok {
				p.To[id] = other
			} else {
				p.To[id] = trace.NoLocation
			}
		}
	}
	return p
}

// A member is a location below a rank: the nth of its kind.
type member struct {
	kind trace.Kind
	nth  int
}

// ranked are the locations of a tree by rank.
type ranked struct {
	ranks []int32 // ascending
	of    map[int32]map[member]trace.LocationID
}

func byRank(t *store.Tree) *ranked {
	r := &ranked{of: map[int32]map[member]trace.LocationID{}}
	count := map[int32]map[trace.Kind]int{}
	for id, rank := range t.Rank {
		if rank < 0 {
			continue
		}
		if r.of[rank] == nil {
			r.of[rank], count[rank] = map[member]trace.LocationID{}, map[trace.Kind]int{}
			r.ranks = append(r.ranks, rank)
		}
		kind := t.Kind[id]
		r.of[rank][member{kind, count[rank][kind]}] = trace.LocationID(id)
		count[rank][kind]++
	}
	slices.Sort(r.ranks)
	return r
}

// sameCoordinates pairs ranks by where they are in a topology that both runs have, each axis
// stretched to the other's; nil if not all of the first have a place.
func sameCoordinates(first, second store.Reader, here, there *ranked) func(i int) int32 {
	for _, a := range first.Topologies() {
		for _, b := range second.Topologies() {
			if len(a.Dims) == 0 || len(a.Dims) != len(b.Dims) ||
				slices.ContainsFunc(slices.Concat(a.Dims, b.Dims), func(n int) bool { return n <= 0 }) {
				continue
			}
			key := func(at []int) string { return fmt.Sprint(at) }
			places := map[string]int32{}
			for _, c := range b.Coordinates {
				if rank := second.Locations().Rank[c.Location]; rank >= 0 && len(c.At) == len(b.Dims) {
					places[key(c.At)] = rank
				}
			}
			found := map[int32]int32{}
			for _, c := range a.Coordinates {
				rank := first.Locations().Rank[c.Location]
				if rank < 0 || len(c.At) != len(a.Dims) {
					continue
				}
				at := make([]int, len(c.At))
				for d := range at {
					at[d] = (2*c.At[d] + 1) * b.Dims[d] / (2 * a.Dims[d])
				}
				if to, ok := places[key(at)]; ok {
					found[rank] = to
				}
			}
			if len(found) == len(here.ranks) {
				return func(i int) int32 { return found[here.ranks[i]] }
			}
		}
	}
	return nil
}
