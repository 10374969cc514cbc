package gprof

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "report.txt", Anywhere: true, Cuts: 60}, {Path: "flat.txt", Anywhere: true}, {Path: "gmon.out.gz", Anywhere: true}, {Path: "small.gmon", Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/report.txt", "testdata/flat.txt", "testdata/small.gmon")
}

// functions are the flat rows by name.
func functions(t *testing.T, file string) map[string]trace.ProfileRow {
	t.Helper()
	r := importertest.Import(t, Format, "testdata/"+file)
	out := map[string]trace.ProfileRow{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			if path := r.CallPaths()[p.Path]; path.Flat {
				out[r.Regions()[path.Region].Name] = p
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e6 } // a millisecond

// The report says what must come out: leaf took all of the time, a third of it for left.
func TestReportsAreWhatTheySay(t *testing.T) {
	got := functions(t, "report.txt")
	for name, want := range map[string]struct{ calls, self, whole float64 }{
		"leaf": {3, 0.15e9, 0.15e9}, "left": {1, 0, 0.05e9}, "right": {1, 0, 0.10e9}, "main": {0, 0, 0.15e9},
		"fib": {2692537, 0, 0}, "even": {4501, 0, 0}, "odd": {4501, 0, 0},
	} {
		if p := got[name]; p.Calls != want.calls || !near(p.Exclusive, want.self) || !near(p.Inclusive, want.whole) {
			t.Errorf("%s: %v calls, %v and %v ns; want %+v", name, p.Calls, p.Exclusive, p.Inclusive, want)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d functions, want 7", len(got))
	}
	if flat := functions(t, "flat.txt"); flat["leaf"].Calls != 3 || !near(flat["leaf"].Exclusive, 0.15e9) || flat["fib"].Calls != 1 || len(flat) != 6 {
		t.Errorf("the flat table alone: %v", flat)
	}
}

// gmon.out has no names, but the same calls and times as gprof makes of it, by addresses behind the beginnings
// that nm tells: leaf 0x40124d, left 0x401295, right 0x4012ab, fib 0x4011a6, even 0x4011da, odd 0x401215.
func TestAddressesOfGmon(t *testing.T) {
	got := functions(t, "gmon.out.gz")
	for name, want := range map[string]struct{ calls, self, whole float64 }{
		"0x401257": {3, 0.15e9, 0.15e9}, "0x40129f": {1, 0, 0.05e9}, "0x4012b5": {1, 0, 0.15e9}, // with main behind it
		"0x4011b3": {2692537, 0, 0}, "0x4011e4": {4501, 0, 0}, "0x40121f": {4501, 0, 0},
	} {
		if p := got[name]; p.Calls != want.calls || !near(p.Exclusive, want.self) || !near(p.Inclusive, want.whole) {
			t.Errorf("%s: %v calls, %v and %v ns; want %+v", name, p.Calls, p.Exclusive, p.Inclusive, want)
		}
	}
}
