package ghceventlog

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "hello-ghc-8.6.5.eventlog", Cuts: 100}, {Path: "testlog-part.eventlog", Most: 8, Cuts: 40, Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.eventlog", "testdata/hello-ghc-8.6.5.eventlog", "testdata/testlog-part.eventlog")
}

// Runs of threads and collections, counted by a script that walks the bytes.
func TestRunsAndCollections(t *testing.T) {
	for file, want := range map[string]struct{ runs, collections, all int64 }{
		"hello-ghc-8.6.5": {4, 1, 45}, "me": {64, 77, 990}, "parallelTest": {30, 25, 412}, "testlog-part": {127, 30, 715}, "time-prof": {0, 0, 475},
	} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, "readers3/ghc/"+file+".eventlog"))
		calls, _ := w.Categories()
		if calls["thread"] != want.runs || calls["runtime"] != want.collections || w.Enters > want.all {
			t.Errorf("%s: %d runs, %d collections; want %+v", file, calls["thread"], calls["runtime"], want)
		}
	}
}
