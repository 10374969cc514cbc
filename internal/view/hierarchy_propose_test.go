package view

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// flat makes a run of n processes beside each other.
func flat(n int, define func(i int, l *trace.Location), more func(m *storetest.Memory, ids []trace.LocationID)) store.Reader {
	m := storetest.NewMemory()
	work := m.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
	var ids []trace.LocationID
	for i := range n {
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("p", i), Rank: trace.NoRank, Order: int64(i)}
		define(i, &l)
		id := m.Location(l)
		ids = append(ids, id)
		s := m.Stream(id, trace.StreamOptions{})
		s.Interval(0, 10, work)
		s.Close()
	}
	if more != nil {
		more(m, ids)
	}
	return m.Reader()
}

// hierarchyOf asks as a view does.
func hierarchyOf(t *testing.T, r store.Reader, rule string) (*runfacts.Hierarchy, string) {
	t.Helper()
	v := &View{Name: "test", Options: Use("hierarchy", "arrange")}
	set := map[string][]string{}
	if rule != "" {
		set["hierarchy"] = []string{rule}
	}
	values, err := NewValues(v, set)
	if err != nil {
		t.Fatal(err)
	}
	q := &Request{Runs: []Run{{Store: r}}, Values: values, Selection: trace.Selection{End: r.Info().End}}
	alike := func(b *trace.Behaviour, _ trace.Likeness) (order, of []int32, err error) { // halves
		for i := range int32(b.Owners) {
			order, of = append(order, i), append(of, i*2/int32(b.Owners))
		}
		return order, of, nil
	}
	g, err := q.Hierarchy(context.Background(), Arranged{}, Finders{Alike: alike}, r.Locations().Holds)
	if err != nil {
		t.Fatal(err)
	}
	return g.Hierarchy, g.Note
}

// TestFlatRunsGetGroups: thousands of places beside each other are grouped by what the
// source says of them, and a note says by what.
func TestFlatRunsGetGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		define func(i int, l *trace.Location)
		more   func(m *storetest.Memory, ids []trace.LocationID)
		note   string
		top    int    // groups at the top
		first  string // the first of them
		depth  int    // of leaves
	}{
		{"hosts", 200, func(i int, l *trace.Location) {
			l.Rank = i
			l.Attributes = []trace.Attribute{{Key: "Host", Value: trace.Text(fmt.Sprint("node", i%10))}}
		}, nil, "the attribute host", 10, "node0", 2},
		{"topology", 192, func(i int, l *trace.Location) { l.Rank = i }, func(m *storetest.Memory, ids []trace.LocationID) {
			top := trace.Topology{Name: "torus", Dims: []int{4, 6, 8}, DimNames: []string{"x", "y", "z"}}
			for i, id := range ids {
				top.Coordinates = append(top.Coordinates, trace.Coordinate{Location: id, At: []int{i / 48, i / 8 % 6, i % 8}})
			}
			m.Topology(top)
		}, "the topology torus", 4, "x 0", 3},
		{"names", 200, func(i int, l *trace.Location) { l.Name = fmt.Sprintf("gra-%d.%d", i/8, i%8) }, nil, `names up to "."`, 25, "gra-0", 2},
		{"ranks", 1000, func(i int, l *trace.Location) { l.Rank = i }, nil, "blocks of 32 ranks", 32, "ranks 0-31", 2},
		{"many ranks", 16384, func(i int, l *trace.Location) { l.Rank = i }, nil, "blocks of 32 ranks", 16, "ranks 0-1023", 3},
		{"likeness", 200, func(int, *trace.Location) {}, nil, "how alike they behave", 2, "group 1", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := flat(c.n, c.define, c.more)
			h, note := hierarchyOf(t, r, "")
			if !strings.Contains(note, c.note) || !strings.Contains(note, "--hierarchy tree") {
				t.Errorf("note %q", note)
			}
			groups := 0
			for i := int32(1); i < int32(h.Len()); i = h.Last[i] + 1 {
				groups++
			}
			if groups != c.top || h.Name(1) != c.first || h.Leaves != c.n {
				t.Errorf("%d groups, the first %q, of %d leaves; want %d, %q, %d", groups, h.Name(1), h.Leaves, c.top, c.first, c.n)
			}
			seen := map[int32]bool{}
			for id, leaf := range h.LeafOf {
				if leaf < 0 || h.Last[leaf] != leaf || h.Location[leaf] != trace.LocationID(id) || seen[leaf] {
					t.Fatalf("location %d has leaf %d", id, leaf)
				}
				seen[leaf] = true
			}
			if d := int(h.Depth[h.LeafOf[0]]); d != c.depth {
				t.Errorf("leaves are %d deep, want %d", d, c.depth)
			}
			if h, note := hierarchyOf(t, r, "tree"); note != "" || h.Len() != c.n+1 {
				t.Errorf("--hierarchy tree: %d nodes, note %q", h.Len(), note)
			}
		})
	}
	if _, note := hierarchyOf(t, flat(100, func(i int, l *trace.Location) { l.Rank = i }, nil), ""); note != "" {
		t.Errorf("a hundred need no groups: %q", note)
	}
}
