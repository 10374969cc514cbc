package all

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// Damaged inputs of every format are read or refused with an error that says where: no panic, no hang, and no memory
// without bounds. PARALLAX_DAMAGED is how many are tried in all; run it under `ulimit -v` to hold memory.
func TestManyDamagedInputsAreReadOrRefused(t *testing.T) {
	all, _ := strconv.Atoi(os.Getenv("PARALLAX_DAMAGED"))
	if all == 0 {
		all = 2000
	}
	type sample struct {
		format *importer.Format
		path   string
	}
	var list []sample
	for _, f := range Formats {
		for _, path := range samplesOf(t, f) {
			list = append(list, sample{f, path})
		}
	}
	if len(list) < 60 {
		t.Fatalf("only %d samples", len(list))
	}
	tried, refused := 0, 0
	for i, s := range list {
		n := all*(i+1)/len(list) - all*i/len(list)
		refused += importertest.DamageMany(t, s.format, s.path, n, uint64(i))
		tried += n
	}
	t.Logf("%d damaged inputs of %d samples: %d refused, %d read", tried, len(list), refused, tried-refused)
}

// samplesOf returns the small samples in the folder of a format that it claims.
func samplesOf(t *testing.T, f *importer.Format) (paths []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("..", f.Name, "testdata"))
	if err != nil {
		return nil // it shares a folder, or is refused by name
	}
	for _, e := range entries {
		path := filepath.Join("..", f.Name, "testdata", e.Name())
		s, err := importer.NewSource(path)
		if err != nil {
			continue
		}
		runs, err := importer.Detect([]*importer.Format{f}, s)
		s.Close()
		if err == nil && len(runs) > 0 && sizeOf(path) <= 32<<10 {
			paths = append(paths, path)
		}
	}
	return paths
}

func sizeOf(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}
