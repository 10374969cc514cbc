package gotrace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// Most goroutines have a handful of intervals, so that a store is mostly what it keeps of each: its name, its place, its summaries.
// Those of a server have many, and blocks of summaries for them.
func TestAGoroutineTakesLessThan200BytesBesideItsIntervals(t *testing.T) {
	for _, name := range []string{"go-compile/gocompile", "go-sync/sync"} {
		s, err := importer.NewSource(importertest.Shared(t, name+".trace"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x.plx")
		w, err := local.Create(path, local.Options{Summaries: all.Summaries, Digests: all.Digests})
		if err != nil {
			t.Fatal(err)
		}
		if err := importer.ClaimAs(Format, s)[0].Import(context.Background(), w); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		r, err := local.Open(path, all.Summaries, all.Digests...)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		size := int64(0)
		for _, kind := range []string{"string.", "location.", "lane.", "checkpoint.", "sum.", "level.", "node.", "group.", "summary.", "digest."} {
			size += sizeOf(t, path, kind)
		}
		if n := int64(r.Locations().Len()); size > 200*n {
			t.Errorf("%s: %d bytes for %d locations", name, size, n)
		}
	}
}

// sizeOf is how many bytes the files of a store have whose names begin so.
func sizeOf(t *testing.T, path, begin string) (size int64) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
	}
	return size
}
