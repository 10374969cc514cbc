package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// filesOf reads every file of a store.
func filesOf(t testing.TB, path string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = b
	}
	return out
}

func sameFiles(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	for name, b := range want {
		if !bytes.Equal(b, got[name]) {
			t.Errorf("%s differs: %d and %d bytes", name, len(b), len(got[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is only in one store", name)
		}
	}
}

func TestBytesDoNotDependOnMemoryAndWorkers(t *testing.T) {
	fill := func(w trace.Writer) { writeRandom(w, 11, 8000) }
	summaries := []trace.Summary{benchSummary{}, longSummary{}}
	want := filesOf(t, build(t, Options{Summaries: summaries, Workers: 1}, fill))
	if len(want["interval.begin.i64"]) < 8000 {
		t.Fatal("the trace is too small")
	}
	for _, o := range []Options{{Memory: 1, Workers: 1}, {Memory: 1, Workers: 5}, {Memory: 1 << 20, Workers: 3}} {
		o.Summaries = summaries
		sameFiles(t, want, filesOf(t, build(t, o, fill)))
	}
}

// longSummary has blocks of different sizes: the begins of rows.
type longSummary struct{}

func (longSummary) Name() string { return "begins of rows" }
func (longSummary) Version() int { return 3 }

func (longSummary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	return append(dst, spool.BytesOf(s.Rows.Begin)...)
}

func (longSummary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	return append(append(dst, a...), b...)
}

func TestBlocksOfDifferentSizes(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{longSummary{}}}, func(w trace.Writer) { writeRandom(w, 5, 3000) })
	r := reopen(t, path, longSummary{})
	var blocks atomic.Int64
	err := r.Summaries(context.Background(), "begins of rows", store.Window{Begin: 0, End: r.Info().End}, store.Coarsest, store.Visitor{
		Block: func(id trace.LocationID, lane int, begin, end trace.Time, b trace.Block) error {
			blocks.Add(1)
			v, _ := r.Lookup(id, lane)
			v.Touch(0, v.Len())
			if want := v.Begin[v.FirstFrom(begin):v.FirstFrom(end)]; !bytes.Equal(b, spool.BytesOf(want)) {
				return fmt.Errorf("block [%d, %d) has %d bytes, want %d rows", begin, end, len(b), len(want))
			}
			return nil
		},
		Rows: func(*trace.Stretch) error { return nil },
	})
	if err != nil || blocks.Load() == 0 {
		t.Errorf("%d blocks, %v", blocks.Load(), err)
	}
}

func TestOutdatedSummaryIsRebuiltOnceAndSaved(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{1}}}, func(w trace.Writer) { writeRandom(w, 2, 3000) })
	before := filesOf(t, path)
	old := reopen(t, path, benchSummary{1}) // stays open over what follows
	want := blocksOf(t, old, "bench")

	counting := &countingSummary{benchSummary: benchSummary{2}}
	r := reopen(t, path, counting, longSummary{})
	if counting.builds.Load() == 0 {
		t.Error("the new version was not built")
	}
	if got := blocksOf(t, r, "bench"); !slices.EqualFunc(want, got, func(a, b []byte) bool { return bytes.Equal(a, b) }) {
		t.Error("rebuilt blocks differ from those made at import")
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	again := &countingSummary{benchSummary: benchSummary{2}}
	reopen(t, path, again)
	if again.builds.Load() != 0 {
		t.Error("the rebuilt summary was not saved")
	}
	after := filesOf(t, path)
	if _, ok := after["summary.bench.1.blocks"]; ok {
		t.Error("the old version's file is still there")
	}
	for name, b := range before {
		if name != disk.ManifestName && !strings.HasPrefix(name, "summary.") && !bytes.Equal(b, after[name]) {
			t.Errorf("%s changed", name)
		}
	}
	if got := blocksOf(t, old, "bench"); len(got) != len(want) {
		t.Error("a reader of the old version was disturbed")
	}
}

type countingSummary struct {
	benchSummary
	builds atomic.Int64
}

func (c *countingSummary) Build(dst trace.Block, s *trace.Stretch, r []trace.Region) trace.Block {
	c.builds.Add(1)
	return c.benchSummary.Build(dst, s, r)
}

func blocksOf(t *testing.T, r *Reader, name string) [][]byte {
	t.Helper()
	type place struct {
		id    trace.LocationID
		lane  int
		begin trace.Time
	}
	var out [][]byte
	for level := range 63 {
		blocks := map[place][]byte{}
		var mu sync.Mutex
		err := r.Summaries(t.Context(), name, store.Window{End: r.Info().End}, level, store.Visitor{
			Block: func(id trace.LocationID, lane int, begin, _ trace.Time, b trace.Block) error {
				mu.Lock()
				defer mu.Unlock()
				blocks[place{id, lane, begin}] = slices.Clone(b)
				return nil
			},
			Rows: func(*trace.Stretch) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		places := slices.SortedFunc(maps.Keys(blocks), func(a, b place) int {
			return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.lane, b.lane), cmp.Compare(a.begin, b.begin))
		})
		for _, p := range places {
			out = append(out, blocks[p])
		}
	}
	return out
}

func TestSummaryOfAReadOnlyStoreLivesWithTheReader(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 2, 2000) })
	if err := os.Chmod(path, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(path, 0o755)
	if f, err := os.CreateTemp(path, "x"); err == nil {
		f.Close()
		os.Remove(f.Name())
		t.Skip("this user can write everywhere")
	}
	before := filesOf(t, path)
	r := reopen(t, path, benchSummary{})
	if len(blocksOf(t, r, "bench")) == 0 {
		t.Error("no blocks")
	}
	sameFiles(t, before, filesOf(t, path))
}

func TestAbortAndFailureLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.plx")
	empty := func(when string) {
		t.Helper()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %v is left", when, left)
		}
	}
	w, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	writeRandom(w, 1, 500)
	w.Abort()
	w.Abort()
	empty("abort")

	if w, err = Create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	writeRandom(w, 1, 500)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Finish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	empty("cancelled")

	if w, err = Create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	id, f := w.Location(trace.Location{Parent: trace.NoLocation, Rank: trace.NoRank}), w.Region(trace.Region{Name: "f"})
	s := w.Stream(id, trace.StreamOptions{})
	s.Enter(-1<<62, f)
	s.Leave(1<<62, f)
	if err := w.Finish(context.Background()); err == nil || !strings.Contains(err.Error(), "years") {
		t.Errorf("times far apart: %v", err)
	}
	empty("times far apart")
}

func TestCreateReplacesAStoreAndNothingElse(t *testing.T) {
	first := build(t, Options{}, func(w trace.Writer) { w.Property("run", "1") })
	r := reopen(t, first)
	w, err := Create(first, Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Property("run", "2")
	if r.Info().Properties["run"] != "1" {
		t.Error("the old store changed")
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := reopen(t, first).Info().Properties["run"]; got != "2" {
		t.Errorf("run is %q after the second import", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(first)); len(left) != 1 {
		t.Errorf("left beside the store: %v", left)
	}
	other := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(other, Options{}); err == nil || !strings.Contains(err.Error(), "not a store") {
		t.Errorf("over a file: %v", err)
	}
}

func TestOtherVersionsAreRefusedByName(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*disk.Manifest)
		want   string
	}{
		{"newer", func(m *disk.Manifest) { m.Version++ }, fmt.Sprintf("version %d of the format, newer than this program's %d", disk.Version+1, disk.Version)},
		{"older", func(m *disk.Manifest) { m.Version-- }, fmt.Sprintf("version %d of the format, older than this program's %d", disk.Version-1, disk.Version)},
		{"a table is missing", func(m *disk.Manifest) { m.Files = m.Files[:len(m.Files)-1] }, "written by another build"},
	} {
		path := build(t, Options{Sources: []string{"run.json"}}, func(trace.Writer) {})
		m, err := disk.ReadManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		c.change(m)
		if err := m.Write(path); err != nil {
			t.Fatal(err)
		}
		_, err = Open(path, nil)
		var other *VersionError
		if !errors.As(err, &other) || errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.what, err, c.want)
		} else if !slices.Equal(other.Sources, []string{"run.json"}) {
			t.Errorf("%s: sources %q", c.what, other.Sources)
		}
	}
}

// everything asks all queries of a store; answers do not matter.
func everything(r *Reader) error {
	ctx := context.Background()
	w := store.Window{Begin: r.Info().End / 5, End: r.Info().End - r.Info().End/5}
	var all []trace.LocationID
	for id := range r.Locations().Len() {
		all = append(all, trace.LocationID(id))
	}
	var errs []error
	look := lookup{r}
	for _, w := range []store.Window{w, {Begin: 0, End: r.Info().End}} {
		r.Count(w)
		r.LinkCount(w)
		_, err := r.Time(ctx, w)
		_, err2 := r.Groups(ctx, all, max(w.Begin, 0), w.End, max(8, bits.Len64(uint64(r.Info().End))-4))
		errs = append(errs, err, err2,
			r.Intervals(ctx, w, func(c *trace.Columns) error { return look.regions(c.Region) }),
			r.Links(ctx, w, func(l *store.LinkColumns) error { look.locations(l.FromLocation); return look.locations(l.ToLocation) }),
			r.Instants(ctx, w, func(c *store.InstantColumns) error { return look.regions(c.Region) }),
			r.Samples(ctx, nil, w.Begin, w.End, func(*store.SampleColumns) error { return nil }),
			r.AttributeColumn(ctx, w, 0, func(*store.AttributeColumns) error { return nil }),
			r.Profile(ctx, nil, look.profile),
			sums(ctx, r, w, func(x ...any) error { return nil }),
		)
		for _, level := range []int{store.Coarsest, 6, 10} {
			errs = append(errs, r.Summaries(ctx, "bench", w, level, store.Visitor{
				Block: func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error { return nil },
				Rows:  func(*trace.Stretch) error { return nil },
			}))
		}
	}
	for id := range all {
		at := store.Row{Location: trace.LocationID(id), Row: 300}
		r.At(at.Location, 0, r.Info().End/2)
		r.Interval(at)
		r.IntervalAttributes(at)
		errs = append(errs, r.Children(ctx, at, func(*trace.Columns) error { return nil }))
	}
	return errors.Join(errs...)
}

// A lookup finds what numbers are of, as views do: it panics where they are of nothing.
type lookup struct{ r *Reader }

func (l lookup) regions(ids []trace.RegionID) error {
	for _, id := range ids {
		if id != trace.NoRegion {
			_ = l.r.Regions()[id]
		}
	}
	return nil
}

func (l lookup) locations(ids []trace.LocationID) error {
	for _, id := range ids {
		_ = l.r.Locations().Last[id]
	}
	return nil
}

func (l lookup) profile(rows []trace.ProfileRow) error {
	for _, x := range rows {
		_ = l.r.Metrics()[x.Metric]
		_ = l.r.Locations().Last[x.Location]
		if x.Path != trace.NoCallPath {
			_ = l.r.CallPaths()[x.Path]
		}
	}
	return nil
}

func TestDamageIsAnErrorNeverACrash(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeRandom(w, 3, 1500) })
	r := reopen(t, path, benchSummary{})
	if err := errors.Join(r.Verify(), everything(r)); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	files := filesOf(t, path)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file, good := filepath.Join(path, name), files[name]
		for round := range 4 {
			bad := slices.Clone(good)
			what := fmt.Sprintf("%s cut", name)
			if round == 0 {
				bad = bad[:rnd.IntN(len(bad))]
			} else {
				at := rnd.IntN(len(bad))
				bad[at] ^= 1 << rnd.IntN(8)
				what = fmt.Sprintf("%s with a bit of byte %d turned", name, at)
			}
			if err := os.WriteFile(file+".new", bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
			d, err := Open(path, []trace.Summary{benchSummary{}})
			if err != nil {
				if !errors.Is(err, ErrDamaged) && name != disk.ManifestName {
					t.Errorf("%s: %v is not ErrDamaged", what, err)
				}
				continue
			}
			if round == 0 {
				t.Errorf("%s: opened", what)
			}
			if err := d.Verify(); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: Verify gives %v", what, err)
			}
			if err := everything(d); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s: %v", what, err)
			}
			d.Close()
		}
		if err := os.WriteFile(file, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGroupsTooManyAreRefused(t *testing.T) {
	r := randomStore(t, 1, 200)
	_, err := r.Groups(context.Background(), []trace.LocationID{0}, 0, 1<<40, 3)
	if err == nil || !strings.Contains(err.Error(), "coarser") {
		t.Errorf("got %v", err)
	}
}

func TestFileThatShrinksWhileOpenIsAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut there")
	}
	path := build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 4000) })
	r := reopen(t, path)
	if err := os.Truncate(filepath.Join(path, "interval.duration.i64"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Time(context.Background(), store.Window{Begin: 5, End: r.Info().End - 5}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestQueriesAfterCloseFail(t *testing.T) {
	r, err := Open(build(t, Options{}, func(w trace.Writer) { writeRandom(w, 3, 100) }), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := everything(r); !errors.Is(err, rows.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestPanicOfACallbackIsNotTakenForDamage(t *testing.T) {
	r := randomStore(t, 1, 100)
	defer func() {
		if p, ok := recover().(disk.CalleePanic); !ok || p.Value != "mine" {
			t.Errorf("got %v", p)
		}
	}()
	_ = r.Children(context.Background(), store.Row{Location: firstHolder(r)}, func(*trace.Columns) error { panic("mine") })
	_ = r.Profile(context.Background(), nil, func([]trace.ProfileRow) error { panic("mine") })
}

func firstHolder(r *Reader) trace.LocationID {
	return trace.LocationID(slices.Index(r.Locations().Holds, true))
}

func TestManyStreamsAtOnce(t *testing.T) {
	const streams, rows = 3000, 40
	fill := func(parallel bool) func(trace.Writer) {
		return func(w trace.Writer) {
			f := w.Region(trace.Region{Name: "f"})
			var all []trace.Stream
			for i := range streams {
				id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprint(i), Rank: trace.NoRank})
				all = append(all, w.Stream(id, trace.StreamOptions{}))
			}
			write := func(i int) {
				for k := range trace.Time(rows) {
					all[i].Enter(k*10+trace.Time(i), f)
					all[i].Leave(k*10+5+trace.Time(i), f)
				}
			}
			var wg sync.WaitGroup
			for i := range all {
				if parallel {
					wg.Go(func() { write(i) })
				} else {
					write(i)
				}
			}
			wg.Wait()
			for _, s := range all {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
	want := filesOf(t, build(t, Options{}, fill(false)))
	sameFiles(t, want, filesOf(t, build(t, Options{Memory: 1}, fill(true))))
}

func TestRecordsThatCannotBeKeptAreCounted(t *testing.T) {
	r := reopen(t, build(t, Options{}, func(w trace.Writer) {
		a := w.Location(trace.Location{Parent: trace.NoLocation, Name: "a", Rank: trace.NoRank})
		b := w.Location(trace.Location{Parent: 77, Name: "b", Rank: trace.NoRank})
		c := w.Counter(trace.Counter{Location: b, Name: "c"})
		f := w.Region(trace.Region{Name: "f"})
		s := w.Stream(a, trace.StreamOptions{})
		s.Attribute(w.Attribute("x"), trace.Integer(1))
		s.Enter(1, 99)
		s.Interval(1, 2, f)
		s.Sample(c, 1, 1)
		s.Sample(55, 1, 1)
		w.Link(trace.Link{From: trace.End{Location: 42}, To: trace.End{Location: a}})
		w.Profile(trace.ProfileRow{Location: 42})
		_ = s.Close()
	}))
	got := map[string]int64{}
	for _, e := range r.Info().Report {
		got[e.What] = e.Count
	}
	for what, n := range map[string]int64{
		"locations with an undefined parent, moved to the top":       1,
		"attributes before any record of their stream":               1,
		"records with an undefined region":                           1,
		"samples of a counter that is not defined on their location": 2,
		"links with an undefined location":                           1,
		"profile rows with an undefined location":                    1,
	} {
		if got[what] != n {
			t.Errorf("%q: %d, want %d", what, got[what], n)
		}
	}
	if r.Info().Intervals != 1 {
		t.Errorf("%d intervals, want 1", r.Info().Intervals)
	}
}
