package recorder_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	reader "github.com/parallax-hpc/parallax/internal/importer/recorder"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/recorder"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, reader.Format, []importertest.Case{{Path: "two-workers.moments", Guarded: true}, {Path: "ranks", Cuts: 60}, {Path: "mpi", Cuts: 60}, {Path: "mpi-one.moments", Guarded: true}, {Path: "openmp.moments", Guarded: true},
		{Path: "cores.moments", Guarded: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, reader.Format, "two-workers.moments", "testdata")
}

// What a program records is what is read: moments of the merged windows, whatever
// the length of the run.
func TestRecordedMomentsAreRead(t *testing.T) {
	set := recorder.New(recorder.Options{Name: "p", Windows: 8, Window: 64})
	w := set.Worker("w")
	for i := range int64(1000) {
		w.BeginAt(i * 50_000)
		w.EndAt(i*50_000 + 10_000)
	}
	name := filepath.Join(t.TempDir(), "run.moments")
	if err := set.WriteFile(name); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, reader.Format, name)
	weight, mean, rows := 0.0, 0.0, 0
	err := r.Moments(context.Background(), nil, func(list []trace.MomentRow) error {
		for _, m := range list {
			weight += m.Weight
			mean += m.Weight * (float64(m.Begin) + m.Mean)
			rows++
		}
		return nil
	})
	want := w.Moments()
	if err != nil || rows > 8 || weight != want.Busy || math.Abs(mean/weight-want.Mean) > 1e-6*want.Mean {
		t.Errorf("%d rows, weight %v, mean %v; want %+v; %v", rows, weight, mean/weight, want, err)
	}
	if end := r.Info().End; end != 999*50_000+10_000 {
		t.Errorf("the run ends at %d", end)
	}
}

func TestFilesOfRanksAreOneRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, o recorder.Options) {
		if err := recorder.New(o).WriteFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	claims := func() int {
		s, err := importer.NewSource(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return len(reader.Format.Claim(s))
	}
	for rank := range 3 {
		write(fmt.Sprint(rank, ".moments"), recorder.Options{Rank: rank, Ranked: true})
	}
	if n := claims(); n != 1 {
		t.Errorf("three ranks are %d runs", n)
	}
	write("1.moments.now", recorder.Options{Rank: 1, Ranked: true})
	write("2.moments.part", recorder.Options{Rank: 2, Ranked: true})
	if n := claims(); n != 1 {
		t.Errorf("three ranks, two of which are being written anew, are %d runs", n)
	}
	write("again.moments", recorder.Options{Rank: 1, Ranked: true})
	if n := claims(); n != 2 {
		t.Errorf("three ranks and one of them again are %d runs", n)
	}
	for rank := range 3 {
		if err := os.MkdirAll(filepath.Join(dir, "night"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprint("night/", rank, ".moments"), recorder.Options{Rank: rank, Ranked: true})
	}
	if n := claims(); n != 3 {
		t.Errorf("another three in a directory of their own: %d runs in all", n)
	}
}

// TestSamples writes the samples anew where they are missing.
func TestSamples(t *testing.T) {
	if _, err := os.Stat("testdata/ranks"); err == nil {
		t.Skip("the samples are there; remove testdata to write them anew")
	}
	if err := os.MkdirAll("testdata/ranks", 0o755); err != nil {
		t.Fatal(err)
	}
	sample := func(name string, o recorder.Options) {
		o.Windows, o.Window = 8, 1024
		set := recorder.New(o)
		a, b := set.Worker("worker 0"), set.Worker("worker 1")
		for i := range int64(20) {
			a.BeginAt(i * 1000)
			a.EndAt(i*1000 + 300 + 10*i)
		}
		b.BeginAt(12_000)
		b.EndAt(15_500)
		b.BeginAt(9)
		b.EndAt(5)
		if err := set.WriteFile(filepath.Join("testdata", name)); err != nil {
			t.Fatal(err)
		}
	}
	sample("two-workers.moments", recorder.Options{Name: "solver"})
	for rank := range 2 {
		sample(fmt.Sprintf("ranks/%d.moments", rank), recorder.Options{Rank: rank, Ranked: true})
	}
}

// Ranks that were killed before they could write are counted, and the first is named.
func TestRanksWithoutAFileAreCounted(t *testing.T) {
	dir := t.TempDir()
	for _, rank := range []int{0, 2} {
		name := fmt.Sprintf("rank-%06d.moments", rank)
		data, err := os.ReadFile(filepath.Join("testdata", "mpi", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	missing := func(source string) (list []trace.ReportEntry) {
		for _, e := range importertest.Import(t, reader.Format, source).Info().Report {
			if strings.HasPrefix(e.What, "of 3 ranks left no file") {
				list = append(list, e)
			}
		}
		return list
	}
	if list := missing(dir); len(list) != 1 || list[0].Count != 1 || list[0].Example != "rank 1" {
		t.Errorf("two files of three ranks: %+v", list)
	}
	if list := missing(filepath.Join("testdata", "mpi")); list != nil {
		t.Errorf("all three: %+v", list)
	}
}
