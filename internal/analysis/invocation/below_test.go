package invocation

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// TestASubtreeOfAnOutlineIsTheOutlineOfTheSubtree: of every node of trees of all shapes, with blocks cut anywhere.
func TestASubtreeOfAnOutlineIsTheOutlineOfTheSubtree(t *testing.T) {
	for _, kind := range []string{"random", "recent", "flat", "spokes", "binary"} {
		level := grown(kind, 1500, 11)
		o := NewOutline(level)
		for root := int32(0); int(root) < len(level); root += 41 {
			own := slices.Clone(level[root:o.End(root)])
			for i := range own {
				own[i] -= level[root]
			}
			want, got := NewOutline(own), o.Below(root)
			if got.Len() != want.Len() || got.Height != want.Height {
				t.Fatalf("%s: below %d are %d nodes on %d levels, want %d on %d", kind, root, got.Len(), got.Height,
					want.Len(), want.Height)
			}
			for i := int32(0); int(i) < want.Len(); i += 1 + int32(want.Len())/50 {
				same(t, kind, root, i, got.Level(i), want.Level(i), got.End(i), want.End(i), got.Parent(i),
					want.Parent(i), got.Weight(i), want.Weight(i))
				a, b := got.Sector(i)
				c, d := want.Sector(i)
				same(t, kind, root, i, a, c, b, d, got.Deepest(i, got.End(i)), want.Deepest(i, want.End(i)))
				if a, b := got.Chain(c+d/3, want.Level(i)), want.Chain(c+d/3, want.Level(i)); !slices.Equal(a, b) {
					t.Fatalf("%s: below %d the chain to %d is %v, want %v", kind, root, i, a, b)
				}
			}
			s := NewSight(300, 300, 150/float64(want.Height), 150, 150)
			a, _, _ := got.Look(context.Background(), s, 1, 60_000)
			b, _, _ := want.Look(context.Background(), s, 1, 60_000)
			if !slices.Equal(a, b) {
				t.Fatalf("%s: below %d %d items are drawn, want %d", kind, root, len(a), len(b))
			}
			if inner := want.Len() / 2; inner > 0 { // of a subtree a subtree
				a, b := got.Below(int32(inner)), want.Below(int32(inner))
				same(t, kind, root, int32(inner), a.Len(), b.Len(), a.Weight(0), b.Weight(0), a.Height, b.Height)
			}
		}
	}
}

// same compares pairs of values.
func same(t *testing.T, kind string, root, node int32, pairs ...any) {
	t.Helper()
	for k := 0; k < len(pairs); k += 2 {
		if fmt.Sprint(pairs[k]) != fmt.Sprint(pairs[k+1]) {
			t.Fatalf("%s: node %d below %d has %v, want %v", kind, node, root, pairs[k], pairs[k+1])
		}
	}
}
