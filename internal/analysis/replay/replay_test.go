package replay

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// pieces are three replays of a graph of three nodes, two of them of one kernel; in the second replay the last node takes ten times as long.
func pieces(ids bool) (list []Piece) {
	for launch := range 3 {
		at := trace.Time(1000 * launch)
		for n, length := range []trace.Time{10, 20, 30} {
			if launch == 1 && n == 2 {
				length *= 10
			}
			p := Piece{Launch: launch + 1, Begin: at, End: at + length, Region: trace.RegionID([]int{5, 7, 5}[n]), Graph: -1, Node: -1}
			if ids {
				p.Graph, p.Node = 3, int64(100+n)
			}
			list = append(list, p)
			at += length + 1
		}
	}
	return append(list, Piece{Launch: 9, Begin: 9000, End: 9100, Region: 5, Graph: -1, Node: -1}) // an ordinary launch
}

func TestNodesOfOneKernelAreDistinguishedWithAndWithoutIDs(t *testing.T) {
	for _, ids := range []bool{false, true} {
		list := Compare(pieces(ids))
		if len(list) != 1 || len(list[0].Nodes) != 3 || len(list[0].Replays) != 3 {
			t.Fatalf("ids %v: %+v", ids, list)
		}
		g := &list[0]
		if last := g.Nodes[2]; last.Count != 3 || last.Time != 360 || last.Least != 30 || last.Most != 300 || last.Slow() != 1 || last.Mean != 120 || g.Heaviest != 2 {
			t.Errorf("ids %v: %+v", ids, last)
		}
		if first := g.Nodes[0]; first.Time != 30 || first.Deviation != 0 || first.Region != 5 {
			t.Errorf("ids %v: %+v", ids, first)
		}
		if g.Slowest != 1 || g.Most != 332 || g.Least != 62 || g.Median != 62 || g.Replays[1].Busy != 330 {
			t.Errorf("ids %v: %+v", ids, g)
		}
	}
}

// Other kernels make another graph, and each GPU has its own.
func TestDifferentGraphsAreDistinguished(t *testing.T) {
	list := pieces(false)
	for _, p := range pieces(false) {
		p.GPU = 1
		list = append(list, p)
	}
	for i, r := range []trace.RegionID{5, 5, 5} {
		list = append(list, Piece{Launch: 20, Begin: trace.Time(20_000 + i), End: trace.Time(20_001 + i), Region: r, Graph: -1, Node: -1})
	}
	if got := Compare(list); len(got) != 3 {
		t.Errorf("%d graphs", len(got))
	}
	if Compare(nil) != nil {
		t.Error("of nothing")
	}
}
