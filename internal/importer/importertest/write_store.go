package importertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
)

// WriteStore imports a run into a whole store, with every index, summary and digest, and
// gives how long that took. The store is removed then.
func WriteStore(tb testing.TB, run importer.Run) time.Duration {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "run.plx")
	defer os.RemoveAll(path)
	begin := time.Now()
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
	return time.Since(begin)
}
