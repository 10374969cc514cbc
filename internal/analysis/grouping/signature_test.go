package grouping

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
)

// rowsOf gives rows of n locations: all call 1 and 2 from the root with times that
// say nothing, every fourth calls 3 too, and one calls 4.
func rowsOf(n int) []callgraph.Row {
	r := rand.New(rand.NewPCG(4, 5))
	var rows []callgraph.Row
	add := func(owner, callee int) {
		rows = append(rows, callgraph.Row{Owner: int32(owner), Pair: callgraph.Pair{Caller: callgraph.Root, Callee: int32(callee)}, Count: 1, Exclusive: 1 + r.Float64()})
	}
	for i := range n {
		add(i, 1)
		add(i, 2)
		if i%4 == 0 {
			add(i, 3)
		}
		if i == n/2+1 {
			add(i, 4)
		}
	}
	return rows
}

// TestLocationsAreGroupedByTheirCallsFirst: of few locations and of so many that
// most are not compared each with each.
func TestLocationsAreGroupedByTheirCallsFirst(t *testing.T) {
	for _, n := range []int{16, 100, 4000} {
		table := NewTable(n, rowsOf(n), Exclusive)
		if table.Signatures != 3 {
			t.Fatalf("%d signatures", table.Signatures)
		}
		g := Group(table, Options{Seed: 3})
		of := map[int32]int32{}
		for i, k := range g.Of {
			s := table.signature[i]
			if last, met := of[k]; met && last != s {
				t.Fatalf("n = %d: group %d has locations of two signatures", n, k)
			}
			of[k] = s
		}
		if len(of) < 3 {
			t.Errorf("n = %d: %d groups, want one a signature at least", n, len(of))
		}
		if k := g.Of[n/2+1]; len(g.Members[k]) != 1 {
			t.Errorf("n = %d: the one that differs is with %d others", n, len(g.Members[k])-1)
		}
		calls := PartialCallees(table)
		if len(calls) != 2 || calls[0].Node != 4 || len(calls[0].Members) != 1 || calls[1].Node != 3 || len(calls[1].Members) != n/4 {
			t.Errorf("n = %d: partial callees %+v", n, calls)
		}
	}
}

// TestGroupsAreRenumberedAsOne: after it, members, medoids and order are those of
// the new numbers.
func TestGroupsAreRenumberedAsOne(t *testing.T) {
	table := NewTable(16, rowsOf(16), Exclusive)
	g := Group(table, Options{Seed: 1})
	old := append([]int32{}, g.Of...)
	order := slices.Concat(g.Members...)
	g.Renumber(order)
	for i, was := range order {
		if g.Of[i] != old[was] {
			t.Errorf("location %d is in group %d, was in %d", i, g.Of[i], old[was])
		}
		if i > 0 && g.Of[i] < g.Of[i-1] {
			t.Errorf("location %d of group %d comes after group %d", i, g.Of[i], g.Of[i-1])
		}
	}
	for k, members := range g.Members {
		for _, m := range members {
			if int(g.Of[m]) != k {
				t.Errorf("member %d of group %d is in %d", m, k, g.Of[m])
			}
		}
		if int(g.Of[g.Medoid[k]]) != k {
			t.Errorf("the medoid of group %d is in %d", k, g.Of[g.Medoid[k]])
		}
	}
}

// TestKindsAreGroupedApart: a GPU that differs from the other GPUs is a group of its own, though all GPUs differ more
// from threads, and it is told by what differs from the other GPUs.
func TestKindsAreGroupedApart(t *testing.T) {
	const odd = 21
	r := rand.New(rand.NewPCG(4, 6))
	var rows []callgraph.Row
	kinds := make([]int32, 32)
	for i := range kinds {
		kinds[i] = int32(i / 16)
		for c := range 20 {
			v := 1e6 * (1 + 0.01*r.NormFloat64())
			if i == odd && c == 3 {
				v *= 20
			}
			callee := int32(c + 20*(i/16))
			rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: -1, Callee: callee}, Exclusive: v},
				callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: -1, Callee: 100 + int32(i)}, Exclusive: 1}) // no two call the same
		}
	}
	table := NewTable(len(kinds), rows, Exclusive)
	g := Group(table, Options{Kinds: kinds})
	last := len(g.Members) - 1
	if len(g.Members) != 3 || !slices.Equal(g.Members[last], []int32{odd}) {
		t.Fatalf("groups %v", g.Members)
	}
	if d := Differ(table, g, last, 4); len(d) == 0 || !slices.ContainsFunc(d, func(d Difference) bool { return !d.Calls && table.Columns[d.Column].Callee == 23 }) {
		t.Errorf("differs by %+v", d)
	}
	if without := Group(table, Options{}); len(without.Members) != 2 {
		t.Errorf("without kinds there are %d groups", len(without.Members))
	}
}

// TestALocationWithSeveralTimesTheTimeIsItsOwnGroup: all locations differ much from each other, and one has several times their time.
func TestALocationWithSeveralTimesTheTimeIsItsOwnGroup(t *testing.T) {
	run := func(n, odd int, factor float64) *Groups {
		r := rand.New(rand.NewPCG(7, 9))
		var rows []callgraph.Row
		for i := range n {
			for c := range 12 {
				v := 1e6 * (0.2 + r.Float64())
				if i < odd {
					v *= factor
				}
				rows = append(rows, callgraph.Row{Owner: int32(i), Pair: callgraph.Pair{Caller: -1, Callee: int32(20*i + c)}, Exclusive: v})
			}
		}
		return Group(NewTable(n, rows, Exclusive), Options{})
	}
	if g := run(10, 1, 6); len(g.Members) != 2 || !slices.Equal(g.Members[1], []int32{0}) {
		t.Errorf("groups %v", g.Members)
	}
	if g := run(10, 1, 0.1); len(g.Members) != 2 || !slices.Equal(g.Members[1], []int32{0}) {
		t.Errorf("with less, groups %v", g.Members)
	}
	for _, g := range []*Groups{run(10, 0, 1), run(10, 4, 6)} { // none, and too many to stand out
		if len(g.Members) != 1 {
			t.Errorf("groups %v", g.Members)
		}
	}
}
