// Package callsums adds up calls over locations by who called whom, and puts the sums in order of interest: those in
// which locations differ most, or that take most time, first.
package callsums

import (
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// Numbers are what sums are ordered by.
type Numbers struct {
	Calls, Total float64
	Moved        float64 // how much would have to move for all locations of a kind to have the same
	Longest      float64 // call
	Cut, CutTime float64 // calls that began before the window, and their time in it
}

// A Sum is the calls of a pair on all locations.
type Sum struct {
	callgraph.Pair
	Numbers
	High   float64   // largest of the highest quantiles of locations
	Rows   []int32   // places in the list of rows, in its order; nil: rows were added some at a time
	Owners []int32   // of rows
	Values []float64 // likewise
	Middle []float64 // likewise, the medians of their calls
}

// A Table makes sums of rows: of a list, or of rows that are added some at a time and not held.
type Table struct {
	Rows  []callgraph.Row // in the order of owners
	Cuts  []callgraph.Cut
	Of    func(callgraph.Pair) callgraph.Pair // what a pair is counted as
	Shown func(callgraph.Pair) bool           // of what it is counted as
	Value func(*callgraph.Row) float64
	// Owners is about how many have rows, where rows are added.
	Owners int

	sums  []*Sum
	place map[callgraph.Pair]int32 // in sums; -1: it is not shown
}

// Callee counts calls by what is called, whoever calls it.
func Callee(p callgraph.Pair) callgraph.Pair {
	return callgraph.Pair{Caller: callgraph.Root, Callee: p.Callee}
}

// Each counts each pair by itself.
func Each(p callgraph.Pair) callgraph.Pair { return p }

// rowsAtOnce is the number of rows that one goroutine goes through.
const rowsAtOnce = 1 << 13

// Sums adds up the rows and the cut calls of each pair, in the order in which they come; kinds are those of owners, see
// runfacts.Kinds.
func (t *Table) Sums(ctx context.Context, kinds []int32) ([]*Sum, error) {
	t.add(t.Rows, true)
	for i := range t.Cuts {
		if at := t.find(t.Of(t.Cuts[i].Pair)); at >= 0 {
			t.sums[at].Cut += t.Cuts[i].Count
			t.sums[at].CutTime += t.Cuts[i].Time
		}
	}
	return t.sums, parallel.For(ctx, len(t.sums), func(k int) {
		t.sums[k].Moved = runfacts.MovedByKind(kinds, t.sums[k].Owners, t.sums[k].Values)
	})
}

// Add adds up rows that follow those before.
func (t *Table) Add(rows []callgraph.Row) { t.add(rows, false) }

// find returns the place of a pair among the sums, a new one for a new pair.
func (t *Table) find(pair callgraph.Pair) int32 {
	at, known := t.place[pair]
	if !known {
		at = -1
		if t.Shown(pair) {
			at = int32(len(t.sums))
			t.sums = append(t.sums, &Sum{Pair: pair})
		}
		if t.place == nil {
			t.place = map[callgraph.Pair]int32{}
		}
		t.place[pair] = at
	}
	return at
}

func (t *Table) add(rows []callgraph.Row, listed bool) {
	n := len(rows)
	parts := make([]numbered, (n+rowsAtOnce-1)/rowsAtOnce)
	_ = parallel.Ranges(context.Background(), n, rowsAtOnce, func(from, to int) {
		parts[from/rowsAtOnce] = t.number(rows[from:to])
	})
	for k := range parts {
		for _, pair := range parts[k].pairs {
			parts[k].place = append(parts[k].place, t.find(pair))
		}
	}
	type numbers struct { // of a row: they are long, and looked at once
		row, owner                          int32
		calls, value, longest, high, middle float64
	}
	parallel.Deal(len(parts), len(t.sums), func(part int, to func(int, numbers)) {
		for i, k := range parts[part].of {
			if at := parts[part].place[k]; at >= 0 {
				i += part * rowsAtOnce
				x := &rows[i]
				to(int(at), numbers{int32(i), x.Owner, x.Count, t.Value(x), x.Max, x.Box[4], x.Box[2]})
			}
		}
	}, func(at int, x numbers) {
		s := t.sums[at]
		if listed {
			s.Rows = append(s.Rows, x.row)
		}
		s.grow(t.Owners)
		s.Owners, s.Values, s.Middle = append(s.Owners, x.owner), append(s.Values, x.value), append(s.Middle, x.middle)
		s.Calls += x.calls
		s.Total += x.value
		if !math.IsNaN(x.longest) {
			s.Longest = max(s.Longest, x.longest)
		}
		if x.high > s.High {
			s.High = x.high
		}
	})
}

// grow makes room for a row. A pair that many of the owners have gets room for all: lists of a million that grow bit by
// bit are copied again and again.
func (s *Sum) grow(owners int) {
	if n := len(s.Owners); n == cap(s.Owners) && n > owners/16 && n < owners {
		s.Owners, s.Values = slices.Grow(s.Owners, owners-n), slices.Grow(s.Values, owners-n)
		s.Middle = slices.Grow(s.Middle, owners-n)
	}
}

// numbered are the pairs of some rows, and of which each row is.
type numbered struct {
	pairs []callgraph.Pair
	of    []int32
	place []int32 // of pairs among the sums; -1: it is not shown
}

// number finds the pairs. Most owners have those of the one before: the pair that followed last time comes first.
func (t *Table) number(rows []callgraph.Row) (x numbered) {
	known := map[callgraph.Pair]int32{}
	after := []int32{0} // by pair, plus one
	last := 0
	x.of = make([]int32, len(rows))
	for i := range rows {
		p := t.Of(rows[i].Pair)
		k := after[last]
		if int(k) >= len(x.pairs) || x.pairs[k] != p {
			var ok bool
			if k, ok = known[p]; !ok {
				k = int32(len(x.pairs))
				known[p] = k
				x.pairs, after = append(x.pairs, p), append(after, 0)
			}
			after[last] = k
		}
		x.of[i], last = k, int(k)+1
	}
	return x
}
