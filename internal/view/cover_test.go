package view_test

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Locations 0 (1 (2 3) 4 (5 6)); 2, 3, 5, 6 and 4 itself hold values.
func coverTree() (*store.Tree, []bool) {
	t := &store.Tree{Name: make([]string, 7), Parent: []trace.LocationID{trace.NoLocation, 0, 1, 1, 0, 4, 4}, Last: []trace.LocationID{6, 3, 2, 3, 6, 5, 6}}
	return t, []bool{false, false, true, true, true, true, true}
}

func TestCoverNamesWholeSubtreesOnce(t *testing.T) {
	tree, holds := coverTree()
	for want, ids := range map[string][]trace.LocationID{
		"[1]":     {2, 3},
		"[1 5]":   {2, 3, 5},
		"[5 6]":   {5, 6}, // 4 holds values too and is not meant
		"[4]":     {4, 5, 6},
		"[0]":     {2, 3, 4, 5, 6},
		"[2]":     {2},
		"[]":      {},
		"[2 5 6]": {2, 5, 6},
	} {
		if got := fmt.Sprint(view.Cover(tree, holds, ids)); got != want {
			t.Errorf("%v is covered by %s, want %s", ids, got, want)
		}
	}
}

func TestAFactWithTooManyLocationsSaysSo(t *testing.T) {
	n := 20001
	tree := &store.Tree{Name: make([]string, n), Parent: make([]trace.LocationID, n), Last: make([]trace.LocationID, n)}
	holds := make([]bool, n)
	var ids []trace.LocationID
	for i := range n {
		tree.Parent[i], tree.Last[i], holds[i] = 0, trace.LocationID(i), true
		if i > 0 {
			ids = append(ids, trace.LocationID(i))
		}
	}
	tree.Parent[0], tree.Last[0] = trace.NoLocation, trace.LocationID(n-1)
	var f view.Fact
	f.SetLocations(tree, holds, ids)
	if len(f.Locations) != 10000 || f.Text != "Choosing it selects the first 10,000 of 20,000 locations." {
		t.Errorf("%d locations, %q", len(f.Locations), f.Text)
	}
	f = view.Fact{}
	f.SetLocations(tree, holds, append([]trace.LocationID{0}, ids...))
	if fmt.Sprint(f.Locations) != "[0]" || f.Text != "" {
		t.Errorf("%d locations, %q", len(f.Locations), f.Text)
	}
}
