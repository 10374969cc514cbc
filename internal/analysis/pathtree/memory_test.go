package pathtree

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
func bushy(nodes int) *Tree {
	t := &Tree{Locations: 1, Nodes: make([]Node, nodes)}
	for i := range t.Nodes {
		t.Nodes[i] = Node{Parent: int32(i/3) - 1, Region: trace.RegionID(i * 7919 % 1000), Calls: 1, Inclusive: 2, Exclusive: 1}
	}
	return t
}

// TestATreeThatDoesNotFitIsRefusedBeforeItIsMade: turned round this tree has a node for every caller of every call.
func TestATreeThatDoesNotFitIsRefusedBeforeItIsMade(t *testing.T) {
	const nodes = 200_000
	full := bushy(nodes)
	whole, err := full.BottomUp(context.Background())
	if err != nil || int64(len(whole.Nodes))*nodeBytes < 90<<20 {
		t.Fatalf("%d nodes, %v: nothing is tried", len(whole.Nodes), err)
	}
	whole = nil
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	most := int64(before.HeapAlloc) + 32<<20
	ctx, done := memory.New(most * 16 / 9).Work(context.Background()) // so much may be live
	defer done()
	_, err = full.BottomUp(ctx)
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
	for i := range full.Nodes {
		full.Nodes[i].Inclusive = float64(i * 7919 % 997)
	}
	full.Regions = make([]trace.Region, 1000)
	count := map[float64]int{}
	for i := range full.Nodes {
		count[full.Nodes[i].Inclusive]++
	}
	if err := full.Sort(context.Background(), func(n *Node) float64 { return n.Inclusive }); err != nil {
		t.Fatal(err)
	}
	above := []int32{}
	for i := range full.Nodes {
		n := &full.Nodes[i]
		count[n.Inclusive]--
		above = append(above[:n.Depth], int32(i))
		if want := int32(-1); n.Depth > 0 {
			want = above[n.Depth-1]
			if n.Parent != want {
				t.Fatalf("node %d is below %d, want %d", i, n.Parent, want)
			}
		} else if n.Parent != want {
			t.Fatalf("node %d is below %d, want the top", i, n.Parent)
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
	for i := range tree.Nodes {
		if v := tree.Nodes[i].values; len(v) != 3 || cap(v) != 3 {
			t.Errorf("node %d has %d values and room for %d, want 3", i, len(v), cap(v))
		}
	}
}
