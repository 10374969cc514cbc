package importertest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Damage cuts and changes a sample that is kept next to the repository in so many places each. Sound parts are read:
// no import panics, hangs or fails without a position, and none finds more by being cut. Samples may be large, so
// records are only counted; it is left out with -short.
func Damage(t *testing.T, f *importer.Format, path string, places int) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
	files := claimedFiles(t, f, Shared(t, path))
	whole := countDamaged(t, f, files)
	if whole == nil {
		t.Fatal("the sample itself is refused")
	}
	random := rand.New(rand.NewPCG(3, 4))
	names := slices.Sorted(maps.Keys(files))
	for i := range places {
		name := names[i%len(names)]
		data := files[name].Data
		at := int(int64(len(data)) * int64(i) / int64(places))
		damaged := maps.Clone(files)
		damaged[name] = &fstest.MapFile{Data: data[:at]}
		if w := countDamaged(t, f, damaged); w != nil && w.Enters+w.Intervals > whole.Enters+whole.Intervals {
			t.Errorf("%s cut at byte %d: %d intervals, %d in all of it", name, at, w.Enters+w.Intervals,
				whole.Enters+whole.Intervals)
		}
		changed := bytes.Clone(data)
		for range 1 + random.IntN(4) {
			if len(changed) > 0 {
				changed[random.IntN(len(changed))] = byte(random.IntN(256))
			}
		}
		damaged[name] = &fstest.MapFile{Data: changed}
		countDamaged(t, f, damaged)
	}
}

// countDamaged imports files into a writer that counts; nil if they are refused.
func countDamaged(t *testing.T, f *importer.Format, files fstest.MapFS) *Count {
	t.Helper()
	s, err := importer.NewSourceFS("sample", files)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	w := NewCount()
	for _, run := range importer.ClaimAs(f, s) {
		if err := run.Import(ctx, w); err != nil {
			if wrong := unclear(err); wrong != "" {
				t.Error(wrong)
			}
			return nil
		}
	}
	return w
}

// claimedFiles reads the files of a source that the format claims, unpacked.
func claimedFiles(t *testing.T, f *importer.Format, path string) fstest.MapFS {
	t.Helper()
	s, err := importer.NewSource(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	files := fstest.MapFS{}
	for _, run := range importer.ClaimAs(f, s) {
		for _, name := range run.Files {
			r, err := run.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			r.Close()
			if err != nil {
				t.Fatal(err)
			}
			files[name] = &fstest.MapFile{Data: data}
		}
	}
	if len(files) == 0 {
		t.Fatalf("nothing is claimed in %s", path)
	}
	return files
}
