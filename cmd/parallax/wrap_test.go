package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

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

func TestInfoAndCheckFitEightyColumnsAndShowActivity(t *testing.T) {
	for _, args := range [][]string{{"info", "demo:training"}, {"check", "demo:training"}, {"info", "demo:stencil"}, {"info", "../../docs/tutorials/data/hpl32.tar.zst"}} {
		_, out, _ := parallax(t, args...)
		for line := range strings.Lines(out) {
			line = strings.TrimRight(line, "\n")
			if n := utf8.RuneCountInString(line); n > usualWidth && !strings.Contains(line, "/") &&
				!strings.Contains(line, "parallax ") { // paths and commands stay whole
				t.Errorf("%v: %d columns: %s", args, n, line)
			}
		}
		if args[0] == "info" && !strings.Contains(out, "at once") {
			t.Errorf("%v draws no activity:\n%.400s", args, out)
		}
	}
	// The slow node keeps the others waiting at the end of each five iterations.
	_, out, _ := parallax(t, "info", "demo:stencil")
	if !strings.Contains(out, "█") || !strings.Contains(out, "▂") {
		t.Errorf("busy and idle times look alike:\n%.300s", out)
	}
}
