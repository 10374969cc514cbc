package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A blocks gives the blocks of a store in a directory, as a remote store does.
type blocks struct {
	dir      string
	manifest *disk.Manifest
	requests atomic.Int64
	bytes    atomic.Int64
	fails    atomic.Bool
	wrong    string // a file whose bytes come wrong

	mu    sync.Mutex
	asked map[string]int // blocks by file, where it is there
}

func (b *blocks) Fetch(_ context.Context, pieces []Piece) error {
	b.requests.Add(1)
	if b.fails.Load() {
		return errors.New("server 2 of 2 does not answer")
	}
	for _, p := range pieces {
		f, err := os.Open(filepath.Join(b.dir, p.File))
		if err != nil {
			return err
		}
		e, _ := b.manifest.File(p.File)
		_, err = f.ReadAt(p.Into, p.Block*disk.BlockSizeOf(e.Size))
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s, block %d: %w", p.File, p.Block, err)
		}
		b.bytes.Add(int64(len(p.Into)))
		if b.asked != nil {
			b.mu.Lock()
			b.asked[p.File]++
			b.mu.Unlock()
		}
		if p.File == b.wrong {
			p.Into[0] ^= 1
		}
	}
	return nil
}

func (b *blocks) Kept(string) ([]byte, bool) { return nil, false }
func (b *blocks) Keep(string, []byte) error  { return errors.New("nothing is kept") }

func openBlocks(t testing.TB, path string, summaries ...trace.Summary) (*Reader, *blocks) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := disk.ParseManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	b := &blocks{dir: path, manifest: m}
	r, err := OpenFrom(b, text, time.Minute, summaries)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, b
}

// TestAScanOfARemoteStoreHoldsNoMoreThanTheBudget: several times as much is read as may be here at once, of rows and of links.
func TestAScanOfARemoteStoreHoldsNoMoreThanTheBudget(t *testing.T) {
	defer func(a, b int64) { disk.MostFetched, disk.FetchedStep = a, b }(disk.MostFetched, disk.FetchedStep)
	const most = 256 << 10
	path := filepath.Join(t.TempDir(), "run.plx")
	w, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	region := w.Region(trace.Region{Name: "step"})
	for i := range 16 {
		id := w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindProcess, Parent: trace.NoLocation, Rank: i})
		s := w.Stream(id, trace.StreamOptions{})
		at := trace.Time(0)
		for k := range 40000 {
			noise := uint32(k*16+i) * 2654435761
			s.Enter(at, region)
			at += trace.Time(noise >> 12)
			s.Leave(at, region)
		}
		_ = s.Close()
	}
	if err := w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	here, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	scan := func(r *Reader) (rows, sum, peak int64) {
		var mu sync.Mutex
		err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range c.Begin {
				sum += int64(c.Begin[i]) ^ int64(c.Duration[i])
			}
			rows += int64(c.Len())
			if r.Fetched != nil {
				peak = max(peak, r.Fetched.Held())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows, sum, peak
	}
	wantRows, wantSum, _ := scan(here)
	there, b := openBlocks(t, path)
	there.Workers = 4
	disk.MostFetched, disk.FetchedStep = most, most/4
	for range 2 {
		rows, sum, peak := scan(there)
		if rows != wantRows || sum != wantSum {
			t.Fatalf("%d rows of sum %d, want %d of %d", rows, sum, wantRows, wantSum)
		}
		if all := b.bytes.Load(); peak > 4*most || all < 8*most {
			t.Errorf("%d bytes were here at once of %d that came, and %d may be", peak, all, most)
		}
	}
}

func TestRemoteStorePassesTheSuite(t *testing.T) {
	defer func(a, b, c int64) { rows.MostHeld, disk.MostFetched, disk.FetchedStep = a, b, c }(rows.MostHeld, disk.MostFetched, disk.FetchedStep)
	disk.FetchedStep = 8 << 10                 // where nothing stays, frames go in the middle of a query too
	for _, kept := range []int64{1 << 30, 0} { // 0: each query must touch what it uses
		rows.MostHeld, disk.MostFetched = kept, kept
		t.Run(fmt.Sprint(kept, " bytes stay"), func(t *testing.T) {
			open := func(t *testing.T, fill func(trace.Writer), summaries []trace.Summary) store.Reader {
				r, _ := openBlocks(t, build(t, Options{Summaries: summaries}, fill), summaries...)
				if err := r.Verify(); err != nil {
					t.Error(err)
				}
				return r
			}
			for seed := range uint64(2) {
				storetest.RunSeed(t, open, seed, 60)
			}
		})
	}
}

func TestLanesAreFetchedTogether(t *testing.T) {
	path := build(t, Options{Summaries: []trace.Summary{benchSummary{}}}, func(w trace.Writer) { writeMany(w, 200, 3000) })
	r, b := openBlocks(t, path, benchSummary{})
	total := r.Info().SizeBytes
	b.requests.Store(0)
	b.bytes.Store(0)
	end := r.Info().End
	table, err := r.Time(context.Background(), store.Window{Begin: end / 3, End: end / 2})
	if err != nil || len(table.Locations) != 200 {
		t.Fatalf("%d locations, %v", len(table.Locations), err)
	}
	if n := b.requests.Load(); n > 20 {
		t.Errorf("%d requests for 200 lanes", n)
	}
	if n := b.bytes.Load(); n > total/2 {
		t.Errorf("%d of %d bytes were fetched", n, total)
	}
	t.Logf("%d requests, %d of %d bytes", b.requests.Load(), b.bytes.Load(), total)
}

// What is kept of whole lanes answers for them: no row is fetched, not even the first of each.
func TestWholeLanesOfARemoteStoreCostNoRows(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeMany(w, 50, 3000) })
	r, b := openBlocks(t, path)
	all := store.Window{End: r.Info().End}
	b.asked = map[string]int{}
	if table, err := r.Time(context.Background(), all); err != nil || len(table.Locations) != 50 {
		t.Fatalf("%d locations, %v", len(table.Locations), err)
	}
	if n, _ := r.Count(all); n != 150_000 {
		t.Errorf("%d intervals", n)
	}
	lanes := 0
	err := r.Digests(context.Background(), "none", all, func(l *trace.DigestedLane) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		lanes++
		return nil
	})
	if err != nil || lanes != 50 {
		t.Errorf("%d lanes, %v", lanes, err)
	}
	for file, n := range b.asked {
		if strings.HasPrefix(file, "interval.") {
			t.Errorf("%d blocks of %s were fetched", n, file)
		}
	}
	if b.asked["sum.value.i64"] == 0 {
		t.Error("sums were not fetched: the test sees nothing")
	}
}

// Sums of links between two times cost a few requests, however many nodes and blocks of links lie between.
func TestSumsOfRemoteLinksAreFetchedTogether(t *testing.T) {
	const n = 9 * disk.LinkNode
	path := build(t, Options{}, func(w trace.Writer) {
		for i := range 8 {
			thread(w, i)
		}
		links := make([]trace.Link, n)
		for i := range links {
			from, to := trace.LocationID(i%8), trace.LocationID(i*7%8)
			links[i] = trace.Link{
				Kind: trace.LinkMessage, Communicator: trace.NoCommunicator, Count: 1, Size: int64(uint32(i) * 2654435761 >> 8),
				From: trace.End{Location: from, Time: trace.Time(i), Region: trace.NoRegion}, To: trace.End{Location: to, Time: trace.Time(i + 5), Region: trace.NoRegion},
			}
		}
		trace.AddLinks(w, links)
	})
	r, b := openBlocks(t, path)
	b.requests.Store(0)
	sums, err := r.LinkSums(context.Background(), store.Window{Begin: n / 10, End: n / 10 * 9})
	count := int64(0)
	for _, s := range sums {
		count += s.Count
	}
	if err != nil || count != n/10*9-n/10 {
		t.Errorf("%d links, %v", count, err)
	}
	if got := b.requests.Load(); got > 12 {
		t.Errorf("%d requests", got)
	}
}

func TestBlocksThatCannotBeHadAreAnError(t *testing.T) {
	path := build(t, Options{}, func(w trace.Writer) { writeMany(w, 4, 3000) })
	r, b := openBlocks(t, path)
	b.fails.Store(true)
	all := store.Window{End: r.Info().End}
	err := r.Intervals(context.Background(), all, func(*trace.Columns) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "server 2 of 2 does not answer") || errors.Is(err, ErrDamaged) {
		t.Errorf("Intervals: %v", err)
	}
	if _, err := r.Count(store.Window{Begin: all.End / 3, End: all.End / 2}); err == nil {
		t.Error("Count met an error and did not return it")
	}
	b.fails.Store(false)
	if n, err := r.Count(all); err != nil || n != r.Info().Intervals {
		t.Errorf("when it answers again: %d intervals, %v; want %d", n, err, r.Info().Intervals)
	}
	b.wrong = "interval.region.u32"
	if err := r.Intervals(context.Background(), all, func(*trace.Columns) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("wrong bytes: %v", err)
	}
}

// writeMany writes locations of so many rows each.
func writeMany(w trace.Writer, locations, rows int) {
	region := w.Region(trace.Region{Name: "work"})
	for i := range locations {
		id := w.Location(trace.Location{Name: fmt.Sprint("rank ", i), Kind: trace.KindThread, Parent: trace.NoLocation})
		s := w.Stream(id, trace.StreamOptions{})
		for k := range rows {
			begin := trace.Time(k*1000 + (k*k+i*7)%500)
			s.Interval(begin, begin+100, region)
		}
		_ = s.Close()
	}
}
