package projections

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "pingpong", Most: 20, Anywhere: true, ByName: true, Cuts: 60}, {Path: "user", Anywhere: true, ByName: true}})
}

func FuzzReader(f *testing.F) { importertest.Fuzz(f, Format, "u.0.log", "testdata/user/u.0.log") }

// FuzzLog changes a log or the .sts file beside it.
func FuzzLog(f *testing.F) { importertest.FuzzBeside(f, Format, "testdata/user", "u.0.log", "u.sts") }

// Records counted in the logs by their type, and the creations that pipit's own test states: 77 and 68,
// and 35 to all. Every entry method is linked or counted.
func TestRecordsAreThoseOfTheLogs(t *testing.T) {
	for _, c := range []struct {
		set                               string
		entries, idle, packs, unpacks     int64
		links, unlinked, computations, pe int64
	}{
		{"readers/projections/ping-pong", 307, 180, 185, 203, 285, 22, 2, 2},
		{"public/projections/hello-4pes-v3", 41, 39, 22, 31, 41, 0, 4, 4},
	} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, c.set))
		calls, _ := w.Categories()
		byName := map[string]int64{}
		for id, n := range w.Calls {
			byName[w.Regions[id].Name] += n
		}
		got := fmt.Sprint(calls["entry method"], byName["Idle"], byName["Pack"], byName["Unpack"], w.Links[trace.LinkMessage],
			w.Reported["guessed entry methods whose message was created outside the logs: kept without a link"], byName["Computation"], len(w.Locations))
		if want := fmt.Sprint(c.entries, c.idle, c.packs, c.unpacks, c.links, c.unlinked, c.computations, c.pe); got != want {
			t.Errorf("%s: entries, idle, packs, unpacks, links, unlinked, computations, PEs %s, want %s", c.set, got, want)
		}
	}
}

func TestNamesOfTheStsFile(t *testing.T) {
	for line, want := range map[string]string{
		`ENTRY CHARE 3 "a(int b, int c)" 4 0`: `[ENTRY CHARE 3 a(int b, int c) 4 0]`,
		"CHARE 0 null":                        `[CHARE 0 null]`,
		`A "open`:                             `[A "open]`,
		"":                                    `[]`,
	} {
		if got := fmt.Sprint(words(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	for file, want := range map[string]int{"a/x.12.log": 12, "x.3.log.gz": 3, "x.sts": -1, "x.log": -1, "x.1.sum": -1} {
		if got := peOf(file); got != want {
			t.Errorf("%s: PE %d, want %d", file, got, want)
		}
	}
}
