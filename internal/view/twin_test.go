package view

import (
	"strings"
	"testing"
)

// Long lists are cut and the notes say so; short ones, the result itself and views with an option --all stay.
func TestLongListsOfJSONAreCutAndCounted(t *testing.T) {
	type data struct {
		Rows  []int `json:"rows"`
		Short []int `json:"short"`
		Count int   `json:"count"`
	}
	all := data{make([]int, 3*mostListed), make([]int, mostListed), 7}
	cut := &Twin{Data: all, Options: map[string]any{"size": "1"}}
	cut.Cut()
	got := cut.Data.(data)
	if len(got.Rows) != mostListed || len(got.Short) != mostListed || got.Count != 7 || len(all.Rows) != 3*mostListed {
		t.Errorf("%d rows of %d, %d of a short list", len(got.Rows), len(all.Rows), len(got.Short))
	}
	if len(cut.Notes) != 1 || !strings.Contains(cut.Notes[0], "first 16,384 of 49,152 rows; --all writes all") {
		t.Errorf("notes are %q", cut.Notes)
	}
	own := &Twin{Data: all, Options: map[string]any{"all": false}}
	own.Cut()
	if len(own.Data.(data).Rows) != 3*mostListed || len(own.Notes) > 0 {
		t.Errorf("a view with an option --all has %d rows, notes %q", len(own.Data.(data).Rows), own.Notes)
	}
}

// Lists in the elements of a short list are cut too, and so are those of data behind a pointer.
func TestLongListsInElementsAreCutAndTheResultStays(t *testing.T) {
	type group struct {
		Members []int `json:"members"`
	}
	type data struct {
		Groups []group `json:"groups"`
	}
	all := &data{[]group{{make([]int, 2*mostListed)}, {make([]int, 5)}, {make([]int, 3*mostListed)}}}
	cut := &Twin{Data: all, Options: map[string]any{}}
	cut.Cut()
	got := cut.Data.(data)
	for k, want := range []int{mostListed, 5, mostListed} {
		if len(got.Groups[k].Members) != want {
			t.Errorf("group %d has %d members, want %d", k, len(got.Groups[k].Members), want)
		}
	}
	if len(all.Groups[0].Members) != 2*mostListed || len(all.Groups[2].Members) != 3*mostListed {
		t.Error("the result itself was cut")
	}
	if len(cut.Notes) != 1 || !strings.Contains(cut.Notes[0], "first 16,384 of 49,152 members of groups; --all") {
		t.Errorf("notes are %q", cut.Notes)
	}
}

// A result that gives the first elements of a list says how many there are, and is cut as if it had given all.
func TestAListGivenInPartIsCountedInFull(t *testing.T) {
	type data struct {
		Rows []int `json:"rows"`
	}
	for _, given := range []int{mostListed, mostListed + 100} {
		cut := &Twin{Data: data{make([]int, given)}, Options: map[string]any{}, full: map[string]int{"rows": 1_000_000}}
		cut.Cut()
		if n := len(cut.Data.(data).Rows); n != mostListed {
			t.Errorf("of %d given rows %d stay", given, n)
		}
		if len(cut.Notes) != 1 || !strings.Contains(cut.Notes[0], "first 16,384 of 1,000,000 rows") {
			t.Errorf("notes are %q", cut.Notes)
		}
	}
}
