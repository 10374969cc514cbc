package calltree

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// bushy is a tree with a path for every call, as calls at random have it.
func bushy(nodes int) *tree {
	t := &tree{locations: 1, nodes: make([]node, nodes)}
	for i := range t.nodes {
		t.nodes[i] = node{parent: int32(i/3) - 1, region: trace.RegionID(i * 7919 % 1000), calls: 1, inclusive: 2, exclusive: 1}
	}
	return t
}

// TestATreeThatDoesNotFitIsRefusedBeforeItIsMade: turned round this tree has a node for every caller of every call.
func TestATreeThatDoesNotFitIsRefusedBeforeItIsMade(t *testing.T) {
	const nodes = 200_000
	full := bushy(nodes)
	whole, err := full.turned(context.Background())
	if err != nil || int64(len(whole.nodes))*nodeBytes < 90<<20 {
		t.Fatalf("%d nodes, %v: nothing is tried", len(whole.nodes), err)
	}
	whole = nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	most := int64(before.HeapAlloc) + 32<<20
	ctx, done := memory.New(most * 16 / 9).Work(context.Background()) // so much may be live
	defer done()
	_, err = full.turned(ctx)
	runtime.ReadMemStats(&after)
	var much *memory.Exceeded
	if !errors.As(err, &much) {
		t.Fatalf("%v, want that it is refused", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 96<<20 {
		t.Errorf("%d MiB were taken where there was room for 32", taken>>20)
	}
	runtime.KeepAlive(full)
}

func TestSortingATreeMovesNothingButItsPlace(t *testing.T) {
	full := bushy(1000)
	for i := range full.nodes {
		full.nodes[i].inclusive = float64(i * 7919 % 997)
	}
	regions := make([]trace.Region, 1000)
	count := map[float64]int{}
	for i := range full.nodes {
		count[full.nodes[i].inclusive]++
	}
	if err := full.sort(context.Background(), regions, func(n *node) float64 { return n.inclusive }); err != nil {
		t.Fatal(err)
	}
	above := []int32{}
	for i := range full.nodes {
		n := &full.nodes[i]
		count[n.inclusive]--
		above = append(above[:n.depth], int32(i))
		if want := int32(-1); n.depth > 0 {
			want = above[n.depth-1]
			if n.parent != want {
				t.Fatalf("node %d is below %d, want %d", i, n.parent, want)
			}
		} else if n.parent != want {
			t.Fatalf("node %d is below %d, want the top", i, n.parent)
		}
	}
	for v, n := range count {
		if n != 0 {
			t.Fatalf("the value %v is %d times too few", v, n)
		}
	}
}

// TestValuesOfANodeAreItsOwn: what is kept is counted by what its lists have room for.
func TestValuesOfANodeAreItsOwn(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) {
		g := w.Region(trace.Region{Name: "f"})
		for rank := range 3 {
			s := w.Stream(w.Location(trace.Location{Parent: trace.NoLocation, Name: string(rune('a' + rank)), Rank: rank}), trace.StreamOptions{})
			for at := range trace.Time(4) {
				s.Enter(10*at, g)
				s.Enter(10*at+1, g)
				s.Leave(10*at+2, g)
				s.Leave(10*at+3, g)
			}
			_ = s.Close()
		}
	})
	tree, err := fromIntervals(context.Background(), r, store.Window{End: r.Info().End}, callgraph.Totals)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tree.nodes {
		if v := tree.nodes[i].values; len(v) != 3 || cap(v) != 3 {
			t.Errorf("node %d has %d values and room for %d, want 3", i, len(v), cap(v))
		}
	}
}
