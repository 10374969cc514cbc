package grouping

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
)

// Partial columns and callees are those that some location does not have: counted one by one, of up to 200 columns.
func TestPartialColumnsAndCalleesAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		n, pairs, often := 1+r.IntN(20), 1+r.IntN(200), 1+r.IntN(30)
		var cells []callgraph.Cell
		has := map[callgraph.Pair][]int32{}
		for owner := range int32(n) {
			for k := range int32(pairs) {
				if r.IntN(often) > 0 || often == 1 {
					p := callgraph.Pair{Caller: k % 7, Callee: k / 7}
					cells = append(cells, callgraph.Cell{Owner: owner, Pair: p, Exclusive: 1})
					has[p] = append(has[p], owner)
				}
			}
		}
		table := TableOf(n, cells)
		columns, callees := map[callgraph.Pair][]int32{}, map[int32][]int32{}
		for p, owners := range has {
			if len(owners) < n {
				columns[p] = owners
			}
			for _, owner := range owners {
				if !slices.Contains(callees[p.Callee], owner) {
					callees[p.Callee] = append(callees[p.Callee], owner)
				}
			}
		}
		gotColumns, gotCallees := map[callgraph.Pair][]int32{}, map[int32][]int32{}
		for _, p := range Partials(table) {
			gotColumns[table.Columns[p.Column]] = p.Members
		}
		for _, c := range PartialCallees(table) {
			gotCallees[c.Node] = c.Members
		}
		for node, owners := range callees {
			if slices.Sort(owners); len(owners) == n {
				delete(callees, node)
			}
		}
		if !reflect.DeepEqual(gotColumns, columns) || !reflect.DeepEqual(gotCallees, callees) {
			t.Fatalf("%d locations, %d pairs: %v and %v, want %v and %v", n, pairs, gotColumns, gotCallees, columns, callees)
		}
	}
}
