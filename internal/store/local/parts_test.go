package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// writePart imports one of several parts into dir.
func writePart(t testing.TB, dir string, part, parts int, fill func(trace.Writer), o local.Options) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := dir
	if parts > 0 {
		path = filepath.Join(dir, local.PartName(part))
	}
	o.Part, o.Parts = part, parts
	w, err := local.Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// sameFiles compares two stores file by file.
func sameFiles(t testing.TB, want, got string) {
	t.Helper()
	names := func(dir string) (out []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}
	if a, b := names(want), names(got); !slices.Equal(a, b) {
		t.Fatalf("the whole import has files %v, the joined parts %v", a, b)
	}
	for _, name := range names(want) {
		a, errA := os.ReadFile(filepath.Join(want, name))
		b, errB := os.ReadFile(filepath.Join(got, name))
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: %d bytes of the whole import, %d of the joined parts, and they differ", name, len(a), len(b))
		}
	}
}

// TestJoinedPartsAreTheWholeImport: the suite's traces, with links, lanes, facts, counters and profiles, and the suite itself on the joined store.
func TestJoinedPartsAreTheWholeImport(t *testing.T) {
	for seed := range uint64(3) {
		parts := int(seed)%3 + 2
		storetest.RunSeed(t, func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
			t.Helper()
			random := fill
			fill = func(w trace.Writer) { trace.SortRegions(w); random(w) } // which defines from several goroutines
			o := local.Options{Summaries: summaries, Digests: all.Digests}
			whole, dir := filepath.Join(t.TempDir(), "whole.plx"), filepath.Join(t.TempDir(), "run.plx")
			writePart(t, whole, 0, 0, fill, o)
			for k := parts; k > 0; k-- { // in any order
				writePart(t, dir, k, parts, fill, o)
			}
			r, err := local.Open(dir, summaries, all.Digests...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			sameFiles(t, whole, dir)
			return r
		}, seed, 400)
	}
}

// ring has rows enough for several jobs of the index, calls that nobody leaves, and links between all parts.
func ring(shift trace.Time) func(trace.Writer) {
	return func(w trace.Writer) {
		region := []trace.RegionID{w.Region(trace.Region{Name: "step"}), w.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication})}
		top := w.Location(trace.Location{Name: "machine", Kind: trace.KindMachine, Parent: trace.NoLocation})
		var ids []trace.LocationID
		for i := range 8 {
			ids = append(ids, w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess, Parent: top, Rank: i}))
		}
		for i, id := range ids {
			s := w.Stream(id, trace.StreamOptions{})
			s.Enter(shift, region[i%2]) // until the end
			for k := range trace.Time(10000) {
				s.Enter(shift+10*k+trace.Time(i), region[0])
				s.Enter(shift+10*k+3+trace.Time(i), region[1])
				s.Leave(shift+10*k+5+trace.Time(i), region[1])
				s.Leave(shift+10*k+9+trace.Time(i), region[0])
				w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: id, Time: shift + 10*k + 4}, To: trace.End{Location: ids[(i+3)%8], Time: shift + 10*k + 8}, Size: 8, Count: 1})
			}
			_ = s.Close()
		}
	}
}

func TestPartsThatAreNotOfOneRunAreRefused(t *testing.T) {
	o := local.Options{Summaries: all.Summaries, Digests: all.Digests, Sources: []string{"a.otf2"}}
	dir := filepath.Join(t.TempDir(), "run.plx")
	wrong := func(what string, want ...string) {
		t.Helper()
		_, err := local.Open(dir, all.Summaries, all.Digests...)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", what, err, w)
			}
		}
	}
	writePart(t, dir, 2, 3, ring(0), o)
	wrong("two are missing", "parts 1, 3 of 3 missing", "--shard 1/3")
	var missing *local.MissingParts
	if _, err := local.Join(context.Background(), dir, o); !errors.As(err, &missing) || !slices.Equal(missing.Missing, []int{1, 3}) {
		t.Errorf("missing: %v", err)
	}
	writePart(t, dir, 1, 3, ring(0), o)
	other := o
	other.Sources = []string{"b.otf2"}
	writePart(t, dir, 3, 3, func(w trace.Writer) { ring(0)(w); w.Region(trace.Region{Name: "more"}) }, other)
	wrong("of another source", "part-1 (from a.otf2)", "part-3 (from b.otf2)", "not of the same source")
	other = o
	other.Digests = nil
	writePart(t, dir, 3, 3, ring(0), other)
	wrong("of another program", "part-1 and ", "different versions of parallax")
	os.RemoveAll(filepath.Join(dir, "part-3"))
	writePart(t, dir, 4, 4, ring(0), o)
	wrong("of another number of parts", "one of 3 parts", "one of 4")
	os.RemoveAll(filepath.Join(dir, "part-4"))
	writePart(t, dir, 3, 3, ring(0), o)
	part := filepath.Join(dir, "part-3", "part.json")
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(part, bytes.Replace(b, fmt.Appendf(nil, `"version":%d`, disk.Version), []byte(`"version":99`), 1), 0o644)
	wrong("of a newer store", "part-3 is of version 99 of the store")
	os.WriteFile(part, b[:len(b)/2], 0o644)
	wrong("half a manifest", "part.json", "damaged")
	os.WriteFile(part, b, 0o644)
	for _, name := range []string{"index.sums", "interval.begin.i64"} {
		file := filepath.Join(dir, "part-3", name)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Clone(good)
		bad[len(bad)/2] ^= 8
		os.WriteFile(file, bad, 0o644)
		wrong("a byte is another", name, "damaged")
		os.WriteFile(file, good[:len(good)-8], 0o644)
		wrong("cut off", name, "damaged")
		os.WriteFile(file, good, 0o644)
	}
	r, err := local.Open(dir, all.Summaries, all.Digests...)
	if err != nil {
		t.Fatalf("when all is well again: %v", err)
	}
	r.Close()
	whole := filepath.Join(t.TempDir(), "whole.plx")
	writePart(t, whole, 0, 0, ring(0), o)
	sameFiles(t, whole, dir)
}

func TestAPartMayBeMadeAgain(t *testing.T) {
	o := local.Options{Summaries: all.Summaries, Digests: all.Digests}
	dir, whole := filepath.Join(t.TempDir(), "run.plx"), filepath.Join(t.TempDir(), "whole.plx")
	for _, k := range []int{1, 1, 2, 1} {
		writePart(t, dir, k, 2, ring(5), o)
	}
	if _, err := local.Join(context.Background(), dir, o); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Join(context.Background(), dir, o); err != nil {
		t.Errorf("joined once more: %v", err)
	}
	writePart(t, whole, 0, 0, ring(5), o)
	sameFiles(t, whole, dir)
}

func TestARunWithoutRowsIsJoined(t *testing.T) {
	dir, whole := filepath.Join(t.TempDir(), "run.plx"), filepath.Join(t.TempDir(), "whole.plx")
	empty := func(w trace.Writer) {
		w.Location(trace.Location{Name: "rank 0", Kind: trace.KindProcess, Parent: trace.NoLocation})
	}
	for k := range 3 {
		writePart(t, dir, k+1, 3, empty, local.Options{Summaries: all.Summaries})
	}
	r, err := local.Open(dir, all.Summaries)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	writePart(t, whole, 0, 0, empty, local.Options{Summaries: all.Summaries})
	sameFiles(t, whole, dir)
}

// numbered has what is packed as it is made: rows told by number, locations of very many and of very few of them, so that jobs share frames, and calls that
// nobody leaves.
func numbered(w trace.Writer) {
	region := []trace.RegionID{w.Region(trace.Region{Name: "step"}), w.Region(trace.Region{Name: "MPI_Send", Role: trace.RoleCommunication}), w.Region(trace.Region{Name: "main"})}
	var ids []trace.LocationID
	for i := range 90 {
		ids = append(ids, w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess, Parent: trace.NoLocation, Rank: i}))
	}
	for i, id := range ids {
		s := w.Stream(id, trace.StreamOptions{})
		if i%4 == 0 {
			s.Enter(0, region[i%3]) // until the end
		}
		calls := trace.Time(17 * i)
		if i%40 == 7 {
			calls = 30000
		}
		for k := range calls {
			s.Enter(10*k+trace.Time(i), region[0])
			s.Enter(10*k+3+trace.Time(i), region[1])
			s.Leave(10*k+5+trace.Time(i), region[1])
			s.Leave(10*k+9+trace.Time(i), region[0])
			if k < 17 && i > 2 {
				w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: id, Time: 10*k + 4, Number: uint32(2*k) + 1}, To: trace.End{Location: ids[i-1], Time: 10*k + 8, Number: uint32(k) + 1}, Size: 8, Count: 1})
			}
		}
		_ = s.Close()
	}
}

// overlapping has several lanes to a location, and no links.
func overlapping(w trace.Writer) {
	region := w.Region(trace.Region{Name: "span"})
	for i := range 30 {
		s := w.Stream(w.Location(trace.Location{Name: fmt.Sprint("queue ", i), Kind: trace.KindThread, Parent: trace.NoLocation}), trace.StreamOptions{Unordered: true})
		for k := range trace.Time(400 * (i % 7)) {
			s.Interval(100*k, 100*k+trace.Time(30+int(k)*int(k)%250), region)
		}
		_ = s.Close()
	}
}

// Rows that are packed as they are made, in a whole import, are those that are packed in the end, in parts: also with little memory, where a
// location does not fit into a buffer, and where one has more rows than are unpacked into memory as one.
func TestRowsPackedEarlyAreTheSame(t *testing.T) {
	defer func(n uint64) { rows.MostUnpacked = n }(rows.MostUnpacked)
	most := rows.MostUnpacked
	for name, fill := range map[string]func(trace.Writer){
		"numbered": numbered, "overlapping": overlapping,
		"with a number that is not there": func(w trace.Writer) {
			numbered(w)
			w.Link(trace.Link{Kind: trace.LinkMessage, From: trace.End{Location: 8, Time: 44, Number: 1 << 30}, To: trace.End{Location: 9, Time: 48, Number: 5}, Count: 1})
		},
	} {
		for _, x := range []struct {
			memory   int64
			unpacked uint64
		}{{1 << 20, 1000}, {0, most}, {1 << 20, most}, {0, 1000}} {
			if testing.Short() && (x.memory == 0 || x.unpacked == most) {
				continue // the first has all of it
			}
			o := local.Options{Summaries: all.Summaries, Digests: all.Digests, Memory: x.memory}
			dir, whole := filepath.Join(t.TempDir(), "run.plx"), filepath.Join(t.TempDir(), "whole.plx")
			rows.MostUnpacked = x.unpacked
			writePart(t, whole, 0, 0, fill, o)
			rows.MostUnpacked = most
			for k := range 2 {
				writePart(t, dir, k+1, 2, fill, o)
			}
			if _, err := local.Join(context.Background(), dir, o); err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprint(name, " in ", x.memory, ", ", x.unpacked, " rows"), func(t *testing.T) { sameFiles(t, whole, dir) })
		}
	}
}

// A diskWatch is a digest that looks at the disk while records are made from rows.
type diskWatch struct {
	trace.Digest
	at   string
	seen *atomic.Int64 // bytes of rows
}

func (d diskWatch) Builder(regions int) trace.DigestBuilder {
	files, _ := filepath.Glob(filepath.Join(d.at, ".*", "interval.*"))
	n := int64(0)
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
	}
	d.seen.Store(max(d.seen.Load(), n))
	return d.Digest.Builder(regions)
}

// Plain rows are most of what an import may have on the disk: they are gone before anything is derived from them, also where a
// location has more than are unpacked into memory.
func TestNoPlainRowsLieOnTheDiskWhileTheRestIsDerived(t *testing.T) {
	defer func(n uint64) { rows.MostUnpacked = n }(rows.MostUnpacked)
	rows.MostUnpacked = 10_000
	dir := t.TempDir()
	watch := diskWatch{all.Digests[0], dir, new(atomic.Int64)}
	writePart(t, filepath.Join(dir, "whole.plx"), 0, 0, numbered, local.Options{Summaries: all.Summaries, Digests: []trace.Digest{watch}})
	r, err := local.Open(filepath.Join(dir, "whole.plx"), all.Summaries, watch)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, plain := watch.seen.Load(), 34*r.Info().Intervals; n == 0 || n > plain/2 {
		t.Errorf("rows take %d bytes on the disk while the rest is derived from them, and plain ones %d", n, plain)
	}
}
