package kaleidoscope_test

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// treeOf gives every call of a run.
func treeOf(t *testing.T, r store.Reader) []kaleidoscope.Node {
	t.Helper()
	return data(t, viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Options: map[string][]string{"all": {"true"}}}).Nodes
}

// Every span hangs on its parent by id, or on the virtual root where it has none.
func TestSpansHangOnTheirParents(t *testing.T) {
	for _, format := range viewtest.SpanFormats {
		for seed := range uint64(3) {
			spans := viewtest.RandomSpans(seed, 60)
			nodes := treeOf(t, viewtest.ImportBytes(t, "x.json", viewtest.WriteSpans(format, spans)))
			byID := map[int32]kaleidoscope.Node{}
			for _, n := range nodes {
				byID[n.ID] = n
			}
			found := 0
			for _, n := range nodes {
				var i int
				if k, _ := fmt.Sscanf(n.Region, "s%d", &i); k != 1 {
					continue // the virtual root
				}
				found++
				parent, want := "", ""
				if n.Parent != nil {
					parent = byID[*n.Parent].Region
				}
				if p := spans[i].Parent; p >= 0 {
					want = fmt.Sprint("s", p)
				}
				if parent != want {
					t.Errorf("%s, seed %d: s%d hangs on %q, want %q", format, seed, i, parent, want)
				}
			}
			if found != len(spans) {
				t.Errorf("%s, seed %d: %d of %d spans", format, seed, found, len(spans))
			}
		}
	}
}

// In SmartThings' web install every span but the first names a parent: there is one tree.
func TestRealSpansHangOnTheirParents(t *testing.T) {
	r := viewtest.Import(t, "data", "public", "zipkin", "smartthings", "smartthings-mobile-web-install.json")
	want := map[string]int{}
	roots := 0
	for _, s := range viewtest.ReadSpans(t, r) {
		up := ""
		if s.Parent != nil {
			up = r.Regions()[s.Parent.Region].Name
		} else {
			roots++
		}
		want[up+" > "+r.Regions()[s.Region].Name]++
	}
	got := map[string]int{}
	nodes := treeOf(t, r)
	byID := map[int32]kaleidoscope.Node{}
	for _, n := range nodes {
		byID[n.ID] = n
	}
	for _, n := range nodes {
		up := ""
		if n.Parent != nil {
			up = byID[*n.Parent].Region
		}
		if n.Location != "" {
			got[up+" > "+n.Region]++
		}
	}
	for pair, n := range want {
		if got[pair] != n {
			t.Errorf("%d calls %s, want %d", got[pair], pair, n)
		}
	}
	if roots != 1 || len(got) != len(want) {
		t.Errorf("%d roots, %d pairs, want 1 and %d", roots, len(got), len(want))
	}
}
