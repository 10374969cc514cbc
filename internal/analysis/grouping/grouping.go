// Package grouping finds locations that behave alike, and the differences of a group from the rest.
//
// A location is seen as values by column, a column being a pair of caller and
// callee. Two locations are alike by structure (the share of pairs they have in
// common, Jaccard) and by time (the share of time they have in common,
// Bray-Curtis); by default the mean of the two. Brendel proposes pairs of caller
// and callee for this: they come from the source code and hardly vary.
//
//	Table     locations × columns, with exact classes of equal structure
//	Group     average linkage over all, or over a seeded sample of many, cut into
//	          k groups, at a threshold, or else first by the callees of locations,
//	          then where groups are clearest (silhouette)
//	Differ    the differences of one group from all others
package grouping

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/parallel"
)

// A Table holds the values of n locations by column.
type Table struct {
	Len     int
	Columns []callgraph.Pair
	// Dropped columns had the least of all values and made room for the others;
	// they still count for structure classes, not for distances.
	Dropped int

	value []float32 // [location × columns + column]
	has   []uint64  // bits of columns, words a location
	words int
	total []float64
	class []int32
	// Classes is how many different sets of pairs there are.
	Classes int

	signature []int32
	// Signatures is how many different sets of callees there are.
	Signatures int
}

// mostCells bounds a table to a quarter of a gigabyte.
const mostCells = 1 << 26

// NewTable makes the table of n owners from rows sorted by owner. value returns the compared value of a
// row. O(rows + n × columns).
func NewTable(n int, rows []callgraph.Row, value func(*callgraph.Row) float64) *Table {
	cells := make([]callgraph.Cell, len(rows))
	_ = parallel.Ranges(context.Background(), len(rows), cellsAtOnce, func(from, to int) {
		for i := from; i < to; i++ {
			cells[i] = callgraph.Cell{Owner: rows[i].Owner, Pair: rows[i].Pair, Exclusive: value(&rows[i])}
		}
	})
	return TableOf(n, cells)
}

// TableOf makes the table of n owners from the times of pairs sorted by owner.
func TableOf(n int, cells []callgraph.Cell) *Table {
	t := &Table{Len: n}
	var of []int32
	var sum []float64
	both := []func(){func() { of, sum = t.numberPairs(cells) }, func() { t.classify(cells) }}
	_ = parallel.For(context.Background(), len(both), func(i int) { both[i]() })
	place := make([]int32, len(t.Columns)) // in the order of pairs, -1: it is dropped
	order := make([]int32, len(t.Columns))
	for i := range order {
		order[i], place[i] = int32(i), -1
	}
	columns := t.Columns
	pair := func(a, b int32) int { return byPair(columns[a], columns[b]) }
	slices.SortFunc(order, pair)
	if most := max(mostCells/max(n, 1), 1); len(order) > most {
		slices.SortStableFunc(order, func(a, b int32) int { return compare(sum[b], sum[a]) })
		t.Dropped = len(order) - most
		order = order[:most]
		slices.SortFunc(order, pair)
	}
	t.Columns = nil
	for k, i := range order {
		place[i] = int32(k)
		t.Columns = append(t.Columns, columns[i])
	}
	t.allocate()
	_ = parallel.Ranges(context.Background(), len(cells), cellsAtOnce, func(from, to int) {
		begins := func(i int) bool { return i == 0 || cells[i].Owner != cells[i-1].Owner }
		for from < to && !begins(from) { // an owner is one goroutine's: the one that has its first cell
			from++
		}
		for i := from; i < len(cells) && from < to && (i < to || !begins(i)); i++ {
			if k := place[of[i]]; k >= 0 {
				t.set(int(cells[i].Owner), int(k), max(cells[i].Exclusive, 0))
			}
		}
	})
	return t
}

// cellsAtOnce is the number of cells that one goroutine goes through.
const cellsAtOnce = 1 << 15

// numberPairs makes a column of each pair, as they come, and returns that of each cell, and the sums of columns. Most
// owners have the pairs of the one before: so it looks at the pair that followed last time first.
func (t *Table) numberPairs(cells []callgraph.Cell) (of []int32, sum []float64) {
	of = make([]int32, len(cells))
	known := map[callgraph.Pair]int32{}
	after := []int32{0} // by column, plus one
	last := 0
	for i := range cells {
		p := cells[i].Pair
		k := after[last]
		if int(k) >= len(t.Columns) || t.Columns[k] != p {
			var ok bool
			if k, ok = known[p]; !ok {
				k = int32(len(t.Columns))
				known[p] = k
				t.Columns, sum, after = append(t.Columns, p), append(sum, 0), append(after, 0)
			}
			after[last] = k
		}
		of[i], last = k, int(k)+1
		sum[k] += cells[i].Exclusive
	}
	return of, sum
}

func (t *Table) allocate() {
	c := len(t.Columns)
	t.words = (c + 63) / 64
	t.value, t.has, t.total = make([]float32, t.Len*c), make([]uint64, t.Len*t.words), make([]float64, t.Len)
}

func (t *Table) set(i, column int, v float64) {
	t.value[i*len(t.Columns)+column] = float32(v)
	t.has[i*t.words+column/64] |= 1 << (column % 64)
	t.total[i] += v
}

// Exclusive returns the exclusive time of a row, by which locations are compared.
func Exclusive(r *callgraph.Row) float64 { return r.Exclusive }

// Scan gathers the pairs of callers and callees of locations, or of the owners of
// the plan, into a table. With closure all around a call count as callers, so that inlining does not matter.
func Scan(plan *callgraph.Plan, scan callgraph.Scan) (*Table, error) {
	plan.Profile = false
	cells, err := callgraph.GatherCells(plan, scan)
	if err != nil {
		return nil, err
	}
	n := len(plan.Locations)
	if plan.Owner != nil {
		n = plan.Owners
	}
	return TableOf(n, cells), nil
}

func byPair(a, b callgraph.Pair) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// classify numbers the sets of pairs, and those of callees, in order of their
// first location. A set is known by the sum of 128 random bits of each of its
// members: equal sets have equal sums, and others have not in all likelihood.
func (t *Table) classify(cells []callgraph.Cell) {
	t.class, t.signature = make([]int32, t.Len), make([]int32, t.Len)
	pairs, callees := map[[2]uint64]int32{}, map[[2]uint64]int32{}
	var met []int           // by callee: the location that met it last, plus one
	var before [2][2]uint64 // of the location before
	next := 0
	for i := range t.class {
		var pair, callee [2]uint64
		for ; next < len(cells) && int(cells[next].Owner) == i; next++ {
			p := cells[next].Pair
			add(&pair, uint64(uint32(p.Caller))<<32|uint64(uint32(p.Callee)))
			for int(p.Callee) >= len(met) {
				met = append(met, 0)
			}
			if met[p.Callee] != i+1 {
				met[p.Callee] = i + 1
				add(&callee, uint64(p.Callee))
			}
		}
		if i > 0 && pair == before[0] && callee == before[1] {
			t.class[i], t.signature[i] = t.class[i-1], t.signature[i-1]
			continue
		}
		before = [2][2]uint64{pair, callee}
		t.class[i], t.signature[i] = number(pairs, pair), number(callees, callee)
	}
	t.Classes, t.Signatures = len(pairs), len(callees)
}

func add(sum *[2]uint64, x uint64) {
	sum[0] += mix(x)
	sum[1] += mix(x ^ 0xa5a5a5a5a5a5a5a5)
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func number(known map[[2]uint64]int32, key [2]uint64) int32 {
	c, ok := known[key]
	if !ok {
		c = int32(len(known))
		known[key] = c
	}
	return c
}

// Class numbers the set of pairs of a location: equal for equal sets.
func (t *Table) Class(i int) int32 { return t.class[i] }

// Value of a location and column.
func (t *Table) Value(i, column int) float64 { return float64(t.value[i*len(t.Columns)+column]) }

// Has reports whether a location has calls of a column.
func (t *Table) Has(i, column int) bool {
	return t.has[i*t.words+column/64]>>(column%64)&1 == 1
}

// A Likeness is a measure of the similarity of two locations.
type Likeness uint8

const (
	Both      Likeness = iota // the mean of the two below
	Structure                 // share of pairs in common
	Time                      // share of time in common
)

// LikenessOf reads both, structure or time.
func LikenessOf(name string) Likeness {
	return map[string]Likeness{"both": Both, "structure": Structure, "time": Time}[name]
}

// Similarity of two locations, from 0 to 1. O(columns).
func (t *Table) Similarity(a, b int, by Likeness) float64 {
	switch by {
	case Structure:
		return t.jaccard(a, b)
	case Time:
		return t.common(a, b)
	}
	return (t.jaccard(a, b) + t.common(a, b)) / 2
}

func (t *Table) jaccard(a, b int) float64 {
	if t.class[a] == t.class[b] {
		return 1
	}
	both, all := 0, 0
	x, y := t.has[a*t.words:(a+1)*t.words], t.has[b*t.words:(b+1)*t.words]
	for i := range x {
		both += bits.OnesCount64(x[i] & y[i])
		all += bits.OnesCount64(x[i] | y[i])
	}
	if all == 0 {
		return 1
	}
	return float64(both) / float64(all)
}

func (t *Table) common(a, b int) float64 {
	sum := t.total[a] + t.total[b]
	if sum == 0 {
		return 1
	}
	c := len(t.Columns)
	x, y := t.value[a*c:(a+1)*c], t.value[b*c:(b+1)*c]
	total := 0.0
	for len(x) >= 64 {
		// Few columns at a time in the short type, which is faster and exact enough.
		total += float64(apart(x[:64], y[:64]))
		x, y = x[64:], y[64:]
	}
	total += float64(apart(x, y))
	if total >= sum { // by rounding
		return 0
	}
	return 1 - total/sum
}

// apart is Σ|x−y|, by two sums that do not wait for each other.
func apart(x, y []float32) float32 {
	const sign = 1 << 31
	y = y[:len(x)]
	var even, odd float32
	i := 0
	for ; i+1 < len(x); i += 2 {
		even += math.Float32frombits(math.Float32bits(x[i]-y[i]) &^ sign)
		odd += math.Float32frombits(math.Float32bits(x[i+1]-y[i+1]) &^ sign)
	}
	if i < len(x) {
		even += math.Float32frombits(math.Float32bits(x[i]-y[i]) &^ sign)
	}
	return even + odd
}
