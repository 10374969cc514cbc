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
