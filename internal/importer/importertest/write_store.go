package importertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// WriteStore imports a run into a whole store, with every index, summary and digest, and
// gives how long that took. The store is removed then.
func WriteStore(tb testing.TB, run importer.Run) time.Duration {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.plx")
	defer os.RemoveAll(path)
	begin := time.Now()
	writeStore(tb, run, path)
	return time.Since(begin)
}

// SameRegions imports a run several times and wants the same regions under the same
// numbers, however the goroutines that read it take turns.
func SameRegions(t *testing.T, run importer.Run) {
	t.Helper()
	var want []trace.Region
	for i := range 6 {
		path := filepath.Join(t.TempDir(), "run.plx")
		writeStore(t, run, path)
		r, err := local.Open(path, all.Summaries)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(r.Regions())
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if i == 0 {
			want = got
		}
		for id := range got {
			if len(got) != len(want) || got[id].Name != want[id].Name || got[id].Category != want[id].Category {
				t.Fatalf("import %d: %d regions, want %d; %d is %q, want %q", i, len(got), len(want), id, got[id].Name, want[min(id, len(want)-1)].Name)
			}
		}
	}
}

func writeStore(tb testing.TB, run importer.Run, path string) {
	tb.Helper()
	w, err := local.Create(path, local.Options{Summaries: all.Summaries, Digests: all.Digests})
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
