package grouping

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A Difference says how a group differs from other locations in one column.
type Difference struct {
	Column int
	// Inside and Outside are means over the locations of the group, and over the others.
	Inside, Outside float64
	// CalledInside and CalledOutside are how many of them have calls at all.
	CalledInside, CalledOutside int
	// Effect is signed. By time it is the difference of the means, as a share of a location's mean total
	// over all columns; by calls the difference of the shares of locations that have calls.
	Effect float64
	Calls  bool // the effect is by calls
	Others int  // how many locations the group is compared with
}

// Differ lists the differences of a group from the others of its kind: by calls and by time in turn, the largest
// effects first, at most most. Of a group that is all of its kind these are its calls alone. O(locations × columns).
func Differ(t *Table, g *Groups, group, most int) []Difference {
	others, comparable := g.others(group)
	inside, outside := float64(len(g.Members[group])), float64(len(others))
	if outside == 0 || inside == 0 {
		return nil
	}
	whole := 0.0
	for _, x := range t.total {
		whole += x
	}
	whole /= float64(t.Len)
	columns := make([]Difference, len(t.Columns))
	_ = parallel.For(context.Background(), len(columns), func(c int) {
		x := Difference{Column: c, Others: len(others)}
		x.Inside, x.CalledInside = t.sum(g.Members[group], c)
		x.Outside, x.CalledOutside = t.sum(others, c)
		columns[c] = x
	})
	var time, calls []Difference
	for _, x := range columns {
		x.Inside, x.Outside = x.Inside/inside, x.Outside/outside
		if share := float64(x.CalledInside)/inside - float64(x.CalledOutside)/outside; math.Abs(share) >= 0.5 {
			y := x
			y.Calls, y.Effect = true, share
			calls = append(calls, y)
			continue
		}
		if x.Effect = (x.Inside - x.Outside) / whole; comparable && whole > 0 && math.Abs(x.Effect) >= 0.001 {
			time = append(time, x)
		}
	}
	byEffect(time)
	sort.SliceStable(calls, func(a, b int) bool {
		x, y := math.Abs(calls[a].Effect), math.Abs(calls[b].Effect)
		if x != y {
			return x > y
		}
		return calls[a].Inside+calls[a].Outside > calls[b].Inside+calls[b].Outside
	})
	out := []Difference{}
	for i := 0; len(out) < most && (i < len(time) || i < len(calls)); i++ {
		if i < len(calls) {
			out = append(out, calls[i])
		}
		if i < len(time) && len(out) < most {
			out = append(out, time[i])
		}
	}
	return out
}

// others are the locations that a group is compared with, and whether they are of its kind.
func (g *Groups) others(group int) (out []int32, comparable bool) {
	var alike []int32 // of its kind
	for i, of := range g.Of {
		if int(of) == group {
			continue
		}
		out = append(out, int32(i))
		if m := g.Members[group]; len(g.kinds) > 0 && len(m) > 0 && g.kinds[i] == g.kinds[m[0]] {
			alike = append(alike, int32(i))
		}
	}
	if alike != nil {
		return alike, true
	}
	return out, len(g.kinds) == 0
}

// sum adds up a column of some locations, and counts those that have calls.
func (t *Table) sum(ids []int32, column int) (sum float64, called int) {
	for _, i := range ids {
		sum += t.Value(int(i), column)
		if t.Has(int(i), column) {
			called++
		}
	}
	return sum, called
}

func byEffect(d []Difference) {
	sort.SliceStable(d, func(a, b int) bool { return math.Abs(d[a].Effect) > math.Abs(d[b].Effect) })
}

// A Partial is a column that some locations have and others do not.
type Partial struct {
	Column  int
	Members []int32
}

// Partials lists the columns that not all locations have, those with the least
// members first. O(locations × columns).
func Partials(t *Table) []Partial {
	some := t.partialColumns()
	out := make([]Partial, len(some))
	_ = parallel.For(context.Background(), len(some), func(k int) {
		p := Partial{Column: some[k], Members: []int32{}}
		for i := range t.Len {
			if t.Has(i, p.Column) {
				p.Members = append(p.Members, int32(i))
			}
		}
		out[k] = p
	})
	sort.SliceStable(out, func(a, b int) bool { return len(out[a].Members) < len(out[b].Members) })
	return out
}

// partialColumns are the columns that some location does not have, ascending.
func (t *Table) partialColumns() (some []int) {
	all := slices.Repeat([]uint64{^uint64(0)}, t.words)
	for i := range t.Len {
		for k, has := range t.has[i*t.words : (i+1)*t.words] {
			all[k] &= has
		}
	}
	for c := range t.Columns {
		if all[c/64]>>(c%64)&1 == 0 {
			some = append(some, c)
		}
	}
	return some
}

// A Callee is a region that some locations call and others do not, from any caller.
type Callee struct {
	Node    int32
	Members []int32
}

// PartialCallees lists the regions that not all locations call, those called by the fewest first.
// O(locations × columns).
func PartialCallees(t *Table) []Callee {
	columns := map[int32][]int{}
	var nodes []int32
	for c, p := range t.Columns {
		if columns[p.Callee] == nil {
			nodes = append(nodes, p.Callee)
		}
		columns[p.Callee] = append(columns[p.Callee], c)
	}
	some := t.partialColumns()
	nodes = slices.DeleteFunc(nodes, func(n int32) bool { // all locations have one of its columns
		return slices.ContainsFunc(columns[n], func(c int) bool { return !slices.Contains(some, c) })
	})
	found := make([]Callee, len(nodes))
	_ = parallel.For(context.Background(), len(nodes), func(k int) {
		x := Callee{Node: nodes[k], Members: []int32{}}
		for i := range t.Len {
			for _, c := range columns[x.Node] {
				if t.Has(i, c) {
					x.Members = append(x.Members, int32(i))
					break
				}
			}
		}
		found[k] = x
	})
	out := []Callee{}
	for _, x := range found {
		if len(x.Members) < t.Len {
			out = append(out, x)
		}
	}
	sort.SliceStable(out, func(a, b int) bool { return len(out[a].Members) < len(out[b].Members) })
	return out
}
