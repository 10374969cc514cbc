package local

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/testing/forgetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Stores that were made to do harm, with right checksums, are refused when they are opened, or fail in the query that meets the harm:
// none hangs, none ends the process.
func TestForgedStoresAreRefused(t *testing.T) {
	whole := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 3, 1500) })
	u32 := func(at int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[4*at:], v) }
	}
	u64 := func(at int, v uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[8*at:], v) }
	}
	for _, x := range []struct {
		what, file string
		change     func([]byte)
		open       bool // it opens, and a query fails
	}{
		{"a location that is its own parent", "location.parent.u32", u32(1, 1), false},
		{"parents in a circle", "location.parent.u32", func(b []byte) { u32(1, 2)(b); u32(2, 1)(b) }, false},
		{"a last location before itself", "location.last.u32", u32(2, 0), false},
		{"a last location beyond all", "location.last.u32", u32(0, 1<<31), false},
		{"lanes that go down", "location.lane.u32", u32(1, 1<<30), false},
		{"rows that go down", "lane.row.u64", u64(1, 1<<60), false},
		{"a lane that ends before it begins", "lane.end.i64", u64(0, 1<<63), false},
		{"a role that is none", "region.role.u8", func(b []byte) { b[0] = 200 }, false},
		{"a counter of no location", "counter.location.u32", u32(0, 1<<30), false},
		{"samples beyond all", "counter.count.u64", u64(0, 1<<62), false},
		{"a name beyond all", "location.name.u32", u32(0, 1<<31), false},
		{"an interval of no region", "interval.region.u32", u32(5, 1<<30), true},
		{"an interval that is its own parent", "interval.parent.i32", u32(5, 5), true},
		{"a checkpoint beyond all", "checkpoint.sum.u64", u64(1, 1<<62), true},
		{"a node beyond all", "level.node.u64", u64(1, 1<<62), true},
	} {
		t.Run(x.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.plx")
			if err := os.CopyFS(path, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			forgetest.Plain(t, path, x.file)
			if info, err := os.Stat(filepath.Join(path, x.file)); err != nil || info.Size() < 16 {
				t.Skipf("%s: %v", x.file, err)
			}
			forgetest.File(t, path, x.file, x.change)
			done := make(chan error, 1)
			go func() {
				r, err := Open(path, []trace.Summary{benchSummary{}})
				if err != nil {
					done <- err
					return
				}
				defer r.Close()
				if !x.open {
					t.Errorf("it opens")
				}
				_, err = answers(r)
				done <- errors.Join(err, everything(r))
			}()
			select {
			case err := <-done:
				if err == nil && !x.open || err != nil && !errors.Is(err, ErrDamaged) {
					t.Errorf("%v", err)
				}
			case <-time.After(time.Minute):
				t.Fatal("it hangs")
			}
		})
	}
}

// TestDamagedStoresReturnNoNumbersOutOfRange: some words of each file of a store become other numbers, and what is
// asked looks up whatever it is given.
func TestDamagedStoresReturnNoNumbersOutOfRange(t *testing.T) {
	whole := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 3, 400) })
	m, err := disk.ReadManifest(whole)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(whole, disk.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, f := range m.Files {
		if f.Size == 0 {
			continue
		}
		sound, err := os.ReadFile(filepath.Join(whole, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < 6 && f.Size >= 4*int64(at+1); at += 2 {
			forgetest.File(t, whole, f.Name, func(b []byte) { binary.LittleEndian.PutUint32(b[4*at:], 0x80000000+uint32(at)) })
			r, err := Open(whole, []trace.Summary{benchSummary{}})
			if err == nil {
				err = everything(r)
				r.Close()
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, word %d: %v", f.Name, at, err)
			}
			if err != nil {
				refused++
			}
			if err := errors.Join(os.WriteFile(filepath.Join(whole, f.Name), sound, 0o600), os.WriteFile(filepath.Join(whole, disk.ManifestName), manifest, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if refused < 50 {
		t.Errorf("%d were refused: nothing is tried", refused)
	}
}

// FuzzStore opens stores with a byte changed anywhere, and right checksums.
func FuzzStore(f *testing.F) {
	path := filepath.Join(f.TempDir(), "run.plx")
	w, err := Create(path, Options{Summaries: []trace.Summary{benchSummary{}}})
	if err != nil {
		f.Fatal(err)
	}
	writeRandom(w, 3, 200)
	if err := w.Finish(f.Context()); err != nil {
		f.Fatal(err)
	}
	var names []string
	sound := filesOf(f, path)
	for name, b := range sound {
		if name != disk.ManifestName && len(b) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range names {
		f.Add(uint16(i), uint32(i*7), uint64(1)<<(i%64))
	}
	f.Fuzz(func(t *testing.T, file uint16, at uint32, value uint64) {
		name := names[int(file)%len(names)]
		defer func() { // a copy of all files for each try would take most of the time
			for _, n := range []string{name, disk.ManifestName} {
				if err := os.WriteFile(filepath.Join(path, n), sound[n], 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}()
		forgetest.File(t, path, name, func(b []byte) {
			var v [8]byte
			binary.LittleEndian.PutUint64(v[:], value)
			copy(b[int(at)%len(b):], v[:])
		})
		r, err := Open(path, []trace.Summary{benchSummary{}})
		if err != nil {
			return
		}
		defer r.Close()
		_, _ = answers(r)
		_ = everything(r)
	})
}

// Ends that no writer gives are refused when a store is opened, and by verify.
func TestAStoreWithAnImpossibleEndIsRefused(t *testing.T) {
	for _, end := range []trace.Time{-5, math.MaxInt64, 1 << 62} {
		path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 50) })
		forgetest.Manifest(t, path, func(m *disk.Manifest) { m.Info.End = end })
		if r, err := Open(path, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("end %d: got %v, want ErrDamaged", end, err)
			if err == nil {
				r.Close()
			}
		}
		if x, err := Examine(t.Context(), path); err != nil || x.Cannot == "" {
			t.Errorf("end %d: verify finds nothing: %+v, %v", end, x, err)
		}
	}
}

// forgeManifest changes the manifest, which holds its own checksum.
func TestAReportOfAnUnknownKindIsRefused(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 50) })
	forgetest.Manifest(t, path, func(m *disk.Manifest) { m.Report = []trace.ReportEntry{{Kind: 99, What: "x"}} })
	if r, err := Open(path, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
		if err == nil {
			r.Close()
		}
	}
}

// Forged stores with right checksums are refused, or answer, or fail as damaged. PARALLAX_FORGED is how many are
// tried; run it under `ulimit -v` to hold memory.
func TestManyForgedStoresAreAnsweredOrRefused(t *testing.T) {
	tries, _ := strconv.Atoi(os.Getenv("PARALLAX_FORGED"))
	if tries == 0 {
		tries = 300
	}
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 5, 120) })
	forged := forgetest.NewStore(t, path, 11)
	opened, failed := 0, 0
	for i := range tries {
		place := forged.Forge(t)
		r, err := Open(path, []trace.Summary{benchSummary{}})
		if err == nil {
			opened++
			_, err = answers(r)
			err = errors.Join(err, everything(r))
			r.Close()
		}
		if err != nil {
			failed++
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("try %d, %s: %v", i, place, err)
			}
		}
	}
	t.Logf("%d forged stores: %d opened, %d refused or failed as damaged", tries, opened, failed)
}
