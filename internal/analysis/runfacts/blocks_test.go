package runfacts

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// hosts makes a tree of n hosts with m ranks each under one root.
func hosts(n, m int) (*store.Tree, []trace.LocationID, []string) {
	t := &store.Tree{Name: []string{"all"}, Parent: []trace.LocationID{trace.NoLocation}, Level: []uint16{0}, Rank: []int32{-1}}
	var ids []trace.LocationID
	var names []string
	for h := range n {
		host := trace.LocationID(len(t.Name))
		t.Name, t.Parent, t.Level, t.Rank = append(t.Name, fmt.Sprint("host", h)), append(t.Parent, 0), append(t.Level, 1), append(t.Rank, -1)
		for range m {
			rank := len(ids)
			ids = append(ids, trace.LocationID(len(t.Name)))
			names = append(names, fmt.Sprint("rank ", rank))
			t.Name, t.Parent, t.Level, t.Rank = append(t.Name, names[rank]), append(t.Parent, host), append(t.Level, 2), append(t.Rank, int32(rank))
		}
	}
	return t, ids, names
}

func TestBlocksAreHostsOrRunsOfNeighbours(t *testing.T) {
	tree, ids, names := hosts(8, 16)
	b := MakeBlocks(tree, ids, names, 12)
	if len(b.Members) != 8 || b.Names[2] != "host2" || b.Of[47] != 2 || !b.Level {
		t.Errorf("%d blocks, %q, the 48th in %d", len(b.Members), b.Names, b.Of[47])
	}
	// Too many hosts: runs of a power of two.
	tree, ids, names = hosts(100, 10)
	b = MakeBlocks(tree, ids, names, 12)
	if len(b.Members) != 8 || len(b.Members[0]) != 128 || b.Names[0] != "rank 0–127" || b.Names[7] != "rank 896–999" || b.Level {
		t.Errorf("%d blocks of %d, %q", len(b.Members), len(b.Members[0]), b.Names)
	}
	// One host that holds nearly all compares nothing.
	tree, ids, names = hosts(2, 64)
	ids, names = ids[:70], names[:70]
	if b = MakeBlocks(tree, ids, names, 12); b.Level || len(b.Members) != 9 {
		t.Errorf("%d blocks, %q", len(b.Members), b.Names)
	}
}
