package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nights exports runs of one program into a lake; from the third on its kernel is slower.
func nights(t *testing.T, lake string, n int) (files []string) {
	t.Helper()
	for i := range n {
		long := 100
		if i > 1 {
			long = 150
		}
		file := chromeTrace(t, fmt.Sprintf("night-%d", i), long+i)
		files = append(files, file)
		if out, code := intoLake(t, lake, file, "--as", fmt.Sprintf("night %d", i), "--project", "solver", "--key",
			"commit="+[]string{"old", "old", "new", "new"}[i], "--start",
			fmt.Sprintf("2026-10-0%dT03:00:00Z", i+1)); code != 0 {
			t.Fatal(out)
		}
	}
	return files
}

// compareRows returns the table of an answer without the names of its runs.
func compareRows(t *testing.T, args ...string) string {
	t.Helper()
	status, out, said := parallax(t, append(args, "--quiet", "--json")...)
	if status != 0 && status != 4 {
		t.Fatalf("%v: %s", args, said)
	}
	at, end := strings.Index(out, `"matched"`), strings.Index(out, `"source"`)
	if at < 0 {
		t.Fatalf("%v: %s", args, out)
	}
	if end < at {
		end = len(out)
	}
	return out[at:end]
}

// Runs of a lake are compared by the outlines that lie in it, with the same numbers as from their rows: the rows may be
// gone.
func TestRunsOfALakeAreComparedByTheirOutlines(t *testing.T) {
	lake := filepath.Join(t.TempDir(), "lake")
	files := nights(t, lake, 4)
	want := compareRows(t, append(append([]string{"compare"}, files[:2]...), append([]string{"--"}, files[2:]...)...)...)
	for _, table := range []string{"intervals", "profile", "locations", "runs"} {
		if err := os.RemoveAll(filepath.Join(lake, table)); err != nil {
			t.Fatal(err)
		}
	}
	if got := compareRows(t, "compare", lake, "--by", "commit"); got != want {
		t.Errorf("by outlines:\n%s\nby rows:\n%s", got, want)
	}
	status, out, said := parallax(t, "view", "history", lake, "--order", "start", "--quiet", "--json")
	if status != 0 || strings.Count(out, `"name": "night `)+strings.Count(out, `"name":"night `) < 4 {
		t.Errorf("history: %d %s\n%.2000s", status, said, out)
	}
	// A limit on a number that an outline does not have needs the rows.
	if status, _, said := parallax(t, "compare", lake, "--by", "commit", "--fail-on", "memory=5%", "--quiet"); status != 1 {
		t.Errorf("rows that are gone: %d %s", status, said)
	}
}

// Runs of several sizes are read by their outlines, too: factors and models are those from their rows.
func TestScalingOfALakeIsThatOfItsRuns(t *testing.T) {
	lake := filepath.Join(t.TempDir(), "lake")
	var sources []string
	for _, n := range []int{4, 8, 16} {
		source := fmt.Sprintf("demo:stencil?locations=%d&intervals=%d", n, 500*n)
		sources = append(sources, source)
		if out, code := intoLake(t, lake, source, "--project", "solver", "--as", fmt.Sprint("r", n)); code != 0 {
			t.Fatal(out)
		}
	}
	if err := os.RemoveAll(filepath.Join(lake, "intervals")); err != nil {
		t.Fatal(err)
	}
	factors := func(args ...string) string {
		t.Helper()
		status, out, said := parallax(t, append([]string{"view", "scaling", "--quiet", "--json"}, args...)...)
		at, end := strings.Index(out, `"factors":[`), strings.Index(out, `"models"`)
		if status != 0 || at < 0 || end < at {
			t.Fatalf("%v: %d %s\n%.2000s", args, status, said, out)
		}
		return out[at:end]
	}
	if got, want := factors(lake), factors(sources...); got != want {
		t.Errorf("by outlines:\n%s\nby rows:\n%s", got, want)
	}
}

func TestALakeOfSeveralProjectsNeedsOne(t *testing.T) {
	lake := filepath.Join(t.TempDir(), "lake")
	nights(t, lake, 4)
	if out, code := intoLake(t, lake, chromeTrace(t, "other", 90), "--project", "shop"); code != 0 {
		t.Fatal(out)
	}
	for _, c := range []struct {
		options []string
		status  int
		said    string
	}{
		{nil, 2, "shop, solver"},
		{[]string{"--project", "solver"}, 0, ""},
		{[]string{"--project", "solvr"}, 2, "did you mean solver"},
	} {
		args := append([]string{"compare", lake, "--by", "commit", "--cannot-tell", "pass", "--quiet"}, c.options...)
		if status, _, said := parallax(t, args...); status != c.status || !strings.Contains(said, c.said) {
			t.Errorf("%v: status %d, %q", c.options, status, said)
		}
	}
	if status, _, said := parallax(t, "view", "history", "demo:stencil", "--project", "x", "--quiet"); status != 2 {
		t.Errorf("a source that is no lake: %d %s", status, said)
	}
}
