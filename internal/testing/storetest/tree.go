package storetest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// buildTree puts locations in preorder, siblings by order, rank and natural order of the name, and returns the new
// number of each.
func buildTree(locations []trace.Location) (*store.Tree, []trace.LocationID) {
	children := map[trace.LocationID][]trace.LocationID{}
	for id, l := range locations {
		children[l.Parent] = append(children[l.Parent], trace.LocationID(id))
	}
	for _, siblings := range children {
		slices.SortStableFunc(siblings, func(a, b trace.LocationID) int {
			x, y := &locations[a], &locations[b]
			return cmp.Or(cmp.Compare(x.Order, y.Order), cmp.Compare(x.Rank, y.Rank), compareNatural(x.Name, y.Name))
		})
	}
	t := &store.Tree{}
	number := make([]trace.LocationID, len(locations))
	var add func(old, parent trace.LocationID, level uint16, rank int32)
	add = func(old, parent trace.LocationID, level uint16, rank int32) {
		l := &locations[old]
		if l.Rank != trace.NoRank {
			rank = int32(l.Rank)
		}
		id := trace.LocationID(t.Len())
		number[old] = id
		t.Name = append(t.Name, l.Name)
		t.Kind = append(t.Kind, l.Kind)
		t.Parent = append(t.Parent, parent)
		t.Last = append(t.Last, id)
		t.Level = append(t.Level, level)
		t.Rank = append(t.Rank, rank)
		t.Holds = append(t.Holds, false)
		t.Attributes = append(t.Attributes, slices.Clone(l.Attributes))
		for _, c := range children[old] {
			add(c, id, level+1, rank)
		}
		t.Last[id] = trace.LocationID(t.Len() - 1)
	}
	for _, top := range children[trace.NoLocation] {
		add(top, trace.NoLocation, 0, trace.NoRank)
	}
	return t, number
}

// compareNatural orders names as people do: runs of digits by their value, so
// that "rank 2" comes before "rank 10".
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			x, y := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits is how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
