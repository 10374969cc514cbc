package local

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// benchRows is how many intervals the benchmarks use: a million, or
// PARALLAX_BENCH_ROWS.
func benchRows(b *testing.B) int {
	if s := os.Getenv("PARALLAX_BENCH_ROWS"); s != "" {
		n, err := strconv.ParseFloat(s, 64)
		if err != nil {
			b.Fatal(err)
		}
		return int(n)
	}
	return 1_000_000
}

// measure runs f as a benchmark and also says how much processor time an operation
// takes: on a busy machine only that can be compared.
func measure(b *testing.B, f func()) {
	f() // bring the pages in
	before := benchtest.CPUTime()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(benchtest.CPUTime()-before)/float64(b.N), "cpu-ns/op")
}

// benchShape gives locations and rows a location for a number of rows: 10,000
// locations, or PARALLAX_BENCH_LOCATIONS, at the most.
func benchShape(rows int) (locations, each int) {
	locations = 10_000
	if n, err := strconv.Atoi(os.Getenv("PARALLAX_BENCH_LOCATIONS")); err == nil {
		locations = n
	}
	locations = max(min(locations, rows/100), 1)
	return locations, rows / locations
}

// writeBench writes steps of compute and communication, 20 regions, four deep,
// from several goroutines.
func writeBench(w trace.Writer, locations, each int) {
	machine := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: "machine", Rank: trace.NoRank})
	regions := make([]trace.RegionID, 20)
	for i := range regions {
		name := fmt.Sprint("compute ", i)
		if i%3 == 0 {
			name = fmt.Sprint("MPI_Call", i)
		}
		regions[i] = w.Region(trace.Region{Name: name})
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for rank := range next {
				node := w.Location(trace.Location{Parent: machine, Kind: trace.KindGroup, Name: fmt.Sprint("node ", rank/64), Rank: trace.NoRank, Order: int64(rank / 64)})
				id := w.Location(trace.Location{Parent: node, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
				benchStream(w.Stream(id, trace.StreamOptions{}), regions, rank, each)
			}
		})
	}
	for rank := range locations {
		next <- rank
	}
	close(next)
	wg.Wait()
}

func benchStream(s trace.Stream, regions []trace.RegionID, rank, rows int) {
	x := uint64(rank)*2654435761 + 1
	now := trace.Time(rank % 1000)
	left := rows
	enter := func(r int) { s.Enter(now, regions[r]); left-- }
	leave := func(r int) { s.Leave(now, regions[r]) }
	enter(1)
	for left > 0 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		a, b, c := 2+int(x%9), 11+int(x>>8%9), trace.Time(x>>16%4096)
		enter(a)
		now += 500 + c
		if left > 0 {
			enter(b)
			now += 200 + c/2
			if left > 0 {
				enter(0)
				now += c / 4
				leave(0)
			}
			leave(b)
		}
		now += 100
		leave(a)
	}
	now += 10
	leave(1)
	_ = s.Close()
}

// benchSummary counts rows and the time of roles, in blocks of fixed size.
type benchSummary struct{ version int }

func (benchSummary) Name() string   { return "bench" }
func (s benchSummary) Version() int { return max(s.version, 1) }

func (benchSummary) Build(dst trace.Block, s *trace.Stretch, _ []trace.Region) trace.Block {
	var v [1 + trace.RoleCount]uint64
	v[0] = uint64(s.Rows.Len())
	for i := range s.Segments {
		v[1+s.Segments[i].Role] += uint64(s.Segments[i].End - s.Segments[i].Begin)
	}
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint64(dst, x)
	}
	return dst
}

func (benchSummary) Merge(dst trace.Block, a, b trace.Block) trace.Block {
	for i := 0; i < len(a); i += 8 {
		dst = binary.LittleEndian.AppendUint64(dst, binary.LittleEndian.Uint64(a[i:])+binary.LittleEndian.Uint64(b[i:]))
	}
	return dst
}

var benchStores = map[string]string{} // made once a run of the tests, by rows

// benchStore is a store of benchRows intervals, kept for all benchmarks.
func benchStore(b *testing.B) string {
	rows := benchRows(b)
	locations, each := benchShape(rows)
	key := fmt.Sprint(locations, "x", each)
	if path, ok := benchStores[key]; ok {
		return path
	}
	dir, err := os.MkdirTemp(os.Getenv("PARALLAX_BENCH_DIR"), "parallax-bench-")
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "bench.plx")
	w, err := Create(path, Options{Summaries: []trace.Summary{benchSummary{}}})
	if err != nil {
		b.Fatal(err)
	}
	writeBench(w, locations, each)
	if err := w.Finish(context.Background()); err != nil {
		b.Fatal(err)
	}
	benchStores[key] = path
	return path
}

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.bench"); f.Value.String() == "" {
		rows.MostHeld = 0 // each query must touch what it uses
	}
	code := m.Run()
	for _, path := range benchStores {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

func BenchmarkImport(b *testing.B) {
	rows := benchRows(b)
	locations, each := benchShape(rows)
	before := benchtest.CPUTime()
	for b.Loop() {
		dir, err := os.MkdirTemp(os.Getenv("PARALLAX_BENCH_DIR"), "parallax-bench-")
		if err != nil {
			b.Fatal(err)
		}
		w, err := Create(filepath.Join(dir, "bench.plx"), Options{Summaries: []trace.Summary{benchSummary{}}})
		if err != nil {
			b.Fatal(err)
		}
		writeBench(w, locations, each)
		if err := w.Finish(context.Background()); err != nil {
			b.Fatal(err)
		}
		os.RemoveAll(dir)
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(benchtest.CPUTime()-before)/float64(b.N)/float64(rows), "cpu-ns/row")
}

func BenchmarkOpen(b *testing.B) {
	path := benchStore(b)
	measure(b, func() {
		r, err := Open(path, []trace.Summary{benchSummary{}})
		if err != nil {
			b.Fatal(err)
		}
		r.Close()
	})
}

func openBench(b *testing.B) *Reader {
	r, err := Open(benchStore(b), []trace.Summary{benchSummary{}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

// benchWindows are the whole run, a middle half, and a hundredth.
func benchWindows(r *Reader) []struct {
	name string
	w    store.Window
} {
	end := r.Info().End
	return []struct {
		name string
		w    store.Window
	}{
		{"whole", store.Window{Begin: 0, End: end}},
		{"half", store.Window{Begin: end / 4, End: 3 * end / 4}},
		{"hundredth", store.Window{Begin: end / 2, End: end/2 + end/100}},
	}
}

func BenchmarkTime(b *testing.B) {
	r := openBench(b)
	for _, x := range benchWindows(r) {
		b.Run(x.name, func(b *testing.B) {
			cells := 0
			measure(b, func() {
				t, err := r.Time(context.Background(), x.w)
				if err != nil {
					b.Fatal(err)
				}
				cells = len(t.Region)
			})
			b.ReportMetric(float64(cells), "cells")
		})
	}
}

// BenchmarkTimeByRows is the same answer from a scan, for the ratio.
func BenchmarkTimeByRows(b *testing.B) {
	r := openBench(b)
	for _, x := range benchWindows(r) {
		b.Run(x.name, func(b *testing.B) {
			measure(b, func() {
				var mu sync.Mutex
				sums := map[trace.RegionID]trace.Time{}
				err := r.Intervals(context.Background(), x.w, func(c *trace.Columns) error {
					var own [32]trace.Time
					for i, region := range c.Region {
						own[region] += c.Exclusive[i]
					}
					mu.Lock()
					defer mu.Unlock()
					for k, v := range own {
						sums[trace.RegionID(k)] += v
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkSummaries(b *testing.B) {
	r := openBench(b)
	for _, x := range benchWindows(r) {
		level := 0
		for (x.w.End-x.w.Begin)>>level > 1000 {
			level++
		}
		for _, l := range []struct {
			name  string
			level int
		}{{"coarsest", store.Coarsest}, {"bins", level}} {
			b.Run(x.name+"/"+l.name, func(b *testing.B) {
				blocks, rows := 0, 0
				measure(b, func() {
					var mu sync.Mutex
					blocks, rows = 0, 0
					err := r.Summaries(context.Background(), "bench", x.w, l.level, store.Visitor{
						Block: func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error {
							mu.Lock()
							blocks++
							mu.Unlock()
							return nil
						},
						Rows: func(s *trace.Stretch) error {
							mu.Lock()
							rows += s.Rows.Len()
							mu.Unlock()
							return nil
						},
					})
					if err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(float64(blocks), "blocks")
				b.ReportMetric(float64(rows), "rows")
			})
		}
	}
}

func BenchmarkGroups(b *testing.B) {
	r := openBench(b)
	for _, x := range benchWindows(r) {
		level := 0
		for (x.w.End-x.w.Begin)>>level > 1000 {
			level++
		}
		b.Run(x.name, func(b *testing.B) {
			measure(b, func() {
				if _, err := r.Groups(context.Background(), []trace.LocationID{0}, x.w.Begin, x.w.End, level); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkFirstScan is what looking at blocks costs when a store is opened and everything in it is read once: the same with
// and without by turns, since a machine may be busier at one time than at another.
func BenchmarkFirstScan(b *testing.B) {
	path := benchStore(b)
	var used [2]time.Duration
	rows := int64(0)
	for turn := 0; b.Loop(); turn++ {
		for i := range 2 {
			trusted := (turn+i)%2 == 1
			before := benchtest.CPUTime()
			n := firstScan(b, path, trusted)
			if trusted {
				used[1] += benchtest.CPUTime() - before
			} else {
				used[0] += benchtest.CPUTime() - before
				rows += n
			}
		}
	}
	b.ReportMetric(float64(used[0])/float64(rows), "cpu-ns/row")
	b.ReportMetric(float64(used[1])/float64(rows), "unchecked-cpu-ns/row")
	b.ReportMetric(100*(float64(used[0])/float64(used[1])-1), "%more")
}

// firstScan reads a store that was opened now, as views do: summaries, then every row.
func firstScan(b *testing.B, path string, trusted bool) int64 {
	r, err := Open(path, []trace.Summary{benchSummary{}})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	if trusted {
		r.Checks.Trust()
	}
	err = r.Summaries(context.Background(), "bench", store.Window{Begin: 3, End: r.Info().End - 3}, 8, store.Visitor{
		Block: func(trace.LocationID, int, trace.Time, trace.Time, trace.Block) error { return nil },
		Rows:  func(*trace.Stretch) error { return nil },
	})
	var sum atomic.Int64
	err = errors.Join(err, r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		n := trace.Time(0)
		for i := range c.Begin {
			n += c.Duration[i] + c.Exclusive[i] + trace.Time(c.Region[i]) + trace.Time(c.Depth[i]) + trace.Time(c.Parent[i])
		}
		sum.Add(int64(n))
		return nil
	}))
	if err != nil || sum.Load() == 0 {
		b.Fatal(err, sum.Load())
	}
	return r.Info().Intervals
}
