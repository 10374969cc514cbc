package invocation

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestJoinedLanesAreTheTreeOfMergedOnes holds nodes lane by lane against those in the order of time: the same calls
// under the same callers, on the same levels, in the order of sectors, with the numbers that the merge gives them.
func TestJoinedLanesAreTheTreeOfMergedOnes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var samples []sample
	for lane := range int32(40) {
		at, open := trace.Time(random.IntN(50)), []int32{}
		for row := range int32(1 + random.IntN(60)) {
			for len(open) > 0 && random.IntN(2) == 0 {
				open = open[:len(open)-1]
			}
			parent := int32(-1)
			if len(open) > 0 {
				parent = open[len(open)-1]
			}
			samples = append(samples, sample{lane, parent, at, at + 1, random.IntN(9) == 0})
			open = append(open, row)
			at += trace.Time(random.IntN(3))
		}
	}
	some := func() []*Lane {
		return slices.DeleteFunc(lanesOf(samples), func(l *Lane) bool { return l.Len() == 0 })
	}
	rank := func(id trace.LocationID) int { return int(id) * 7 % 5 }
	order := func(a, b trace.LocationID) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) }
	joined := Join(some(), func(a, b *Lane) int { return order(a.Location, b.Location) })
	merged := Collect(some()).Finish()
	_, place := merged.Tree.Preorder(func(parent int32, children []int32) {
		if parent == 0 {
			slices.SortStableFunc(children,
				func(a, b int32) int { return order(merged.Location(a), merged.Location(b)) })
		}
	})
	level, height := joined.Levels()
	want, most := merged.Levels()
	if joined.Len() != merged.Len() || height != most || joined.At(0) != merged.At(0) {
		t.Fatalf("%d nodes of height %d, root %+v; want %d, %d, %+v", joined.Len(), height, joined.At(0), merged.Len(),
			most, merged.At(0))
	}
	for i := int32(1); i < int32(joined.Len()); i++ {
		k := place[i]
		if joined.Number(i) != k || joined.At(i) != merged.At(k) || level[i] != want[k] ||
			joined.Number(joined.Tree.Parent[i]) != merged.Tree.Parent[k] {
			t.Fatalf("node %d is %+v, number %d on level %d; want %+v, %d, %d", i, joined.At(i), joined.Number(i),
				level[i], merged.At(k), k, want[k])
		}
	}
}
