package finish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An ordering numbers the locations anew, in preorder of the tree.
type ordering struct {
	number []trace.LocationID // old to new
	old    []trace.LocationID // new to old
}

// numberOf returns the new number of a location; NoLocation stays, and stands for one that was never defined.
func (o *ordering) numberOf(old trace.LocationID) trace.LocationID {
	if int(old) < len(o.number) {
		return o.number[old]
	}
	return trace.NoLocation
}

// orderLocations puts siblings in display order: by Order, rank, natural order of
// the name, then as they were defined. O(n log n).
func orderLocations(locations []write.Location) ordering {
	n := len(locations)
	o := ordering{make([]trace.LocationID, n), make([]trace.LocationID, 0, n)}
	before := func(a, b trace.LocationID) int {
		x, y := &locations[a], &locations[b]
		if x.Order != y.Order {
			return cmp.Compare(x.Order, y.Order)
		}
		if x.Rank != y.Rank {
			return cmp.Compare(x.Rank, y.Rank)
		}
		return cmp.Or(trace.CompareNatural(x.Name, y.Name), cmp.Compare(a, b))
	}
	// The children of one parent are a range of siblings, those of the top the last. Most were defined in order.
	first := make([]uint32, n+1) // by parent; n stands for the top
	count := make([]uint32, n+1)
	slot := func(parent trace.LocationID) int {
		if parent == trace.NoLocation {
			return n
		}
		return int(parent)
	}
	for i := range locations {
		count[slot(locations[i].Parent)]++
	}
	for p := range n {
		first[p+1] = first[p] + count[p]
	}
	siblings := make([]trace.LocationID, n)
	clear(count)
	for i := range locations {
		p := slot(locations[i].Parent)
		siblings[first[p]+count[p]] = trace.LocationID(i)
		count[p]++
	}
	for p := range first {
		if list := siblings[first[p] : first[p]+count[p]]; !slices.IsSortedFunc(list, before) {
			slices.SortFunc(list, before)
		}
	}
	stack := slices.Clone(siblings[first[n] : first[n]+count[n]])
	slices.Reverse(stack)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		o.number[id] = trace.LocationID(len(o.old))
		o.old = append(o.old, id)
		children := siblings[first[id] : first[id]+count[id]]
		for i := len(children) - 1; i >= 0; i-- {
			stack = append(stack, children[i])
		}
	}
	return o
}

// orderRegions puts regions in the order of name, category and place, and gives the new
// number of each; nil if they keep theirs.
func orderRegions(d *write.Definitions) []trace.RegionID {
	if d.Sorted == nil {
		return nil
	}
	number := sortFrom[trace.RegionID](d.Regions, d.Sorted.Regions, func(x, y *trace.Region) int {
		return cmp.Or(trace.CompareNatural(x.Name, y.Name), strings.Compare(x.Category, y.Category),
			strings.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	for i := range d.CallPaths {
		d.CallPaths[i].Region = renumbered(number, d.CallPaths[i].Region)
	}
	return number
}

// orderAttributes puts attributes in order that several goroutines may have defined.
func orderAttributes(d *write.Definitions) []uint32 {
	if d.Sorted == nil {
		return nil
	}
	return sortFrom[uint32](d.Attributes, d.Sorted.Attributes,
		func(x, y *string) int { return trace.CompareNatural(*x, *y) })
}

// orderCounters does so with counters; locations have their numbers.
func orderCounters(f *finisher) []trace.CounterID {
	d := &f.Def
	if d.Sorted == nil {
		return nil
	}
	return sortFrom[trace.CounterID](d.Counters, d.Sorted.Counters, func(x, y *trace.Counter) int {
		return cmp.Or(cmp.Compare(f.order.numberOf(x.Location), f.order.numberOf(y.Location)),
			trace.CompareNatural(x.Name, y.Name))
	})
}

// sortFrom sorts a list from a place on, and gives the new number of each by its old one.
func sortFrom[ID ~uint32, T any](list []T, from int, compare func(x, y *T) int) []ID {
	old := make([]ID, len(list))
	for i := range old {
		old[i] = ID(i)
	}
	slices.SortFunc(old[from:], func(a, b ID) int { return compare(&list[a], &list[b]) })
	number, sorted := make([]ID, len(list)), make([]T, len(list))
	for i, id := range old {
		number[id], sorted[i] = ID(i), list[id]
	}
	copy(list, sorted)
	return number
}

// renumbered returns the new number; one of nothing stays.
func renumbered[ID ~uint32](number []ID, old ID) ID {
	if int(old) < len(number) {
		return number[old]
	}
	return old
}
