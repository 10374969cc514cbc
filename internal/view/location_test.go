package view

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestLocationsGetTheShortestNamesThatDiffer(t *testing.T) {
	no := trace.NoLocation
	tree := &store.Tree{
		Name:   []string{"a", "main", "w", "b", "main", "w"},
		Parent: []trace.LocationID{no, 0, 0, no, 3, 3},
		Rank:   []int32{0, 0, 0, 1, 1, 1},
	}
	for want, ids := range map[string][]trace.LocationID{
		"main w":            {1, 2},
		"rank 0 rank 1":     {1, 4},
		"a/main a/w b/main": {1, 2, 4},
		"a b":               {0, 3},
	} {
		if got := strings.Join(runfacts.ShortNames(tree, ids), " "); got != want {
			t.Errorf("%v: %q, want %q", ids, got, want)
		}
	}
}

func TestNameLists(t *testing.T) {
	ranks := []string{"rank 0", "rank 1", "rank 2", "rank 3", "rank 8", "rank 10"}
	for want, members := range map[string][]int32{
		"rank 0–3, 8, 10": {0, 1, 2, 3, 4, 5},
		"rank 0, 1":       {0, 1},
		"rank 8":          {4},
	} {
		if got := NameList(ranks, members, 9); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := NameList([]string{"x", "y", "z"}, []int32{0, 1, 2}, 2); got != "x, y, … (3 in all)" {
		t.Errorf("%q", got)
	}
}
