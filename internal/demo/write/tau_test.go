package write_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/demo/write"
	"github.com/parallax-hpc/parallax/internal/importer/tau"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// sums adds up totals by the name of the region.
func sums(t *testing.T, r store.Reader) map[string]runfacts.Total {
	t.Helper()
	out := map[string]runfacts.Total{}
	w := store.Window{End: r.Info().End + 1}
	err := runfacts.Totals(context.Background(), r, w, runfacts.DefaultMetric(r.Metrics()), func(list []runfacts.Total) {
		for _, x := range list {
			s := out[r.Regions()[x.Region].Name]
			s.Calls += x.Calls
			s.Inclusive += x.Inclusive
			s.Exclusive += x.Exclusive
			out[r.Regions()[x.Region].Name] = s
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A trace and the profile written of it must answer alike.
func TestTAUHoldsTheProfileOfATrace(t *testing.T) {
	for _, name := range []string{"stencil", "g5k188", "training"} {
		t.Run(name, func(t *testing.T) {
			d, ok := demo.Find(name)
			if !ok {
				t.Fatal("no such demo")
			}
			m := storetest.NewMemory()
			if err := d.Write(context.Background(), demo.Options{}, m); err != nil {
				t.Fatal(err)
			}
			want := sums(t, m.Reader())
			path := filepath.Join(t.TempDir(), "profiles")
			f, err := write.TAU.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Write(context.Background(), demo.Options{}, f); err != nil {
				t.Fatal(err)
			}
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			r := importertest.Import(t, tau.Format, path)
			got := sums(t, r)
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(a, b, 1) }
			for region, w := range want {
				if g := got[region]; g.Calls != w.Calls || !near(g.Inclusive, w.Inclusive) || !near(g.Exclusive, w.Exclusive) {
					t.Errorf("%s: %+v, want %+v", region, g, w)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d regions, want %d", len(got), len(want))
			}
			messages := func(r store.Reader) (n, bytes int64) {
				_ = r.Links(context.Background(), store.Window{End: r.Info().End + 1}, func(l *store.LinkColumns) error {
					for i := range l.Kind {
						if l.Kind[i] == trace.LinkMessage {
							n += max(l.Count[i], 1)
							bytes += max(l.Size[i], 0)
						}
					}
					return nil
				})
				return n, bytes
			}
			n0, b0 := messages(m.Reader())
			if n1, b1 := messages(r); n0 != n1 || b0 != b1 {
				t.Errorf("%d messages of %d bytes, want %d of %d", n1, b1, n0, b0)
			}
		})
	}
}

// Numbers of intervals become user events, texts are counted in the metadata.
func TestTAUSaysWhatBecomesOfAttributes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profiles")
	f, err := write.TAU.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	at := f.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "rank 0", Rank: 0})
	work := f.Region(trace.Region{Name: "work"})
	size, file := f.Attribute("size"), f.Attribute("file")
	s := f.Stream(at, trace.StreamOptions{})
	for i := range 3 {
		s.Enter(trace.Time(10*i), work)
		s.Attribute(size, trace.Integer(int64(100*i)))
		s.Attribute(file, trace.Text("a.txt"))
		s.Leave(trace.Time(10*i+5), work)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, tau.Format, path)
	found := false
	_ = r.Atomics(context.Background(), nil, func(rows []trace.AtomicRow) error {
		for _, a := range rows {
			if r.Metrics()[a.Metric].Name == "size" {
				found = a.Count == 3 && a.Min == 0 && a.Max == 200 && a.Mean == 100
			}
		}
		return nil
	})
	left := ""
	for _, list := range r.Locations().Attributes {
		for _, a := range list {
			if a.Key == "Left out" {
				left = a.Value.String()
			}
		}
	}
	if left == "" {
		left = r.Info().Properties["Left out"]
	}
	if !found || left != "texts of file: 3" {
		t.Errorf("the sizes are a user event: %v; left out: %q", found, left)
	}
}
