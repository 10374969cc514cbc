package viewtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Local writes a trace into a store on disk, for traces that are too large for
// the reference store, and opens it.
func Local(tb testing.TB, write func(trace.Writer)) store.Reader {
	tb.Helper()
	return OpenLocal(tb, WriteLocal(tb, write))
}

// WriteLocal writes a trace into a store on disk and returns its path.
func WriteLocal(tb testing.TB, write func(trace.Writer)) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "test.plx")
	o := local.Options{Summaries: all.Summaries, Digests: all.Digests, RegionName: trace.FoldName, Align: "auto",
		Infer: true}
	w, err := local.Create(path, o)
	if err != nil {
		tb.Fatal(err)
	}
	write(w)
	if err := w.Finish(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return path
}

// OpenLocal opens a store on disk for the rest of the test.
func OpenLocal(tb testing.TB, path string) store.Reader {
	tb.Helper()
	r, err := local.Open(path, all.Summaries, all.Digests...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	return r
}

// BenchRows is how many intervals benchmarks use: a million, or PARALLAX_BENCH_ROWS.
func BenchRows(tb testing.TB) int {
	s := os.Getenv("PARALLAX_BENCH_ROWS")
	if s == "" {
		return 1_000_000
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return int(n)
}

// WriteSteps writes a run of many ranks on nodes of 64: steps of nested compute
// and communication in some 40 regions, one rank slower than the others, about
// as many intervals as asked for.
func WriteSteps(w trace.Writer, ranks, intervals int) {
	machine := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: "machine",
		Rank: trace.NoRank})
	regions := make([]trace.RegionID, 40)
	for i := range regions {
		g := trace.Region{Name: fmt.Sprint("compute ", i), Role: trace.RoleCompute}
		if i%3 == 0 {
			g = trace.Region{Name: fmt.Sprint("MPI_Call", i), Role: trace.RoleCommunication}
		}
		regions[i] = w.Region(g)
	}
	ids := make([]trace.LocationID, ranks)
	for rank := range ids {
		node := w.Location(trace.Location{Parent: machine, Kind: trace.KindGroup, Name: fmt.Sprint("node ", rank/64),
			Rank: trace.NoRank, Order: int64(rank / 64)})
		ids[rank] = w.Location(trace.Location{Parent: node, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank),
			Rank: rank})
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for rank := range next {
				writeRank(w.Stream(ids[rank], trace.StreamOptions{}), regions, rank, intervals/ranks)
			}
		})
	}
	for rank := range ids {
		next <- rank
	}
	close(next)
	wg.Wait()
}

func writeRank(s trace.Stream, regions []trace.RegionID, rank, rows int) {
	x := uint64(rank)*2654435761 + 1
	now := trace.Time(rank % 1000)
	slow := trace.Time(1)
	if rank == 5 {
		slow = 2
	}
	s.Enter(now, regions[1])
	for n := 1; n < rows; n += 3 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		phase := n * 8 / max(rows, 1) * 4
		a, b, c := regions[2+(phase+int(x%6))%38], regions[2+(phase+int(x>>8%9))%38], trace.Time(x>>16%4096)
		s.Enter(now, a)
		now += (500 + c) * slow
		s.Enter(now, b)
		now += 200 + c/2
		s.Enter(now, regions[0])
		now += c / 4
		s.Leave(now, regions[0])
		s.Leave(now, b)
		now += 100
		s.Leave(now, a)
	}
	s.Leave(now+10, regions[1])
	_ = s.Close()
}

// Import reads sample data kept next to the repository into a store on disk. It skips the test if the data are not
// there, or no reader for them yet.
func Import(tb testing.TB, elem ...string) store.Reader {
	tb.Helper()
	s, err := importer.NewSource(Shared(tb, elem...))
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect(formats.Formats, s)
	if errors.Is(err, importer.ErrUnsupported) || err == nil && runs[0].Format.Import == nil {
		tb.Skipf("no reader for %s: %v", filepath.Join(elem...), err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return Local(tb, func(w trace.Writer) {
		if err := runs[0].Import(context.Background(), w); err != nil {
			tb.Fatal(err)
		}
	})
}
