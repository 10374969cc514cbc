package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// machineOf writes a run with so many ranks on a node, each in main for 10 ns.
func machineOf(node string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "location machine %q\n", node)
	for i := range n {
		fmt.Fprintf(&b, "  location process \"rank %d\" rank=%d\n    0..10 main\n", i, i)
	}
	return b.String()
}

// pairs writes which rank is which.
func pairs(a, b store.Reader) (by, text string) {
	p := ranks.Pair(a, b)
	for id, to := range p.To {
		if rank := a.Locations().Rank[id]; rank >= 0 && to != trace.NoLocation {
			text += fmt.Sprintf(" %d=%d", rank, b.Locations().Rank[to])
		}
	}
	return p.By, strings.TrimSpace(text)
}

func TestRanksOfTwoRunsArePairedByNumberOrByPlace(t *testing.T) {
	four, other, two := storetest.Text(t, machineOf("n1", 4)), storetest.Text(t, machineOf("n2", 4)), storetest.Text(t, machineOf("n1", 2))
	for _, c := range []struct {
		name         string
		a, b         store.Reader
		by, expected string
	}{
		{"as many, on another machine", four, other, "rank", "0=0 1=1 2=2 3=3"},
		{"half as many", four, two, "place", "0=0 1=0 2=1 3=1"},
		{"twice as many", two, four, "place", "0=1 1=3"},
	} {
		if by, text := pairs(c.a, c.b); by != c.by || text != c.expected {
			t.Errorf("%s: by %s %s, want by %s %s", c.name, by, text, c.by, c.expected)
		}
	}
}

func TestRanksOfTwoMachinesArePairedByCoordinates(t *testing.T) {
	grid := func(text string, wide, high int) string {
		text += fmt.Sprintf("topology grid %dx%d\n", wide, high)
		for i := range wide * high { // the first coordinate runs fastest
			text += fmt.Sprintf("  at \"n/rank %d\" %d,%d\n", i, i%wide, i/wide)
		}
		return text
	}
	a, b := storetest.Text(t, grid(machineOf("n", 4), 2, 2)), storetest.Text(t, grid(machineOf("n", 8), 2, 4))
	if by, text := pairs(a, b); by != "coordinates" || text != "0=2 1=3 2=6 3=7" {
		t.Errorf("two by two on two by four: by %s %s", by, text)
	}
}

func TestASelectionIsTheSameInTheSecondRun(t *testing.T) {
	a := storetest.Text(t, "region f\nregion g\nlocation process \"rank 0\" rank=0\n  0..100 f\n  100..200 g\nlocation process \"rank 1\" rank=1\n  0..200 f\n")
	b := storetest.Text(t, "region g\nregion f\nregion h\nlocation process \"rank 0\" rank=0\n  0..80 f\nlocation process \"rank 1\" rank=1\n  0..120 g\n  120..150 h\n")
	q := &view.Request{Runs: []view.Run{{Name: "a", Store: a}, {Name: "b", Store: b}}, Selection: trace.Selection{End: 200}}
	if s := q.Second().Selection; s.Begin != 0 || s.End != 150 || s.Locations != nil || s.Regions != nil {
		t.Errorf("all of the first run is %+v of the second", s)
	}
	q.Selection = trace.Selection{Begin: 50, End: 180, Regions: []trace.RegionID{1}, Locations: []trace.LocationID{1}}
	s := q.Second().Selection
	if s.Begin != 50 || s.End != 150 || len(s.Regions) != 1 || b.Regions()[s.Regions[0]].Name != "g" || len(s.Locations) != 1 || b.Locations().Rank[s.Locations[0]] != 1 {
		t.Errorf("a part of the first run is %+v of the second", s)
	}
}
