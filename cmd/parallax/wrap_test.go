package main

import "testing"

func TestLinesBreakAtSpacesAndNotBeforeAUnit(t *testing.T) {
	got := wrapped("the others wait 605 ms (46.9 % of all) in gloo:all_reduce", "  ", 24)
	want := "  the others wait 605 ms\n  (46.9 % of all) in\n  gloo:all_reduce"
	if got != want {
		t.Errorf("%q", got)
	}
	if got := wrapped("a-name-that-is-longer-than-the-line stays whole", "", 10); got != "a-name-that-is-longer-than-the-line\nstays\nwhole" {
		t.Errorf("%q", got)
	}
}
