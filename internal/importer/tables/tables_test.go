package tables_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/export"
	"github.com/parallax-hpc/parallax/internal/importer"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/importer/tables"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// few has a bit of everything that a run can hold.
const few = `
property creator "a test"
region main role=compute file=main.c line=3 colour=red
region MPI_Send role=communication category=MPI
region MPI_Recv role=communication category=MPI
region mark role=annotation
location machine node0 cores=8
  location process "rank 0" rank=0
    0..100 main
      10..20 MPI_Send bytes=8 what="a text"
      20..20 main share=0.25
      20..60 MPI_Recv
    100..100 MPI_Send
    35 ! mark
    counter flops unit=ops monotone
    40 flops=12.5
    50 flops=14
  location process "rank 1" rank=1
    5..50 main bytes=1
    30..70 MPI_Recv bytes=2
    40..90 main
      45..80 MPI_Send
    location samples stacks
      7..9 main
communicator WORLD "node0/rank 0" "node0/rank 1"
communicator empty
topology grid 2x1 names=x,y periodic=false,true
  at "node0/rank 0" 0,0
  at "node0/rank 1" 1,0
link message 12 "node0/rank 0" -> 45 "node0/rank 1" size=8 tag=3 comm=WORLD count=2 from=MPI_Send to=MPI_Recv
link wake 15 "node0/rank 1" -> 18 "node0/rank 0"
link message "node0/rank 0" -> "node0/rank 1" untimed count=7 size=56
metric time unit=ns integer default description="what passes"
metric rate unit=ops
profile "node0/rank 0" main time calls=1 subcalls=2 incl=100 excl=50
profile "node0/rank 0" "main => MPI_Send" time calls=3 subcalls=0 incl=10 excl=10
sourceline "node0/rank 0" main time line=7 incl=60 excl=50
sourceline "node0/rank 0" main time line=7 callee="main => MPI_Send" calls=3 incl=10
sourceline "node0/rank 0" main time line=2 file=inline.h incl=3 excl=3
atomic "node0/rank 0" main rate count=2 min=1 max=3 mean=2 sumsq=10
atomic "node0/rank 1" - rate count=1 min=1 max=1 mean=1 sumsq=1
moments "node0/rank 0" compute 0..100 weight=5 mean=50 m2=4 m3=0
report repaired "leave without enter" 3 "file:12"
`

// exported writes a run as tables.
func exported(t *testing.T, r store.Reader, dir string) {
	t.Helper()
	if _, err := export.Run(t.Context(), dir, &table.Run{Name: "run", Source: "sample", Store: r}, table.Tables, nil); err != nil {
		t.Fatal(err)
	}
}

// imported reads a source into a store on disk.
func imported(t *testing.T, source string) store.Reader {
	t.Helper()
	s, err := importer.NewSource(source)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect(formats.Formats, s)
	if err != nil || runs[0].Format.Import == nil {
		t.Fatalf("not one run: %v", err)
	}
	return viewtest.Local(t, func(w trace.Writer) {
		trace.SetFormat(w, runs[0].Format.Name)
		if err := runs[0].Import(context.Background(), w); err != nil {
			t.Fatal(err)
		}
	})
}

func same(t *testing.T, source string, r store.Reader) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tables")
	exported(t, r, dir)
	back := imported(t, dir)
	if d := tracetest.Diff(tracetest.Dump(r), tracetest.Dump(back)); d != "" {
		t.Errorf("%s comes back as another run: %s", source, d)
	}
	if a, b := r.Info(), back.Info(); a.Format != b.Format || a.Origin != b.Origin || a.End != b.End || a.Ranks != b.Ranks {
		t.Errorf("%s: %s from %d, %d long, %d ranks; back %s from %d, %d long, %d ranks", source, a.Format, a.Origin, a.End, a.Ranks, b.Format, b.Origin, b.End, b.Ranks)
	}
	if a, b := strings.Join(r.Attributes(), " "), strings.Join(back.Attributes(), " "); a != b {
		t.Errorf("%s: attributes %s, back %s", source, a, b)
	}
}

func TestExportedTablesReadBackTheSameRun(t *testing.T) {
	same(t, "few", viewtest.Local(t, func(w trace.Writer) { trace.SetFormat(w, "text"); tracetest.Write(t, w, few) }))
	for _, source := range []string{
		"otf2/testdata/ping-pong-2ranks", "chrometrace/testdata/kineto/amd-mi250.json.gz", "chrometrace/testdata/made/two-ranks", "chrometrace/testdata/made/phases.json", "jaeger/testdata/testTrace.json", "zipkin/testdata/skew.json",
		"otlp/testdata/rich.json", "nsight/testdata/saxpy-rank0.sqlite", "gotrace/testdata/tasks-go121.trace", "tau/testdata/cpi", "cube/testdata/kripke.cubex",
		"recorder/testdata/mpi", "paraver/testdata/hybrid", "vista/testdata/quicksort.vista", "pprof/testdata/java.contention", "mpe/testdata/made.clog2",
	} {
		t.Run(source, func(t *testing.T) { same(t, source, imported(t, filepath.Join("..", filepath.FromSlash(source)))) })
	}
}

// The sample is what this program exports of few; -update writes it anew.
func TestFormat(t *testing.T) {
	if viewtest.Updating() {
		if err := os.RemoveAll("testdata/few"); err != nil {
			t.Fatal(err)
		}
		exported(t, viewtest.Local(t, func(w trace.Writer) { tracetest.Write(t, w, few) }), "testdata/few")
	}
	importertest.Run(t, tables.Format, []importertest.Case{{Path: "few", ByName: true, Cuts: 60}})
}

func FuzzReader(f *testing.F) {
	importertest.FuzzAmong(f, tables.Format, "testdata/few", []string{"schema.json", "locations.parquet", "regions.parquet"}, "schema.json", "intervals.parquet", "attributes.parquet", "links.parquet", "locations.parquet", "coordinates.parquet")
}

func TestAnotherLayoutIsRefused(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "schema.json"), []byte(`{"version": 1, "program": "parallax", "tables": []}`), 0o644)
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect(formats.Formats, s)
	if err != nil || len(runs) != 1 || runs[0].Format != tables.Format {
		t.Fatalf("%v, %v", runs, err)
	}
	if err := runs[0].Import(t.Context(), storetest.NewMemory()); !errors.Is(err, importer.ErrUnsupported) || !strings.Contains(err.Error(), "export the run again") {
		t.Errorf("got %v", err)
	}
}
