package importertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// WriteStore imports a run into a whole store, with every index, summary and digest, and returns how long that
// took. The store is removed then.
func WriteStore(tb testing.TB, run importer.Run) time.Duration {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.plx")
	defer os.RemoveAll(path)
	begin := time.Now()
	writeStore(tb, run, path)
	return time.Since(begin)
}

// SameBytes imports a run several times and wants the same store to the last byte, however
// the goroutines that read it take turns: the manifest holds the checksums of all files.
func SameBytes(t *testing.T, run importer.Run, times int) {
	t.Helper()
	var want []string
	for i := range times {
		path := filepath.Join(t.TempDir(), "run.plx")
		writeStore(t, run, path)
		manifest, err := os.ReadFile(filepath.Join(path, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(string(manifest), "\n")
		if i == 0 {
			want = got
		}
		for n := range got {
			if n > 0 && (len(got) != len(want) || got[n] != want[n]) { // the first line is the checksum of the others
				t.Fatalf("import %d differs from the first: %.200s", i+1, strings.Join(got[max(n-2, 0):n+1], " "))
			}
		}
	}
}

func writeStore(tb testing.TB, run importer.Run, path string) {
	tb.Helper()
	o := local.Options{Summaries: all.Summaries, Digests: all.Digests, RegionName: trace.FoldName, Align: "auto",
		Infer: true}
	w, err := local.Create(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	if err := run.Import(context.Background(), w); err != nil {
		tb.Fatal(err)
	}
	if err := w.Finish(context.Background()); err != nil {
		tb.Fatal(err)
	}
}
